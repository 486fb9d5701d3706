"""`AddressBook`: host names to addresses for many connections at once, and the connecting itself.

A thousand agents that begin together ask for a name once: whoever comes while the question is out
waits for the same answer, and an answer is kept for 10 s. Names are resolved on the event loop's
default executor. Of several addresses the next one is tried when one has not answered within 0.25 s
(RFC 8305), so a host with a broken IPv6 route costs no minute.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from functools import partial

import aiohappyeyeballs
from aiohappyeyeballs import AddrInfoType

_KEPT_S = 10.0
_NEXT_AFTER_S = 0.25
_Place = tuple[str, int]


class AddressBook:
    """See the module. Used on one event loop."""

    def __init__(self) -> None:
        self._known: dict[_Place, tuple[float, Sequence[AddrInfoType]]] = {}
        self._asked: dict[_Place, asyncio.Task[Sequence[AddrInfoType]]] = {}

    async def connect(self, host: str, port: int) -> socket.socket:
        """A connected socket that does not block. Raises OSError."""
        addresses = await self._find(host, port)
        try:
            return await aiohappyeyeballs.start_connection(
                addresses, happy_eyeballs_delay=_NEXT_AFTER_S
            )
        except OSError:
            self._known.pop((host, port), None)  # the name may mean another machine by now
            raise

    async def _find(self, host: str, port: int) -> Sequence[AddrInfoType]:
        place = (host, port)
        until, addresses = self._known.get(place, (0.0, ()))
        if asyncio.get_running_loop().time() < until:
            return addresses
        task = self._asked.get(place)
        if task is None:
            task = self._asked[place] = asyncio.create_task(_resolve(host, port))
            task.add_done_callback(partial(self._note, place))
        return await asyncio.shield(task)

    def _note(self, place: _Place, task: asyncio.Task[Sequence[AddrInfoType]]) -> None:
        del self._asked[place]
        if not task.cancelled() and task.exception() is None:
            self._known[place] = (task.get_loop().time() + _KEPT_S, task.result())


async def _resolve(host: str, port: int) -> Sequence[AddrInfoType]:
    try:
        return socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
        )
    except socket.gaierror:
        loop = asyncio.get_running_loop()
        return await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
