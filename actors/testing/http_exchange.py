"""One HTTP/1.1 exchange on an asyncio stream: read a request, send a scripted reply.

For `ScriptedModelServer`. Knows the replies, not the script. Speaks as much HTTP as clients of model
servers do: requests with Content-Length, keep-alive, replies with a length or in chunks.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Mapping
from http import HTTPStatus

import msgspec

from actors.testing.replies import (
    BigReply,
    BodyReply,
    Failure,
    JsonReply,
    RecordedRequest,
    Reply,
    SSEReply,
)

_FILLER = b"x" * 65_536
_HALF = b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 4096\r\n\r\n{"choices": ['


class ClientGone(Exception):
    """The client closed the connection while it was to wait for an answer."""


async def read_request(reader: asyncio.StreamReader, connection: int) -> RecordedRequest | None:
    """The next request of a connection, or None when the client has closed it.

    Raises:
        asyncio.IncompleteReadError: it closed in the middle of a request.
    """
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as exc:
        if exc.partial:
            raise
        return None
    first, *lines = head[:-4].decode("latin-1").split("\r\n")
    method, target, _version = first.split(" ", 2)
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    path, _, query = target.partition("?")
    return RecordedRequest(method, path, query, headers, body, connection)


async def send_reply(
    reply: Reply, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> bool:
    """Send `reply`; whether the connection is still good for another request.

    Raises:
        ClientGone: a silent reply ended because the client closed the connection.
        ConnectionError: another one could not be sent because the client went away.
    """
    if reply.delay_s:
        await asyncio.sleep(reply.delay_s)
    try:
        return await _send(reply, reader, writer)
    except ConnectionError:
        if _falls_silent(reply):  # it closed with bytes unread, or before the last of them
            raise ClientGone from None
        raise


def _falls_silent(reply: Reply) -> bool:
    match reply:
        case SSEReply(ending="silent") | Failure(kind="silent"):
            return True
    return False


async def _send(reply: Reply, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    match reply:
        case JsonReply():
            body = msgspec.json.encode(reply.value)
            writer.write(_head(reply.status, "application/json", reply.headers, len(body)) + body)
        case BodyReply():
            body = reply.body.encode() if isinstance(reply.body, str) else reply.body
            writer.write(_head(reply.status, reply.content_type, reply.headers, len(body)) + body)
        case BigReply():
            await _send_big(reply, writer)
        case SSEReply():
            return await _send_stream(reply, reader, writer)
        case Failure():
            return await _fail(reply.kind, _HALF, reader, writer)
    await writer.drain()
    return True


def _head(
    status: int, content_type: str, headers: Mapping[str, str], length: int | None = None
) -> bytes:
    reason = HTTPStatus(status).phrase if status in HTTPStatus._value2member_map_ else "Unknown"
    lines = [f"HTTP/1.1 {status} {reason}", f"content-type: {content_type}"]
    lines.append("transfer-encoding: chunked" if length is None else f"content-length: {length}")
    lines.extend(f"{name}: {value}" for name, value in headers.items())
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


async def _send_big(reply: BigReply, writer: asyncio.StreamWriter) -> None:
    framed = bytes if reply.announced else _chunk
    size = reply.size_bytes
    writer.write(_head(200, "application/json", {}, size if reply.announced else None))
    writer.write(framed(b'"'))
    left = size - 2
    while left > 0:
        writer.write(framed(_FILLER[:left]))
        await writer.drain()
        left -= len(_FILLER)
    writer.write(framed(b'"') + (b"" if reply.announced else b"0\r\n\r\n"))


async def _send_stream(
    reply: SSEReply, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> bool:
    writer.write(_head(200, "text/event-stream", reply.headers))
    for chunk in reply.chunks:
        writer.write(_chunk(chunk.encode() if isinstance(chunk, str) else chunk))
        await writer.drain()
    if reply.ending != "whole":
        return await _fail(reply.ending, b"", reader, writer)
    writer.write(b"0\r\n\r\n")
    await writer.drain()
    return True


async def _fail(
    kind: str, half: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> bool:
    if kind == "silent":
        if await reader.read(1):
            raise ValueError("the client sent more while it was to wait for an answer")
        raise ClientGone
    if kind in ("cut", "reset") and half:
        writer.write(half)
        await writer.drain()
    if kind == "reset":
        _reset(writer)
    return False


def _reset(writer: asyncio.StreamWriter) -> None:
    """Close with RST in the place of FIN: SO_LINGER on, with no time to linger."""
    sock = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
