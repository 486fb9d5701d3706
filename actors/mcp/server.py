"""`McpServer`: an actor that serves tools to one MCP client, over whatever transport it is given.

    over = Future()
    system.spawn(McpServer, lambda: PipeTransport("the client", 0, 1), offer, over)
    over.result()

It begins with its transport and ends normally when the client closes its side: calls that run then have
`DRAIN_S` seconds to end and be answered. Stopped by anybody else, they are cancelled at once.
"""

from __future__ import annotations

from concurrent.futures import Future
from types import TracebackType
from typing import ClassVar, Final

from actors.errors import McpConnectionLost
from actors.mcp.served_offer import Offer
from actors.mcp.served_session import ServedSession
from actors.mcp.transport import TransportMaker
from runtime import Actor

DRAIN_S: Final = 1.0
"""Seconds for calls in flight when the client has closed its side; most clients wait two for our end."""


class McpServer(Actor):
    """See the module. `over` is set at the end of its life, to None or to what it failed with."""

    cancel_on_stop: ClassVar[bool] = True

    def __init__(
        self,
        transport: TransportMaker,
        offer: Offer,
        over: Future[None],
        *,
        instructions: str = "",
    ) -> None:
        super().__init__()
        self._session = ServedSession(
            "the client", transport(), offer, instructions=instructions, lost=self._lost
        )
        self._over = over

    async def on_start(self) -> None:
        """Begin to listen."""
        await self._session.dispatcher.open()

    def _lost(self, error: McpConnectionLost) -> None:
        self.log.debug("a client has gone", why=str(error))
        self.background(self._end(), label="end")

    async def _end(self) -> None:
        await self._session.dispatcher.drain(DRAIN_S)
        self.stop()

    async def on_stop(self) -> None:
        """Cancel what runs, and end the transport."""
        try:
            await self._session.dispatcher.aclose()
        finally:
            if not self._over.done():
                self._over.set_result(None)

    async def on_failure(
        self,
        exception_type: type[BaseException] | None,  # noqa: ARG002  pykka's signature
        exception_value: BaseException | None,
        traceback: TracebackType | None,  # noqa: ARG002
    ) -> None:
        """As `on_stop`: a client's stream cannot be taken up by another incarnation."""
        if exception_value is not None:
            self._over.set_exception(exception_value)
        await self.on_stop()
