"""The seam to a model: one request in, one reply out, tokens on the way if somebody listens.

A provider knows an address, an HTTP client and a wire format. It knows no tools, no protocol and
no agent. It reads a reply only as far as every protocol needs it: text, raw tool calls, usage.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from msgspec import Raw, Struct

from actors.model.message import Usage


class ModelRequest(Struct, frozen=True):
    """One call of a model.

    `messages` are encoded already, one JSON object each, the system message first, so that a turn
    encodes what is new and not its whole past at every step. `tools` is the encoded `tools` array,
    or None to send neither `tools` nor `tool_choice`.
    """

    model: str
    messages: tuple[Raw, ...]
    max_tokens: int
    temperature: float
    tools: Raw | None = None
    tool_choice: str = "auto"


class ModelReply(Struct, frozen=True):
    """What came back.

    `text` is None when the reply had no string content. `tool_calls` holds the raw decoded JSON of
    the calls (any JSON value, not yet checked; empty when there were none); from a stream they are
    the merged calls in wire form. `complete` is false when a stream ended without `[DONE]`.
    """

    text: str | None
    tool_calls: Any = ()
    usage: Usage | None = None
    complete: bool = True


TokenSink = Callable[[str], None]


class ModelProvider(Protocol):
    """A way to reach a model. Every method runs on the event loop and is cancellable."""

    @property
    def name(self) -> str:
        """What the provider is called in configuration: `openai`, `lemonade`, `ollama`, `local`."""

    @property
    def local(self) -> bool:
        """Whether the model runs on this machine."""

    async def available(self) -> bool:
        """Whether a server answers at the configured address, asked with a short deadline."""

    async def prepare(self, model: str, context_size: int) -> None:
        """Make the model ready (gaia 9.3). Raises ModelError; a provider without need does nothing."""

    async def generate(self, request: ModelRequest) -> ModelReply:
        """Ask for one whole reply.

        Raises:
            ModelError: nothing usable came back. Cancelling the call closes the connection.
        """

    async def stream(self, request: ModelRequest, on_token: TokenSink) -> ModelReply:
        """Ask for a reply piece by piece: `on_token` gets each piece, the return value is the whole.

        A server that answers with one plain JSON body is read as `generate` reads it, without
        tokens. Raises as `generate`.
        """
