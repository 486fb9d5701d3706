"""Encoding of messages for requests: each once, when it enters a conversation."""

from __future__ import annotations

from msgspec import Raw

from actors.model.message import Message
from actors.model.wire_json import encode_json


def encode_message(message: Message) -> Raw:
    """The message as it goes into a request; see `encode_json`."""
    return Raw(encode_json(message.wire()))
