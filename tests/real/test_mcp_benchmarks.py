"""The MCP benchmark runs, at a scale where its figures mean nothing, so that it cannot rot unseen."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks.harness import Results
from tests.benchmarks.mcp_calls import AGENT_UV, MEASURES, OFFICIAL, OURS, Amount, one_round
from tests.mcp_servers import McpServers
from tests.real.mcp_http import modern_http

TINY = Amount(rounds=1, calls=5, warm=1, http_calls=5, sessions=1, agents=2)

pytestmark = [pytest.mark.real, pytest.mark.time_limit(120)]


def test_every_row_is_measured(servers: McpServers, tmp_path: Path) -> None:
    results = Results()
    with modern_http(servers, tmp_path) as http:
        one_round(results, TINY, servers, http.url)
    agents = {"agent_alone", "agent_tools"}
    for measure in MEASURES:
        subjects = (AGENT_UV,) if measure in agents else (OURS, OFFICIAL)
        assert all(results.median(measure, subject) is not None for subject in subjects)
