"""The beginning of every request of an agent: system message and tools, encoded once.

They are made anew when the tools change, also in the middle of a turn, and not before. The protocol and
the agent's own prompt are fixed; with other ones make another cache.
"""

from __future__ import annotations

from msgspec import Raw, Struct

from actors.agent.tool_runner import ToolRunner
from actors.agent.wire import encode_message
from actors.model.message import Message
from actors.protocol.protocol import Protocol


class Prompt(Struct, frozen=True):
    """`text` is the whole system prompt, `system` its message, `tools` the array to send (or None)."""

    text: str
    system: tuple[Raw, ...]
    tools: Raw | None


def _encode(text: str, tools: Raw | None) -> Prompt:
    """A prompt; an empty text makes no message."""
    return Prompt(text, (encode_message(Message("system", text)),) if text else (), tools)


class PromptCache:
    """See the module. `without_tools` is the agent's own prompt alone, for a step that offers none."""

    __slots__ = ("_own_prompt", "_prompt", "_protocol", "_tools", "_version", "without_tools")

    def __init__(self, protocol: Protocol, own_prompt: str, tools: ToolRunner) -> None:
        self._protocol = protocol
        self._own_prompt = own_prompt
        self._tools = tools
        self._version: int | None = None
        self.without_tools = _encode(own_prompt, None)
        self._prompt = self.without_tools

    def current(self) -> Prompt:
        """The prompt for the tools as they are now.

        Raises:
            ToolSchemaError: a tool cannot be described to the model.
        """
        version = self._tools.version
        if version != self._version:
            text, tools = self._protocol.build(self._own_prompt, self._tools.specs())
            self._prompt, self._version = _encode(text, tools), version
        return self._prompt
