"""`ScriptedModelServer`: a model server that answers by a script, over real HTTP on a loopback port.

    with ScriptedModelServer([answer("hello"), Failure("reset")]) as server:
        ...                               # point a client at server.base_url
        server.assert_finished()
        assert server.chats[0].json["model"] == "m"

Successive POSTs to `.../chat/completions`, under any prefix, take successive replies of the script.
A script may also be a function from request to reply; it then has no end, and many clients may call
at once. Other paths answer from `routes`.

Promises: runs on its own thread with its own event loop, so a blocked or busy client does not hold it
up; every request is recorded before it is answered; one call too many is answered with status 500 and
makes `assert_finished` and the end of the `with` block fail; leaving the block closes every connection
and ends the thread. Records may be read from any thread.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType

from actors.testing.http_exchange import ClientGone, read_request, send_reply
from actors.testing.replies import BodyReply, JsonReply, RecordedRequest, Reply

Script = Iterable[Reply] | Callable[[RecordedRequest], Reply]

Route = Reply | Callable[[RecordedRequest], Reply]

_DEFAULT_ROUTES: dict[str, Route] = {
    "GET /health": JsonReply({"status": "ok", "all_models_loaded": []}),
    "GET /models": JsonReply({"object": "list", "data": []}),
    "POST /load": JsonReply({"status": "success"}),
}


class ScriptedModelServer:
    """See the module. `routes` maps `"GET /health"` and the like to replies (or to functions from request to reply) and adds to the defaults
    (`GET /health` with nothing loaded, `GET /models` with none, `POST /load` that succeeds); a path is
    matched by its end, the longest route first, so any prefix will do.

    `requests` holds every request in order, `connections` how many were accepted, `hangups` how many
    of them the client closed while it was to wait for an answer (a silent reply).
    """

    def __init__(self, script: Script = (), *, routes: Mapping[str, Route] | None = None) -> None:
        self._script = script if callable(script) else iter(list(script))
        self._routes = {**_DEFAULT_ROUTES, **(routes or {})}
        self._changed = threading.Condition()
        self._too_many: list[str] = []
        self._stop: Callable[[], None] = _not_started
        self.port = 0
        self.requests: list[RecordedRequest] = []
        self.connections = 0
        self.hangups = 0

    def __enter__(self) -> ScriptedModelServer:
        """Start answering. From here on `port` and the addresses are known."""
        listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.port = listener.getsockname()[1]
        loop, stopping = asyncio.new_event_loop(), asyncio.Event()

        def run() -> None:
            loop.run_until_complete(self._serve(listener, stopping))
            loop.close()

        def stop() -> None:
            loop.call_soon_threadsafe(stopping.set)
            thread.join()

        thread = threading.Thread(target=run, name="scripted model server", daemon=True)
        thread.start()
        self._stop = stop
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close everything. Raises AssertionError on a call too many, unless the block failed by itself."""
        self._stop()
        if kind is None:
            self._check_calls()

    @property
    def root_url(self) -> str:
        """`http://127.0.0.1:PORT`."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def base_url(self) -> str:
        """The root and `/api/v1`, where a Lemonade server has its API."""
        return f"{self.root_url}/api/v1"

    @property
    def chats(self) -> list[RecordedRequest]:
        """The requests that took, or wanted to take, a reply of the script."""
        return [each for each in list(self.requests) if _is_chat(each)]

    @property
    def loads(self) -> list[RecordedRequest]:
        """The requests to `POST .../load`."""
        return [each for each in list(self.requests) if each.path.endswith("/load")]

    def assert_finished(self) -> None:
        """Raise AssertionError if a call came too many or a reply was not asked for."""
        self._check_calls()
        left = [] if callable(self._script) else list(self._script)
        if left:
            raise AssertionError(f"{len(left)} scripted replies were not asked for: {left!r:.500}")

    def wait_until(
        self, fact: Callable[[ScriptedModelServer], bool], timeout_s: float = 10.0
    ) -> None:
        """Block until `fact(self)` is true; looked at whenever a count changes.

        On an event loop call it by `asyncio.to_thread`. Raises AssertionError after `timeout_s`.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: fact(self), timeout_s):
                raise AssertionError(
                    f"not within {timeout_s} s: {len(self.requests)} requests, "
                    f"{self.connections} connections, {self.hangups} hangups"
                )

    def _check_calls(self) -> None:
        if self._too_many:
            raise AssertionError(f"the script was over, and there came: {self._too_many}")

    async def _serve(self, listener: socket.socket, stopping: asyncio.Event) -> None:
        """Accept by hand: asyncio's own server drops connections it accepts while it is closed."""
        loop = asyncio.get_running_loop()
        talks: set[asyncio.Task[None]] = set()

        def accept() -> None:
            try:
                accepted, _ = listener.accept()
            except BlockingIOError:
                return  # the client went before we came
            accepted.setblocking(False)
            talk = loop.create_task(self._talk(accepted))
            talks.add(talk)
            talk.add_done_callback(talks.discard)

        listener.setblocking(False)
        loop.add_reader(listener, accept)
        await stopping.wait()
        loop.remove_reader(listener)
        listener.close()
        await asyncio.sleep(0)  # a talk must have begun for its end to close the socket
        ending = list(talks)
        for talk in ending:
            talk.cancel()
        await asyncio.gather(*ending, return_exceptions=True)
        await asyncio.sleep(0)  # the last transports tell that they are closed

    async def _talk(self, accepted: socket.socket) -> None:
        reader, writer = await asyncio.open_connection(sock=accepted)
        self._count("connections")
        try:
            await self._converse(reader, writer, self.connections)
            writer.close()
            await writer.wait_closed()  # all that was written arrives before the end does
        except ClientGone:
            self._count("hangups")
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client went away in the middle, as it may
        finally:
            writer.transport.abort()

    async def _converse(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int
    ) -> None:
        good = True
        while good:
            request = await read_request(reader, number)
            if request is None:
                return
            reply = self._reply_to(request)
            self._record(request)
            good = await send_reply(reply, reader, writer)

    def _count(self, name: str) -> None:
        with self._changed:
            setattr(self, name, getattr(self, name) + 1)
            self._changed.notify_all()

    def _record(self, request: RecordedRequest) -> None:
        with self._changed:
            self.requests.append(request)
            self._changed.notify_all()

    def _reply_to(self, request: RecordedRequest) -> Reply:
        if not _is_chat(request):
            route = self._route(f"{request.method} {request.path}")
            return route(request) if callable(route) else route
        if callable(self._script):
            return self._script(request)
        reply = next(self._script, None)
        if reply is None:
            self._too_many.append(f"{request.method} {request.path} {request.body[:200]!r}")
            return BodyReply("the script is over", status=500, content_type="text/plain")
        return reply

    def _route(self, line: str) -> Route:
        method, path = line.split(" ", 1)
        for route in sorted(self._routes, key=len, reverse=True):
            known_method, end = route.split(" ", 1)
            if method == known_method and path.endswith(end):
                return self._routes[route]
        return JsonReply({"error": {"message": f"no route for {line}"}}, status=404)


def unused_port() -> int:
    """A loopback port where nothing listens, for connections that must be refused."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def _not_started() -> None:
    raise RuntimeError("the server was not started: use it in a with statement")


def _is_chat(request: RecordedRequest) -> bool:
    return request.method == "POST" and request.path.endswith("/chat/completions")
