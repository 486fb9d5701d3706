"""Encoding of messages for requests."""

from __future__ import annotations

import msgspec

from actors.agent.wire import encode_message
from actors.model.message import ImagePart, Message, TextPart, ToolCall


def test_a_message_is_encoded_as_its_wire_form() -> None:
    message = Message("assistant", tool_calls=(ToolCall("c1", "echo", '{"a":1}'),))
    assert msgspec.json.decode(encode_message(message)) == message.wire()


def test_halves_of_surrogate_pairs_do_not_stop_a_request() -> None:
    message = Message("user", parts=(TextPart("half \udc00"), ImagePart("data:x")))
    decoded = msgspec.json.decode(encode_message(message))
    assert decoded["content"][0] == {"type": "text", "text": "half ?"}
