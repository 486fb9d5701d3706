"""`LocalServer`: one life of the process that serves a model file on this machine.

    server = LocalServer(path, LocalServerOptions(template="bare"))
    base_url = await server.start()        # an OpenAI-compatible address on loopback
    text = await server.wait_dead()        # how it ended, and what it said last
    await server.stop()

Plain asyncio, no actor: whoever supervises it makes a new one after each end. All methods run on the event
loop that called `start`.

Promises: nothing is left of a server whose `start` failed or was cancelled, or whose `stop` returned;
a server ends with its owner, also with one that was killed (see `actors.model.local_server`), and with the
thread that started it; starting and stopping are bounded in time; little of its log is kept.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import sys
from asyncio.subprocess import PIPE, Process
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from actors.errors import InvalidArgument, LocalModelError, ModelError
from actors.model.catalogue import Template
from actors.model.http import ModelHttp, Timeouts
from actors.model.server_log import LogTail, how_it_ended
from actors.to_the_end import to_the_end

_PROGRAM = Path(__file__).with_name("local_server.py")
_MAGIC = b"GGUF"
_CHUNK = 4096
_HEALTH_EVERY_S = 0.05
_HEALTH = Timeouts(connect_s=2.0, read_s=2.0)


class LocalServerOptions(Struct, frozen=True):
    """How to serve a model.

    * `template`: how a conversation becomes text; see `Template`.
    * `context_size`: tokens one conversation may have, its answer included.
    * `slots`: conversations answered at one time; the others wait in the server.
    * `threads`: threads that compute; 0: all cores but one. llama.cpp's threads wait by spinning, so that
      on a full machine they take the time from each other.
    * `start_timeout_s`: seconds the model may take to load.
    * `stop_timeout_s`: seconds the process has to end by itself before it is killed.
    """

    template: Template = "own"
    context_size: int = 4096
    slots: int = 1
    threads: int = 0
    start_timeout_s: float = 180.0
    stop_timeout_s: float = 5.0


class LocalServer:
    """See the module. `options` left out are the defaults."""

    def __init__(self, model: Path, options: LocalServerOptions | None = None) -> None:
        self._model = model
        self._options = options or LocalServerOptions()
        self._process: Process | None = None
        self._log = LogTail()
        self._line = b""
        self._line_came = asyncio.Event()
        self._readers: asyncio.Future[Any] | None = None

    @property
    def pid(self) -> int | None:
        """The number of the process; None before it is started."""
        return None if self._process is None else self._process.pid

    async def start(self) -> str:
        """Start the process and wait until the model is loaded; returns the base URL, ending in `/v1`.

        Raises:
            LocalModelError: the file is no model, the extra is not installed, the process ended, or it
                took longer than `start_timeout_s`; the message says what to do.
            InvalidArgument: it was started before.
        """
        if self._process is not None:
            raise InvalidArgument("a LocalServer lives once; make a new one to serve again")
        require_model(self._model)
        base_url = ""
        try:
            async with asyncio.timeout(self._options.start_timeout_s):
                base_url = await self._serve()
        except TimeoutError as exc:
            raise LocalModelError(
                f"the model server did not answer within {self._options.start_timeout_s:g} s; give it "
                f"more time or memory, or use a smaller model{self._log.said()}"
            ) from exc
        finally:
            if not base_url:
                await self.stop()
        return base_url

    async def wait_dead(self) -> str:
        """Wait for the process to end; returns how it ended and what it wrote last, in a sentence."""
        if self._process is None or self._readers is None:
            return "the model server was not started"
        status = await self._process.wait()
        await asyncio.shield(self._readers)
        return f"the model server {how_it_ended(status)}{self._log.said()}"

    async def stop(self) -> None:
        """End the process and wait until it is gone; kills it after `stop_timeout_s`. May be repeated.

        Cancelling it does not break it off: it ends as always, and raises CancelledError then.
        """
        if self._process is not None:
            await to_the_end(self._stop(self._process))

    async def _stop(self, process: Process) -> None:
        try:
            if process.returncode is None:
                process.terminate()
                async with asyncio.timeout(self._options.stop_timeout_s):
                    await process.wait()
        except (TimeoutError, ProcessLookupError):
            pass  # it will not go by itself, or has gone just now
        finally:
            if process.returncode is None:
                process.kill()
        await self.wait_dead()

    async def _serve(self) -> str:
        await to_the_end(self._spawn())
        await self._line_came.wait()
        if not self._line:
            raise LocalModelError(await self.wait_dead())
        address = msgspec.json.decode(self._line, type=_Announcement).address
        await self._healthy(address)
        return f"{address}/v1"

    async def _spawn(self) -> None:
        command = server_command(self._model, self._options)
        try:
            # A session of its own: interrupts of the terminal are for the owner.
            self._process = await asyncio.create_subprocess_exec(
                *command, stdin=PIPE, stdout=PIPE, stderr=PIPE, start_new_session=True
            )
        except OSError as exc:
            raise LocalModelError(f"the model server cannot be started: {exc}") from exc
        self._readers = asyncio.gather(
            self._keep_line(self._process), self._keep_log(self._process)
        )

    async def _healthy(self, address: str) -> None:
        http = ModelHttp(timeouts=_HEALTH)
        try:
            while True:
                try:
                    await http.get(f"{address}/health")
                    return
                except ModelError:
                    if self._process is None or self._process.returncode is not None:
                        raise LocalModelError(await self.wait_dead()) from None
                await asyncio.sleep(_HEALTH_EVERY_S)
        finally:
            await http.aclose()

    async def _keep_line(self, process: Process) -> None:
        """Keep the first line and read to the end: a pipe is closed only once its end was read."""
        assert process.stdout is not None
        try:
            self._line = await process.stdout.readline()
        finally:
            self._line_came.set()
        while await process.stdout.read(_CHUNK):
            pass

    async def _keep_log(self, process: Process) -> None:
        assert process.stderr is not None
        while chunk := await process.stderr.read(_CHUNK):
            self._log.feed(chunk)


class _Announcement(Struct, frozen=True):
    """The line in which the program tells its address."""

    address: str


def require_model(path: Path) -> None:
    """Raises LocalModelError where serving the file cannot work, before anything is started."""
    if importlib.util.find_spec("xllamacpp") is None:
        raise LocalModelError(
            "serving a model on this machine needs llama.cpp; install it: pip install 'greenroom[local]'"
        )
    try:
        with path.open("rb") as file:
            magic = file.read(len(_MAGIC))
    except OSError as exc:
        raise LocalModelError(
            f"the model file {str(path)!r} cannot be read: {exc.strerror}"
        ) from exc
    if magic != _MAGIC:
        raise LocalModelError(
            f"expected a GGUF model file at {str(path)!r}, its first bytes are {magic!r}"
        )


def server_command(model: Path, options: LocalServerOptions) -> list[str]:
    """The command that serves a model. By path and with -P, so that no folder can put itself before it."""
    settings = {
        "--model": model.absolute(),
        "--template": options.template,
        "--context-size": options.context_size,
        "--slots": options.slots,
        "--threads": options.threads or default_threads(),
    }
    pairs = [str(word) for setting in settings.items() for word in setting]
    return [sys.executable, "-P", str(_PROGRAM), *pairs]


def default_threads() -> int:
    """All cores this process may use but one, at least one."""
    return max(1, len(os.sched_getaffinity(0)) - 1)
