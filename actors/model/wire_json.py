"""JSON for the wire and for the journal: what no UTF-8 can carry does not stop it."""

from __future__ import annotations

from typing import Any

import msgspec

_encoder = msgspec.json.Encoder()


def encode_json(value: Any) -> bytes:
    """The value as JSON. Halves of surrogate pairs, which have no UTF-8 form, become `?`."""
    try:
        return _encoder.encode(value)
    except UnicodeEncodeError:
        return _encoder.encode(_encodable(msgspec.to_builtins(value)))


def encodable_text(text: str) -> str:
    """The text with halves of surrogate pairs as `?`."""
    return text.encode("utf-8", "replace").decode()


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return encodable_text(value)
    if isinstance(value, list):
        return [_encodable(each) for each in value]
    if isinstance(value, dict):
        return {_encodable(key): _encodable(each) for key, each in value.items()}
    return value
