"""Encoding of messages for requests: each once, when it enters a conversation."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from actors.model.message import Message

_encoder = msgspec.json.Encoder()


def encode_message(message: Message) -> Raw:
    """The message as it goes into a request.

    Halves of surrogate pairs, which have no UTF-8 form, become `?`.
    """
    wire = message.wire()
    try:
        return Raw(_encoder.encode(wire))
    except UnicodeEncodeError:
        return Raw(_encoder.encode(_encodable(wire)))


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_encodable(each) for each in value]
    if isinstance(value, dict):
        return {key: _encodable(each) for key, each in value.items()}
    return value
