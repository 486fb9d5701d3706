"""A modern server (2026-07-28): no initialize; `_meta` in each request; questions; a stream of changes."""

import json
from typing import Any

from .peer import Message, Peer

PREFIX = "io.modelcontextprotocol/"


class Modern(Peer):
    """Refuses requests that do not say which revision they speak."""

    listening: Any = None

    def handle(self, message: Message) -> None:
        """Look at the `_meta` first."""
        if message.get("method") and "id" in message:
            meta = (message.get("params") or {}).get("_meta") or {}
            if meta.get(PREFIX + "protocolVersion") != "2026-07-28":
                text, data = "unsupported protocol version", {"supported": ["2026-07-28"]}
                self.refuse(message["id"], -32022, text, data)
                return
            self.client = meta
        super().handle(message)

    def on_server_discover(self, identity: Any, _: Message) -> None:
        """Say what it is."""
        self.answer(
            identity,
            {
                "resultType": "complete",
                "supportedVersions": ["2026-07-28"],
                "capabilities": self.capabilities,
                "serverInfo": {"name": "modern", "version": "1"},
                "instructions": "be modern",
            },
        )

    on_initialize = None  # type: ignore[assignment]
    on_ping = None  # type: ignore[assignment]

    def on_subscriptions_listen(self, identity: Any, params: Message) -> None:
        """Keep the stream."""
        self.listening = identity
        meta = {PREFIX + "subscriptionId": identity}
        self.notify("notifications/subscriptions/acknowledged", {**params, "_meta": meta})

    def tools(self) -> list[Message]:
        """With one that asks."""
        schema = {"type": "object", "properties": {}}
        return [
            *super().tools(),
            {"name": "ask", "inputSchema": schema},
            {"name": "endless", "inputSchema": schema},
            {"name": "change", "inputSchema": schema},
        ]

    def call(self, identity: Any, params: Message) -> None:
        """Ask before the answer, where the tool does."""
        name = params["name"]
        if name == "endless" or (name == "ask" and "inputResponses" not in params):
            question = {
                "method": "elicitation/create",
                "params": {"message": "name?", "requestedSchema": {"type": "object"}},
            }
            result = {"resultType": "input_required", "requestState": "st\u00e4te"}
            self.answer(identity, {**result, "inputRequests": {"q": question}})
        elif name == "ask":
            said = {"state": params.get("requestState"), "answers": params["inputResponses"]}
            self.answer(identity, {"content": [{"type": "text", "text": json.dumps(said)}]})
        elif name == "change":
            self.notify("notifications/tools/list_changed")
            self.answer(identity, {"content": []})
        else:
            super().call(identity, params)


if __name__ == "__main__":
    Modern().run()
