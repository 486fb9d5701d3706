"""Where the log of a command goes: standard error, warnings and worse; everything of ours with `--debug`.

Tracebacks are part of the log with `--debug` only: what failed is told by the command itself.
"""

from __future__ import annotations

import logging
import re
import sys
from typing import Any

import structlog

_OURS = ("greenroom", "actors")
_FORM = "%(levelname)s %(name)s: %(message)s"
_FOR_PROGRAMMERS = re.compile(r""" (?:exception|stack)=["']""")
"""Where the last fields of a line of `runtime.events.log` begin, which hold tracebacks."""


class _Brief(logging.Formatter):
    """A line each, without tracebacks."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        return _FOR_PROGRAMMERS.split(super().format(record))[0]

    def formatException(self, ei: Any) -> str:  # noqa: ARG002, N802  the name logging calls
        """Nothing."""
        return ""


def send_logs_to_stderr(*, debug: bool) -> None:
    """Set logging up for this process; standard output stays for answers."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter(_FORM) if debug else _Brief(_FORM))
    logging.basicConfig(handlers=[handler])
    if debug:
        for name in _OURS:
            logging.getLogger(name).setLevel(logging.DEBUG)
    _send_structlog_to_logging()


def _send_structlog_to_logging() -> None:
    """Loggers by `structlog.get_logger`: left alone, they print on standard output."""
    if structlog.is_configured():
        return
    structlog.configure(
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.contextvars.merge_contextvars,
            structlog.processors.format_exc_info,
            structlog.processors.KeyValueRenderer(key_order=["event"]),
        ],
    )
