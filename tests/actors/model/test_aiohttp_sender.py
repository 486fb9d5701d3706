"""The default sender against real sockets: TLS, interim answers, long requests, what it closes."""

from __future__ import annotations

import asyncio
import re
import shutil
import socket
import ssl
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from actors.model.aiohttp_sender import AiohttpSender
from actors.model.sender import HttpRequest

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
LONG = b" " * 30_000_000


class Server:
    """Gives every request `answer`; `gone` is set when a client has closed its connection."""

    def __init__(self) -> None:
        self.answer = OK
        self.gone = asyncio.Event()
        self.requests: list[bytes] = []
        self.bodies: list[int] = []
        self.connections = 0
        self.port = 0
        self._asked = asyncio.Condition()

    async def until_asked(self, times: int) -> None:
        async with asyncio.timeout(10.0), self._asked:
            await self._asked.wait_for(lambda: len(self.requests) >= times)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = re.search(rb"content-length: (\d+)", head)
                self.bodies.append(len(await reader.readexactly(int(length[1]) if length else 0)))
                async with self._asked:
                    self.requests.append(head)
                    self._asked.notify_all()
                writer.write(self.answer)
        except (asyncio.IncompleteReadError, ConnectionError):
            self.gone.set()
        finally:
            writer.close()


@asynccontextmanager
async def serving(tls: ssl.SSLContext | None = None) -> AsyncIterator[Server]:
    server = Server()
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=tls)
    server.port = listening.sockets[0].getsockname()[1]
    async with listening:
        yield server


@asynccontextmanager
async def sending(tls: ssl.SSLContext | None = None) -> AsyncIterator[AiohttpSender]:
    sender = AiohttpSender(tls=tls)
    try:
        yield sender
    finally:
        await sender.aclose()


async def get(sender: AiohttpSender, url: str) -> bytes:
    answer = await sender.send(HttpRequest("GET", url, {}))
    try:
        return await answer.read_piece()
    finally:
        await answer.aclose()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for localhost, and its key, in one file."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is not installed")
    folder = tmp_path_factory.mktemp("tls")
    key, made = folder / "key.pem", folder / "certificate.pem"
    command = f"{openssl} req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost"
    more = ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(made)]
    subprocess.run([*command.split(), *more], check=True, capture_output=True)
    made.write_text(made.read_text(encoding="ascii") + key.read_text(encoding="ascii"), "ascii")
    return made


def server_context(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


def test_a_trusted_certificate_is_talked_to_and_its_connection_kept(certificate: Path) -> None:
    async def main() -> None:
        trusting = ssl.create_default_context(cafile=certificate)
        async with serving(server_context(certificate)) as server, sending(trusting) as sender:
            for _ in range(2):
                assert await get(sender, f"https://localhost:{server.port}/") == b"ok"
            assert not server.gone.is_set()

    asyncio.run(main())


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_an_unknown_certificate_or_name_is_refused(certificate: Path, host: str) -> None:
    async def main() -> None:
        known = ssl.create_default_context(cafile=certificate)
        tls = known if host == "127.0.0.1" else None  # the certificate names localhost only
        async with serving(server_context(certificate)) as server, sending(tls) as sender:
            with pytest.raises(httpx.ConnectError, match="certificate"):
                await get(sender, f"https://{host}:{server.port}/")

    asyncio.run(main())


def test_tls_with_a_server_that_has_none_is_refused() -> None:
    async def speak_plainly(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async def main() -> None:
        async with await asyncio.start_server(speak_plainly, "127.0.0.1", 0) as listening:
            url = f"https://127.0.0.1:{listening.sockets[0].getsockname()[1]}/"
            async with sending() as sender:
                with pytest.raises(httpx.ConnectError):
                    await get(sender, url)

    asyncio.run(main())


def test_a_server_that_does_not_finish_the_handshake_is_a_connect_timeout() -> None:
    async def main() -> None:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            url = f"https://127.0.0.1:{listening.getsockname()[1]}/"
            async with sending() as sender:
                with pytest.raises(httpx.ConnectTimeout):
                    await sender.send(HttpRequest("GET", url, {}, connect_s=0.05))

    asyncio.run(main())


def test_closing_the_sender_closes_kept_connections() -> None:
    async def main() -> None:
        async with serving() as server:
            async with sending() as sender:
                await get(sender, f"http://127.0.0.1:{server.port}/")
                assert not server.gone.is_set()
            async with asyncio.timeout(10.0):
                await server.gone.wait()

    asyncio.run(main())


def test_a_name_that_nobody_knows_cannot_be_connected_to() -> None:
    async def main() -> None:
        async with sending() as sender:
            with pytest.raises(httpx.ConnectError):
                await get(sender, "http://no-such-name.invalid/")

    asyncio.run(main())


def test_a_closed_sender_sends_nothing() -> None:
    async def main() -> None:
        async with serving() as server, sending() as sender:
            await get(sender, f"http://127.0.0.1:{server.port}/")
            await sender.aclose()
            with pytest.raises(httpx.ConnectError, match="closed"):
                await get(sender, f"http://127.0.0.1:{server.port}/")
            assert len(server.requests) == 1

    asyncio.run(main())


def test_closing_while_a_kept_connection_waits_does_not_send_again() -> None:
    async def main() -> None:
        async with serving() as server, sending() as sender:
            url = f"http://127.0.0.1:{server.port}/"
            await get(sender, url)
            server.answer = b""
            call = asyncio.create_task(get(sender, url))
            await server.until_asked(2)
            await sender.aclose()
            with pytest.raises(httpx.TransportError):
                await call
            assert len(server.requests) == 2

    asyncio.run(main())


def test_interim_answers_are_passed_over() -> None:
    async def main() -> None:
        async with serving() as server, sending() as sender:
            server.answer = b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n" + OK
            for _ in range(2):
                assert await get(sender, f"http://127.0.0.1:{server.port}/") == b"ok"

    asyncio.run(main())


def test_an_answer_without_a_body_leaves_its_connection_usable() -> None:
    async def main() -> None:
        async with serving() as server, sending() as sender:
            server.answer = b"HTTP/1.1 204 No Content\r\n\r\n"
            for _ in range(2):
                assert await get(sender, f"http://127.0.0.1:{server.port}/") == b""
            assert server.connections == 1

    asyncio.run(main())


def test_a_server_that_does_not_take_a_long_request_is_a_timeout() -> None:
    async def main() -> None:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
            async with sending() as sender:
                with pytest.raises(httpx.WriteTimeout):
                    await sender.send(HttpRequest("POST", url, {}, LONG, read_s=0.05))

    asyncio.run(main())


def test_a_long_request_arrives_whole() -> None:
    async def main() -> None:
        async with serving() as server, sending() as sender:
            url = f"http://127.0.0.1:{server.port}/"
            answer = await sender.send(HttpRequest("POST", url, {}, LONG))
            assert await answer.read_piece() == b"ok"
            await answer.aclose()
            assert server.bodies == [len(LONG)]

    asyncio.run(main())


def test_user_and_password_of_the_address_are_sent_and_known_as_secrets() -> None:
    async def main() -> None:
        async with serving() as server, sending() as sender:
            url = f"http://me:secret@127.0.0.1:{server.port}/"
            answer = await sender.send(HttpRequest("GET", url, {}))
            await answer.aclose()
            sent = answer.sent_headers["authorization"]
            assert f"authorization: {sent}".encode() in server.requests[0]

    asyncio.run(main())
