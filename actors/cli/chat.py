"""A conversation in lines: what begins with a slash is a command, everything else goes to the agent.

Empty lines are passed over. `exit`, `quit` and the end of the input leave. Ctrl-C ends the running turn, and
at the prompt only the line; the program goes on. The rules are those of gaia part 2, "REPL".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct

from actors.cli.interrupt import interrupts_cancel
from actors.cli.line_reader import LineReader
from actors.cli.session import AnswersQueries
from actors.errors import AgentError
from actors.output.console import Console

PROMPT = "> "
_LONGEST_LINE = 100


class ChatCommand(Struct, frozen=True):
    """A word with a slash, a line of help, and what it does with the text after it."""

    name: str
    help: str
    run: Callable[[Chat, str], None]


class Chat:
    """See the module. `commands` are added to the built-in ones; one of the same name replaces it.

    `console` gets what the chat itself says; what the agent says goes where its output handler prints.
    """

    def __init__(
        self,
        agent: AnswersQueries,
        lines: LineReader,
        console: Console,
        *,
        model: str,
        commands: Iterable[ChatCommand] = (),
    ) -> None:
        self.agent = agent
        self.console = console
        self.model = model
        self.leaving = False
        self.commands = {command.name: command for command in (*BUILT_IN, *commands)}
        self._lines = lines

    def run(self) -> None:
        """Read and answer until the user leaves."""
        while not self.leaving and not self.console.lost:
            try:
                line = self._lines.read(PROMPT)
            except KeyboardInterrupt:
                self.say("(/exit or Ctrl-D leaves)")
                continue
            if line is None or line.strip() in ("exit", "quit"):
                return
            self.take(line.strip())

    def take(self, line: str) -> None:
        """Obey or answer one line."""
        if line.startswith("/"):
            self._obey(line)
        elif line:
            self._ask(line)

    def say(self, text: str) -> None:
        """Print a line of the chat's own."""
        self.console.write(self.console.clean(text) + "\n")

    def _obey(self, line: str) -> None:
        name, _, rest = line.partition(" ")
        command = self.commands.get(name)
        if command is None:
            self.say(f"unknown command {name!r}; /help lists them")
            return
        command.run(self, rest.strip())

    def _ask(self, line: str) -> None:
        with interrupts_cancel(self.agent.cancel):
            try:
                self.agent.process_query(line)
            except AgentError as error:
                self.say(f"error: {error}")


def _help(chat: Chat, rest: str) -> None:  # noqa: ARG001
    width = max(len(name) for name in chat.commands)
    for name, command in sorted(chat.commands.items()):
        chat.say(f"{name:<{width}}  {command.help}")


def _clear(chat: Chat, rest: str) -> None:  # noqa: ARG001
    chat.agent.clear_history()
    chat.say("the agent has forgotten what was said")


def _model(chat: Chat, rest: str) -> None:
    if rest:
        chat.agent.set_model(rest)
        chat.model = rest
    chat.say(f"model: {chat.model}")


def _history(chat: Chat, rest: str) -> None:  # noqa: ARG001
    messages = chat.agent.history()
    if not messages:
        chat.say("nothing was said yet")
    for message in messages:
        calls = ", ".join(call.name for call in message.tool_calls)
        text = message.content or (f"calls {calls}" if calls else "")
        line = " ".join(text.split())
        shown = line if len(line) <= _LONGEST_LINE else f"{line[: _LONGEST_LINE - 3]}..."
        chat.say(f"{message.role}: {shown}")


def _exit(chat: Chat, rest: str) -> None:  # noqa: ARG001
    chat.leaving = True


BUILT_IN = (
    ChatCommand("/help", "show this list", _help),
    ChatCommand("/clear", "forget what was said", _clear),
    ChatCommand("/model", "show the model, or use another: /model NAME", _model),
    ChatCommand("/history", "show what was said, a line each", _history),
    ChatCommand("/exit", "leave (so do exit, quit and Ctrl-D)", _exit),
)
"""The commands every chat has."""
