"""Whatever a model server answers, the turn ends with a result, and the agent answers the next question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from actors.agent.history import repair_pairs
from actors.testing import (
    BigReply,
    BodyReply,
    Failure,
    JsonReply,
    RecordedRequest,
    SSEReply,
    answer,
    answer_chunks,
    tool_calls,
)
from actors.testing.replies import Reply
from tests.actors.agent.stage import Stage, ask


def event(value: Any) -> str:
    return f"data: {msgspec.json.encode(value).decode()}\n\n"


def message(value: Any) -> JsonReply:
    return JsonReply({"choices": [{"message": value}]})


def call_events(call: Mapping[str, Any], times: int = 1) -> SSEReply:
    """A stream of pieces of one call."""
    piece = event({"choices": [{"delta": {"tool_calls": [call]}}]})
    return SSEReply([*[piece] * times, "data: [DONE]\n\n"])


WHOLE: dict[str, Reply] = {
    "nothing": BodyReply(b""),
    "null": JsonReply(None),
    "a list": JsonReply([]),
    "no choices": JsonReply({"choices": []}),
    "a message that is a text": message("hi"),
    "content in parts": message({"content": [{"type": "text", "text": "hi"}]}),
    "blank text": answer("  "),
    "NUL": answer("\0" * 10),
    "calls that are an object": message({"tool_calls": {"a": 1}}),
    "calls that are null": message({"tool_calls": [None]}),
    "a call without arguments": message({"tool_calls": [{"id": "1", "function": {"name": "x"}}]}),
    "arguments of 5 MB": tool_calls(("1", "x", '{"a": "' + "y" * 5_000_000 + '"}')),
    "arguments without an end": tool_calls(("1", "x", '{"a": "' + "y" * 5_000_000)),
    "a deep reply": BodyReply(b'{"choices":' + b"[" * 200_000),
    "deep arguments": answer('{"tool": "x", "tool_args": ' + '{"a":' * 50_000),
    "a deep answer": answer('{"answer":' + "[" * 50_000),
    "a million braces": answer("{" * 1_000_000),
    "a million fences": answer("```json\n" * 100_000),
    "odd usage": JsonReply(
        {"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": 1e308, "z": -1}}
    ),
    "half a surrogate pair": BodyReply(b'{"choices":[{"message":{"content":"\\ud800"}}]}'),
    "40 MB": BigReply(40_000_000),
    "40 MB in chunks": BigReply(40_000_000, announced=False),
    "a status of its own": BodyReply(b"", status=999),
    "a wait without end": BodyReply(b"", status=429, headers={"retry-after": "9" * 30}),
    "an odd wait": BodyReply(b"", status=503, headers={"retry-after": "nan"}),
    "binary": BodyReply(b"\x00\xff\xfe", content_type="text/html"),
    "half": Failure("cut"),
    "a reset": Failure("reset"),
    "a closed door": Failure("close"),
}

STREAMED: dict[str, Reply] = {
    "an empty stream": SSEReply([]),
    "an end only": SSEReply(["data: [DONE]\n\n"]),
    "garbage": SSEReply((b"\xff\x00\n\n", "data: {bad\n\n", "data: [DONE]\n\n")),
    "half": SSEReply(answer_chunks("a", done=False), ending="cut"),
    "a reset": SSEReply(answer_chunks("a", done=False), ending="reset"),
    "no end": SSEReply(answer_chunks("a", done=False)),
    "an error in the middle": SSEReply(
        [*answer_chunks("a", done=False), event({"error": {"message": "boom"}})]
    ),
    "no stream at all": answer("plain"),
    "a line without end": SSEReply(["data: " + "x" * 1_000_000] * 12),
    "tokens without end": SSEReply(answer_chunks(*["y" * 10_000] * 4_000, done=False)),
    "more after the end": SSEReply([*answer_chunks("a"), "x" * 100_000], ending="silent"),
    "a call at a huge index": call_events({"index": 10**9, "id": "a", "function": {"name": "x"}}),
    "a call at an odd index": call_events({"index": "z", "id": "a", "function": {"name": 5}}),
    "a call in pieces without end": call_events(
        {"index": 0, "id": "a", "function": {"name": "x", "arguments": '{"a":'}}, times=5_000
    ),
}


@pytest.mark.parametrize("native", ["always", "never"])
@pytest.mark.parametrize("odd", WHOLE.values(), ids=WHOLE)
def test_a_server_may_answer_anything(odd: Reply, native: str) -> None:
    assert_survives(odd, native_tool_calls=native)


@pytest.mark.parametrize("odd", STREAMED.values(), ids=STREAMED)
def test_a_server_may_stream_anything(odd: Reply) -> None:
    assert_survives(odd, native_tool_calls="always", streaming=True)


def assert_survives(odd: Reply, **settings: Any) -> None:
    """Ask an agent whose server answers so to the first question, and then as it should."""

    def script(request: RecordedRequest) -> Reply:
        said = [each for each in request.json["messages"] if each["role"] == "user"]
        return answer("next") if said[-1]["content"] == "and now?" else odd

    with Stage(script) as stage:
        agent = stage.agent(max_steps=2, **settings)
        assert ask(agent).outcome in ("answered", "limit", "loop", "model_error")
        history = agent.history()
        assert repair_pairs(history) == history
        assert ask(agent, "and now?").result == "next"
