"""Each test of a command finds structlog as a new process does: not configured by anybody."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import structlog


@pytest.fixture(autouse=True)
def untouched_structlog() -> Iterator[None]:
    """`main` configures it unless somebody did, and so does `structlog.testing.capture_logs`."""
    structlog.reset_defaults()
    yield
    structlog.reset_defaults()
