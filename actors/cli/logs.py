"""Where the log of a command goes: standard error, warnings and worse; everything of ours with `--debug`."""

from __future__ import annotations

import logging
import sys


def send_logs_to_stderr(*, debug: bool) -> None:
    """Set logging up for this process; standard output stays for answers."""
    logging.basicConfig(stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    if debug:
        logging.getLogger("greenroom").setLevel(logging.DEBUG)
