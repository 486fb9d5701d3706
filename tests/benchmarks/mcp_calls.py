"""`python -m tests.benchmarks.mcp_calls`: our MCP client beside the official Python SDK, in one run.

Each subject runs in processes of its own, in turn within each round, against the same servers: a trivial one
of the standard library over stdio, and the official SDK's server over HTTP. The official subject runs with
the interpreter of `make test`'s environment of servers. `--quick` does less of everything.

Rows: `tools/call` one after another over stdio, and over HTTP; the import of the client with both
transports; memory of the client's process per open session; memory of a waiting agent, alone and with the 13
tools of a server that 1,000 agents share.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.harness import Measure, Ratio, Results, machine_facts, printed_json, table
from tests.mcp_servers import McpServers, find_servers
from tests.real.mcp_http import modern_http
from tests.source_tree import ROOT

OFFICIAL, OURS, OURS_UV, AGENT, AGENT_UV, FLOOR = (
    "official SDK",
    "session",
    "session/uvloop",
    "agent",
    "agent/uvloop",
    "floor",
)
SUBJECTS = (OURS, OURS_UV, AGENT, AGENT_UV, OFFICIAL, FLOOR)
LIMIT_S = 300

TRIVIAL = (sys.executable, "-S", "-E", str(ROOT / "tests/benchmarks/mcp_trivial_server.py"))

OUR_IMPORTS = "actors.mcp.session, actors.mcp.transports"
OFFICIAL_IMPORTS = "mcp, mcp.client.stdio, mcp.client.streamable_http"

MEASURES = {
    "stdio_median": Measure("tools/call over stdio, median", "us"),
    "stdio_p99": Measure("tools/call over stdio, p99", "us"),
    "http_median": Measure("tools/call over HTTP, median", "us"),
    "http_p99": Measure("tools/call over HTTP, p99", "us"),
    "import": Measure("import of the client", "ms"),
    "memory": Measure("an open session", "KiB"),
    "agent_alone": Measure("a waiting agent", "KiB"),
    "agent_tools": Measure("a waiting agent with 13 shared tools", "KiB"),
}


@dataclass(frozen=True)
class Amount:
    """How much of everything."""

    rounds: int
    calls: int
    warm: int
    http_calls: int
    sessions: int
    agents: int


FULL = Amount(rounds=5, calls=2000, warm=100, http_calls=300, sessions=50, agents=1000)
QUICK = Amount(rounds=2, calls=300, warm=30, http_calls=50, sessions=10, agents=200)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it and print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.mcp_calls", description=__doc__
    )
    parser.add_argument("--quick", action="store_true", help="less of everything")
    amount = QUICK if parser.parse_args(arguments).quick else FULL
    facts = machine_facts(amount.rounds)
    ratios = [Ratio(subject, OFFICIAL) for subject in (OURS, OURS_UV, AGENT, AGENT_UV)]
    print(table(measured(amount), MEASURES, SUBJECTS, ratios))
    print(f"\n{facts}")
    return 0


def measured(amount: Amount) -> Results:
    """The figures of all rounds."""
    results = Results()
    servers = find_servers()
    with (
        tempfile.TemporaryDirectory() as directory,
        modern_http(servers, Path(directory)) as http,
    ):
        for _ in range(amount.rounds):
            one_round(results, amount, servers, http.url)
    return results


def one_round(results: Results, amount: Amount, servers: McpServers, url: str) -> None:
    """Every measure of every subject, once."""
    official = (str(servers.python), str(ROOT / "tests/benchmarks/mcp_official.py"))
    ours = (sys.executable, "-m", "tests.benchmarks.mcp_ours")
    everything = servers.everything().argv
    for subject in SUBJECTS:
        latency = (*official, "latency") if subject == OFFICIAL else (*ours, "latency", subject)
        taken = ran(*latency, amount.calls, amount.warm, *TRIVIAL)
        results.add(subject, percentiles("stdio", taken))
        if subject != FLOOR:
            taken = ran(*latency, amount.http_calls, amount.warm, url)
            results.add(subject, percentiles("http", taken))
    results.add(OFFICIAL, {"import": imported_ms(official[0], OFFICIAL_IMPORTS)})
    results.add(OURS, {"import": imported_ms(sys.executable, OUR_IMPORTS)})
    results.add(AGENT, {"import": imported_ms(sys.executable, "actors")})
    results.add(OFFICIAL, {"memory": ran(*official, "memory", amount.sessions, *TRIVIAL)})
    results.add(OURS, {"memory": ran(*ours, "memory", amount.sessions, *TRIVIAL)})
    results.add(AGENT_UV, {"agent_alone": ran(*ours, "agents", amount.agents)})
    results.add(AGENT_UV, {"agent_tools": ran(*ours, "agents", amount.agents, *everything)})


def percentiles(name: str, taken: Sequence[float]) -> dict[str, float]:
    """Median and 99th percentile."""
    return {
        f"{name}_median": statistics.median(taken),
        f"{name}_p99": statistics.quantiles(taken, n=100)[98],
    }


def imported_ms(python: str, modules: str) -> float:
    """Milliseconds that these imports take in a new interpreter."""
    code = (
        f"import time; began = time.perf_counter(); import {modules}; "
        "print((time.perf_counter() - began) * 1e3)"
    )
    return float(ran(python, "-c", code))


def ran(*command: object) -> Any:
    """What a program printed, as JSON."""
    return printed_json(*command, limit_s=LIMIT_S)


if __name__ == "__main__":
    sys.exit(main())
