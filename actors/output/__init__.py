"""What a turn tells (events), and who shows it (handlers)."""

from actors.output.console import Console
from actors.output.dispatch import publish_to
from actors.output.handler import Decision, OutputHandler
from actors.output.json_lines import JsonLinesHandler
from actors.output.silent import SilentHandler
from actors.output.terminal import TerminalHandler

__all__ = [
    "Console",
    "Decision",
    "JsonLinesHandler",
    "OutputHandler",
    "SilentHandler",
    "TerminalHandler",
    "publish_to",
]
