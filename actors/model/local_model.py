"""The local model: a model server on this machine as a supervised actor, shared by all agents of a system.

The server is started when somebody first asks for its address; whoever asks meanwhile waits in the mailbox
until the model is loaded. When the server's process dies the actor fails and its supervisor begins a new
incarnation, which starts a new server for the next who asks. With the system the server is gone.
"""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar, cast

from msgspec import Struct

from actors.errors import AgentError, LocalModelError
from actors.model.local_process import LocalServer, LocalServerOptions
from actors.model.model_files import FoundModel
from runtime import Actor, ActorRef, ActorSystem, Reply

DYING_S = 1.0
"""Seconds a server that does not answer has to turn out dead."""


class GetAddress(Struct, frozen=True):
    """Ask for the base URL of a server that is ready; starts one if none runs.

    Raises LocalModelError: it cannot be started; the message says what to do.
    """


class AddressLost(Struct, frozen=True):
    """Tell that an address does not answer; the answer comes once its server is known to be dead or alive."""

    base_url: str


class LocalModel(Actor):
    """See the module. One for each model file of a system."""

    expected_errors: ClassVar[tuple[type[BaseException], ...]] = (AgentError,)
    cancel_on_stop: ClassVar[bool] = True

    def __init__(self, model: FoundModel, options: LocalServerOptions) -> None:
        super().__init__()
        self._model = model
        self._options = options
        self._server: LocalServer | None = None
        self._base_url = ""

    async def on_receive(self, message: Any) -> Any:
        """Answer with the address, starting the server if need be."""
        match message:
            case GetAddress():
                if not self._base_url:
                    await self._start()
                return self._base_url
            case AddressLost(base_url):
                return await self._look_at(base_url)
        return super().on_receive(message)

    async def _start(self) -> None:
        server = LocalServer(self._model.path, self._options)
        self._base_url = await server.start()
        self._server = server
        self.background(self._watch(server), label="watch")

    async def _look_at(self, base_url: str) -> None:
        """Give a process that is just dying the time to be dead; the watch does the rest."""
        if base_url == self._base_url and self._server is not None:
            try:
                async with asyncio.timeout(DYING_S):
                    await self._server.wait_dead()
            except TimeoutError:
                return
            self._base_url = ""

    async def _watch(self, server: LocalServer) -> None:
        """Fail when the server dies."""
        raise LocalModelError(await server.wait_dead())

    async def on_stop(self) -> None:
        """End the server."""
        if self._server is not None:
            await self._server.stop()

    async def on_failure(self, *_: object) -> None:
        """End what is left of the server."""
        await self.on_stop()


def local_model(
    system: ActorSystem, model: FoundModel, options: LocalServerOptions
) -> ActorRef[LocalModel]:
    """The actor that serves this model in a system, started when it is first needed."""
    name = f"local-model {str(model.path).replace('/', ':')} {options.context_size}"
    return system.ensure(LocalModel, model, options, name=name)


def address_of(server: ActorRef[LocalModel]) -> Reply[str]:
    """The base URL of the model's server, once it is ready."""
    return cast("Reply[str]", server.aask(GetAddress()))


def address_lost(server: ActorRef[LocalModel], base_url: str) -> Reply[None]:
    """Have the actor look whether the server at an address that does not answer is dead."""
    return server.aask(AddressLost(base_url))
