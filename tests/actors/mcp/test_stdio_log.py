"""What a server writes to standard error."""

from __future__ import annotations

import structlog

from actors.mcp.stdio_log import LINES_A_SECOND, ServerLog


def test_a_flood_is_counted_and_not_logged() -> None:
    log = ServerLog("x")
    with structlog.testing.capture_logs() as logs:
        log.feed(b"line\n" * (3 * LINES_A_SECOND))
        log.feed(b"last\n")
    assert len(logs) <= 2 * LINES_A_SECOND + 2  # a second may have ended meanwhile
    assert log.said() == "; it said last: line; line; last"
