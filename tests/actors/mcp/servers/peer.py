"""What the servers here are made of: a legacy MCP server with a few tools, on the standard streams.

A server here is a file with a subclass of `Peer` that behaves differently in one point. Only the standard
library, and no package: a server is started by its path and has to start quickly.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from typing import Any, BinaryIO, ClassVar

Message = dict[str, Any]

ECHO = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
NUMBER = {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]}
NOTHING = {"type": "object", "properties": {}}


class Peer:
    """Answers `initialize`, `ping`, `tools/list` and `tools/call`; refuses the rest, `server/discover` too."""

    version = "2025-11-25"
    capabilities: ClassVar[Message] = {"tools": {"listChanged": True}}

    def __init__(self) -> None:
        self.out: BinaryIO = sys.stdout.buffer
        self.lock = threading.Lock()
        self.cancelled: list[Any] = []
        self.answers: dict[Any, Message] = {}
        self.notes: list[str] = []
        self.calls = 0

    def run(self) -> None:
        """Serve until the input ends."""
        for line in sys.stdin.buffer:
            self.handle(json.loads(line))

    # -- out --------------------------------------------------------------------------------------

    def send(self, message: Message) -> None:
        """A message, as a line."""
        self.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def write(self, data: bytes) -> None:
        """Bytes, as they are."""
        with self.lock:
            self.out.write(data)
            self.out.flush()

    def answer(self, identity: Any, result: Any) -> None:
        """The result of a request."""
        self.send({"id": identity, "result": result})

    def refuse(self, identity: Any, code: int, text: str, data: Any = None) -> None:
        """The error answer to a request."""
        error = {"code": code, "message": text}
        self.send({"id": identity, "error": error if data is None else {**error, "data": data}})

    def notify(self, method: str, params: Message | None = None) -> None:
        """A notification."""
        self.send({"method": method, "params": params or {}})

    # -- in ---------------------------------------------------------------------------------------

    def handle(self, message: Message) -> None:
        """One message of the client's."""
        method, identity = message.get("method"), message.get("id")
        params = message.get("params") or {}
        if method is None:
            self.answers[identity] = message
        elif identity is None:
            self.notified(method, params)
        else:
            name = "on_" + method.replace("/", "_")
            handler = getattr(self, name, None)
            if handler is None:
                self.refuse(identity, -32601, f"no method {method}")
            else:
                handler(identity, params)

    def notified(self, method: str, params: Message) -> None:
        """A notification of the client's."""
        self.notes.append(method)
        if method == "notifications/cancelled":
            self.cancelled.append(params.get("requestId"))

    def on_initialize(self, identity: Any, params: Message) -> None:
        """Agree."""
        self.client = params
        self.answer(
            identity,
            {
                "protocolVersion": self.version,
                "capabilities": self.capabilities,
                "serverInfo": {"name": type(self).__name__, "version": "1"},
            },
        )

    def on_ping(self, identity: Any, _: Message) -> None:
        """Be alive."""
        self.answer(identity, {})

    def tools(self) -> list[Message]:
        """All tools."""
        schemas = {"echo": ECHO, "sleep": NUMBER, "progress": NUMBER, "big": NUMBER, "add": NUMBER}
        rest = ("fail", "die", "pid", "env", "seen", "structured", "ask_roots", "cwd")
        schemas |= dict.fromkeys(rest, NOTHING)
        return [
            {
                "name": name,
                "description": f"does {name}",
                "inputSchema": schema,
                "annotations": {"readOnlyHint": name == "echo"},
            }
            for name, schema in schemas.items()
        ]

    def on_tools_list(self, identity: Any, _: Message) -> None:
        """One page."""
        self.answer(identity, {"tools": self.tools()})

    def on_tools_call(self, identity: Any, params: Message) -> None:
        """Run a tool, in a thread of its own."""
        self.calls += 1
        threading.Thread(target=self.call, args=(identity, params), daemon=True).start()

    def call(self, identity: Any, params: Message) -> None:
        """Run a tool."""
        name, arguments = params["name"], params.get("arguments") or {}
        tool = getattr(self, f"tool_{name}", None)
        if tool is None:
            self.refuse(identity, -32602, f"unknown tool {name}")
            return
        result = tool(arguments, params.get("_meta") or {})
        if isinstance(result, str):
            result = {"content": [{"type": "text", "text": result}]}
        self.answer(identity, result)

    # -- tools ------------------------------------------------------------------------------------

    def tool_echo(self, arguments: Message, _: Message) -> str:
        """Give the text back."""
        return str(arguments["text"])

    def tool_add(self, arguments: Message, _: Message) -> str:
        """How many calls there were, and n."""
        return str(self.calls + arguments["n"])

    def tool_sleep(self, arguments: Message, _: Message) -> str:
        """Take n seconds."""
        time.sleep(arguments["n"])
        return "slept"

    def tool_progress(self, arguments: Message, meta: Message) -> str:
        """Tell n times, every 0.1 s, how far it is."""
        count = int(arguments["n"])
        for done in range(count):
            time.sleep(0.1)
            token = meta.get("progressToken")
            news = {"progressToken": token, "progress": done + 1, "total": count, "message": "on"}
            self.notify("notifications/progress", news)
        return "done"

    def tool_big(self, arguments: Message, _: Message) -> str:
        """A text of n characters."""
        return "x" * int(arguments["n"])

    def tool_fail(self, _: Message, __: Message) -> Message:
        """Fail as tools fail."""
        return {"content": [{"type": "text", "text": "it failed"}], "isError": True}

    def tool_structured(self, _: Message, __: Message) -> Message:
        """Only structured content."""
        return {"structuredContent": {"answer": 42}, "content": []}

    def tool_die(self, _: Message, __: Message) -> str:
        """End without an answer."""
        sys.stderr.write("I die\n")
        sys.stderr.flush()
        os._exit(3)

    def tool_pid(self, _: Message, __: Message) -> str:
        """Which process this is."""
        return str(os.getpid())

    def tool_cwd(self, _: Message, __: Message) -> str:
        """Where it runs."""
        return os.getcwd()  # noqa: PTH109 - quick to import

    def tool_env(self, _: Message, __: Message) -> str:
        """Its environment."""
        return json.dumps(dict(os.environ))

    def tool_seen(self, _: Message, __: Message) -> str:
        """What the client has said."""
        return json.dumps({"notes": self.notes, "cancelled": self.cancelled, "client": self.client})

    def tool_ask_roots(self, _: Message, __: Message) -> str:
        """Ask the client for its roots, for a ping, and for something it has not."""
        for number, method in enumerate(("roots/list", "ping", "nothing/such")):
            self.send({"id": f"mine-{number}", "method": method})
        while len(self.answers) < 3:
            time.sleep(0.01)
        return json.dumps([self.answers[f"mine-{number}"] for number in range(3)])


if __name__ == "__main__":
    Peer().run()
