"""`PipeTransport`: the messages of one client over two descriptors of this process, a line of JSON each.

The other end of `StdioTransport`: here we are the program, and the descriptors are our standard streams.
They may be pipes, sockets, a terminal or files, and others may share them, so they are left in the mode they
have: two threads wait for them, not the event loop. The threads end with `aclose`, whatever the other side
does; the descriptors are the caller's to close.
"""

from __future__ import annotations

import asyncio
import os
import select
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from actors.errors import InvalidArgument, McpConnectionLost
from actors.mcp.jsonrpc import Noise, read_messages
from actors.mcp.lines import Line, LineSplitter, TooLong
from actors.mcp.transport import Outgoing, Receiver
from actors.to_the_end import to_the_end

T = TypeVar("T")

_READ_BYTES: Final = 256 * 1024
_CHUNKS_AHEAD: Final = 8
"""Chunks that may wait for the loop before reading pauses."""


class PipeTransport:
    """Implements `Transport`; see there. `peer` names the client in messages."""

    def __init__(self, peer: str, read_fd: int, write_fd: int) -> None:
        self._peer = peer
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._lines = LineSplitter()
        self._receiver: Receiver | None = None
        self._closed = False
        self._lost = False
        self._ahead = threading.Semaphore(_CHUNKS_AHEAD)
        self._loop: asyncio.AbstractEventLoop
        self._reader: threading.Thread
        self._writer: ThreadPoolExecutor
        self._waking: tuple[int, int]

    @property
    def closing_cancels(self) -> bool:
        """No: there is one stream for all."""
        return False

    async def open(self, receiver: Receiver) -> None:
        """Begin to read. Raises InvalidArgument if it was opened or closed before."""
        if self._receiver is not None or self._closed:
            raise InvalidArgument("a PipeTransport lives once; make a new one")
        self._receiver = receiver
        self._loop = asyncio.get_running_loop()
        self._waking = os.pipe()  # closing its end for writing wakes both threads
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="mcp-write")
        self._reader = threading.Thread(target=self._read_all, name="mcp-read", daemon=True)
        self._reader.start()

    def agreed(self, version: str, *, legacy: bool) -> None:
        """Lines are lines in every revision."""

    def last_words(self) -> str:
        """Nothing: a client has no log here."""
        return ""

    def condemn(self) -> None:
        """Nothing changes: `aclose` waits for nobody."""

    async def send(self, message: Outgoing) -> None:
        """Write the message whole; waits while the client does not read.

        Raises:
            McpConnectionLost: the client has closed its end, or the transport is closed.
        """
        if self._closed or self._receiver is None:
            raise McpConnectionLost(f"the connection to {self._peer} is closed")
        try:
            await self._loop.run_in_executor(self._writer, self._write, message.body + b"\n")
        except OSError as error:
            lost = McpConnectionLost(f"{self._peer} does not read any more ({error.strerror})")
            self._lose(lost)
            raise lost from error

    async def aclose(self) -> None:
        """End both threads; a message that is only half written stays so."""
        self._closed = True
        if self._receiver is not None:
            await to_the_end(self._end_threads())

    async def _end_threads(self) -> None:
        wake_read, wake_write = self._waking
        if wake_write < 0:
            return
        self._waking = wake_read, -1
        os.close(wake_write)
        self._ahead.release()
        await asyncio.to_thread(self._join)
        os.close(wake_read)

    def _join(self) -> None:
        self._reader.join()
        self._writer.shutdown(wait=True)

    # -- on the loop ------------------------------------------------------------------------------

    def _take(self, data: bytes) -> None:
        self._ahead.release()
        for line in self._lines.feed(data):
            self._received(line)

    def _ended(self, how: str) -> None:
        for line in self._lines.rest():
            self._received(line)
        self._lose(McpConnectionLost(f"{self._peer} {how}", sent=True))

    def _lose(self, error: McpConnectionLost) -> None:
        if not self._lost and not self._closed:
            assert self._receiver is not None
            self._lost = True
            self._receiver.lost(error)

    def _received(self, line: Line) -> None:
        assert self._receiver is not None
        if self._lost or self._closed:
            return
        if isinstance(line, TooLong):
            start = line.start.decode("utf-8", errors="replace")
            why = f"a line of more than {line.limit} bytes was skipped: {start!r}..."
            self._receiver.received(Noise(why))
            return
        for message in read_messages(line):
            self._receiver.received(message)

    # -- on threads -------------------------------------------------------------------------------

    def _read_all(self) -> None:
        """The reader's life: until the stream ends, breaks, or `aclose`."""
        how = "has closed its end"
        try:
            while self._is_ready(self._read_fd, select.POLLIN) and (
                data := os.read(self._read_fd, _READ_BYTES)
            ):
                self._ahead.acquire()
                self._tell(self._take, data)
        except OSError as error:
            how = f"cannot be read ({error.strerror})"
        self._tell(self._ended, how)

    def _write(self, data: bytes) -> None:
        """All of it, in pieces that a pipe which has room takes at once; less after `aclose`."""
        view = memoryview(data)
        while view and self._is_ready(self._write_fd, select.POLLOUT):
            view = view[os.write(self._write_fd, view[: select.PIPE_BUF]) :]

    def _is_ready(self, fd: int, event: int) -> bool:
        """Wait for the descriptor; False at once when the transport is closed."""
        poll = select.poll()
        poll.register(fd, event)
        poll.register(self._waking[0], 0)
        while not self._closed:
            if any(ready == fd for ready, _ in poll.poll()):
                return not self._closed
        return False

    def _tell(self, function: Callable[[T], None], value: T) -> None:
        try:
            self._loop.call_soon_threadsafe(function, value)
        except RuntimeError:
            pass  # the loop is closed: nobody is there to be told
