"""`StdioTransport`: the messages of a server that is a program of this machine, a line of JSON each.

The transport owns the program: it begins with `open` and ends with `aclose`, and ends also when this process
is killed (see `actors.mcp.process`). Lines that are no message are told as `Noise`, and so is one that is
too long to be read; the stream goes on behind them.
"""

from __future__ import annotations

from actors.errors import InvalidArgument, McpConnectionLost
from actors.mcp.config import McpTimeouts, StdioServer
from actors.mcp.jsonrpc import Noise, read_messages
from actors.mcp.lines import Line, LineSplitter, TooLong
from actors.mcp.process import ServerProcess
from actors.mcp.transport import Outgoing, Receiver


class StdioTransport:
    """Implements `Transport`; see there. `name` is the server's, for messages and the log."""

    def __init__(self, name: str, server: StdioServer, timeouts: McpTimeouts) -> None:
        self._name = name
        self._lines = LineSplitter()
        self._receiver: Receiver | None = None
        self._process = ServerProcess(
            name, server, shutdown_s=timeouts.shutdown, output=self._output, lost=self._lost
        )

    @property
    def closing_cancels(self) -> bool:
        """No: the stream stays, so the server has to be told."""
        return False

    @property
    def pid(self) -> int | None:
        """The number of the program's process, and of its group; None before `open`."""
        return self._process.pid

    async def open(self, receiver: Receiver) -> None:
        """Start the program.

        Raises:
            McpConnectionLost: it cannot be started; says why and what to do. `sent` is false.
            InvalidArgument: the transport was opened or closed before.
        """
        if self._receiver is not None:
            raise InvalidArgument("a StdioTransport lives once; make a new one to connect again")
        self._receiver = receiver
        await self._process.start()

    async def send(self, message: Outgoing) -> None:
        """Write the message; waits while the server does not read. Cancelled meanwhile, nothing is written.

        Raises:
            McpConnectionLost: the server has ended or closed its input; `sent` is false.
        """
        await self._process.write(message.body + b"\n")

    def agreed(self, version: str, *, legacy: bool) -> None:
        """Lines are lines in every revision."""

    def last_words(self) -> str:
        """What the server wrote to standard error last: `; it said last: ...`, or ''."""
        return self._process.last_words()

    def condemn(self) -> None:
        """`aclose` kills the program at once."""
        self._process.condemn()

    async def aclose(self) -> None:
        """End the program and what it has started. At most five times `McpTimeouts.shutdown`, and 3 s."""
        await self._process.stop()

    def _output(self, data: bytes) -> None:
        for line in self._lines.feed(data):
            self._read(line)

    def _lost(self, how: str) -> None:
        assert self._receiver is not None
        for line in self._lines.rest():  # a last answer without its line end, or half a one
            self._read(line)
        text = f"server {self._name!r} {how}{self.last_words()}"
        self._receiver.lost(McpConnectionLost(text, sent=True))

    def _read(self, line: Line) -> None:
        assert self._receiver is not None
        if isinstance(line, TooLong):
            start = line.start.decode("utf-8", errors="replace")
            why = f"a line of more than {line.limit} bytes was skipped: {start!r}..."
            self._receiver.received(Noise(why))
            return
        for message in read_messages(line):
            self._receiver.received(message)
