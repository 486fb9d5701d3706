"""Messages from bytes and to bytes."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.mcp.jsonrpc import (
    INTERNAL_ERROR,
    Answer,
    Failure,
    Incoming,
    Noise,
    Notification,
    Request,
    answer_bytes,
    failure_bytes,
    notification_bytes,
    read_messages,
    request_bytes,
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"jsonrpc":"2.0","id":1,"method":"ping"}', Request(1, "ping", {})),
        ('{"id":"a","method":"m","params":{"x":1}}', Request("a", "m", {"x": 1})),
        ('{"method":"m","params":null}', Notification("m", {})),
        ('{"id":null,"method":"m"}', Notification("m", {})),
        ('{"method":"m","params":[1]}', Notification("m", {})),
        ('{"id":1,"result":null}', Answer(1, None)),
        ('{"id":1,"result":{},"error":null}', Answer(1, {})),
        ('{"id":1,"result":1,"more":[2]}', Answer(1, 1)),
        ('{"id":2,"error":{"code":-1,"message":"no","data":[1]}}', Failure(2, -1, "no", [1])),
        ('{"id":null,"error":{"code":-1,"message":"no"}}', Failure(None, -1, "no")),
        ('{"error":{"code":-1,"message":"no"}}', Failure(None, -1, "no")),
        ('{"id":2,"error":"broken"}', Failure(2, INTERNAL_ERROR, "broken")),
        (
            '{"id":2,"error":{"code":true,"message":5}}',
            Failure(2, INTERNAL_ERROR, "an error without a message"),
        ),
    ],
)
def test_a_message_is_what_it_holds(text: str, message: Incoming) -> None:
    assert read_messages(text.encode()) == [message]


@pytest.mark.parametrize("text", ["", " ", "\r\n", "\t"])
def test_blanks_are_nothing(text: str) -> None:
    assert read_messages(text.encode()) == []


@pytest.mark.parametrize(
    "data",
    [
        b"hello",
        b"42",
        b"{}",
        b'{"id":1}',
        b'{"id":1.5,"method":"m"}',
        b'{"id":[],"result":1}',
        b'{"method":7}',
        b'{"id":1,"result":',
        b'{"id":1,"result":1}{"id":2,"result":2}',
        b"[1]",
        b"\xff\xfe{}",
        b"[" * 100_000,
        b'{"id":1,"result":"\xff"}',
    ],
)
def test_what_is_no_message_is_noise(data: bytes) -> None:
    (noise,) = read_messages(data)
    assert isinstance(noise, Noise)
    assert len(noise.why) < 1200


def test_a_batch_is_its_messages() -> None:
    assert read_messages(b'[{"id":1,"result":1},{"method":"m"},{"x":1}]')[:2] == [
        Answer(1, 1),
        Notification("m", {}),
    ]


@given(st.binary())
def test_reading_never_raises(data: bytes) -> None:
    read_messages(data)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(st.integers() | st.text(), st.text(), st.dictionaries(st.text(), VALUES))
def test_what_is_written_is_read(identity: Any, method: str, params: dict[str, Any]) -> None:
    if isinstance(identity, int) and not -(2**63) <= identity < 2**63:
        return
    assert read_messages(request_bytes(identity, method, params)) == [
        Request(identity, method, params)
    ]
    assert read_messages(answer_bytes(identity, params)) == [Answer(identity, params)]
    assert read_messages(notification_bytes(method, params)) == [Notification(method, params)]
    assert b"\n" not in request_bytes(identity, method, params)


def test_an_error_answer_says_its_data_only_if_there_is_some() -> None:
    assert msgspec.json.decode(failure_bytes(None, -32700, "no")) == {
        "jsonrpc": "2.0",
        "id": None,
        "error": {"code": -32700, "message": "no"},
    }
    assert read_messages(failure_bytes(1, -1, "x", {"a": 1})) == [Failure(1, -1, "x", {"a": 1})]
