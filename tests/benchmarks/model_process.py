"""A model server in a process of its own, so that its cost is not counted.

`python -m tests.benchmarks.model_process DELAY_S` prints its base URL and answers until standard input ends.
Each conversation gets as many tool calls as its last user message names (`"... 5 calls"`), then an answer.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from actors.testing import JsonReply, RecordedRequest, ScriptedModelServer, answer, tool_calls


def reply_to(request: RecordedRequest, delay_s: float) -> JsonReply:
    """The next call of the tool `add`, or the answer."""
    messages: list[dict[str, Any]] = request.json["messages"]
    done = 0
    for message in reversed(messages):
        if message["role"] == "user":
            break
        done += message["role"] == "tool"
    wanted = int(str(message["content"]).split()[-2])
    if done >= wanted:
        reply = answer(
            "the sum is 3", usage={"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14}
        )
    else:
        arguments = msgspec.json.encode({"a": done, "b": 2}).decode()
        reply = tool_calls((f"call-{done}", "add", arguments))
    return msgspec.structs.replace(reply, delay_s=delay_s)


@contextmanager
def model_process(delay_s: float = 0.0) -> Iterator[str]:
    """Run the server beside this process; gives its base URL. Each answer takes `delay_s` seconds."""
    command = [sys.executable, "-m", "tests.benchmarks.model_process", str(delay_s)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()
            process.wait(10)


def main() -> None:
    """Serve until standard input ends."""
    delay_s = float(sys.argv[1])
    with ScriptedModelServer(lambda request: reply_to(request, delay_s)) as server:
        print(server.base_url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
