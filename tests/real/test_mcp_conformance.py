"""The official MCP conformance suite against our client: every scenario but those of authorisation.

OAuth is not spoken; the scenarios of authorisation are listed, with their result, in docs/mcp.md.

The suite starts a server of its own for each scenario and runs `tests.real.mcp_conformance_client`, with
the server's URL as last argument and the scenario, the revision and what else it needs in the environment
(MCP_CONFORMANCE_SCENARIO, MCP_CONFORMANCE_PROTOCOL_VERSION, MCP_CONFORMANCE_CONTEXT). Each revision is run
on its own wire, since a scenario checks other things on each. All of it is HTTP; stdio is covered by the
tests with real servers.

GREENROOM_CONFORMANCE_CLIENT is the command of another client to run, to tell a fault of ours from one of
the suite.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.mcp_servers import McpServers
from tests.source_tree import ROOT

CLIENT = "tests.real.mcp_conformance_client"
OTHER_CLIENT = os.environ.get("GREENROOM_CONFORMANCE_CLIENT")
CLIENT_LIMIT_S = 60
SUITE_LIMIT_S = 90

pytestmark = [
    pytest.mark.real,
    pytest.mark.time_limit(120),
    pytest.mark.skipif(
        OTHER_CLIENT is None and importlib.util.find_spec(CLIENT) is None,
        reason=f"{CLIENT} is not there yet",
    ),
]

SCENARIOS = {
    "2025-11-25": (
        "initialize",
        "tools_call",
        "elicitation-sep1034-client-defaults",
        "sse-retry",
        "json-schema-2020-12-preservation",
    ),
    "2026-07-28": (
        "tools_call",
        "request-metadata",
        "sep-2322-client-request-state",
        "http-standard-headers",
        "http-custom-headers",
        "http-invalid-tool-headers",
        "json-schema-ref-no-deref",
        "json-schema-2020-12-preservation",
    ),
}
RUNS = [(revision, name) for revision, names in SCENARIOS.items() for name in names]

# How often a scenario is run whose server mistook one stream for another.
ATTEMPTS = 5

# Checks that a scenario may leave out; any other that it did not get to do is a fault of the client.
MAY_BE_SKIPPED = {
    # the two requests that a modern client does not make
    "ClientMcpMethodHeader_initialize",
    "ClientMcpMethodHeader_notifications_initialized",
    # capabilities that a client may have or not
    "ClientDeclaresRootsCapability",
    "ClientDeclaresSamplingCapability",
    "ClientDeclaresElicitationCapability",
}

LISTED = re.compile(r"^  - (\S+) \[(.*)\]$", re.MULTILINE)


def client_command() -> str:
    """What the suite runs: it splits the command at blanks and gives the parts to a shell."""
    return OTHER_CLIENT or shlex.join([sys.executable, "-m", CLIENT])


def run_suite(servers: McpServers, arguments: list[str]) -> tuple[int, str]:
    """The suite's exit status and all that it wrote. Ends it, and what it started, when it takes too long."""
    with subprocess.Popen(
        [*servers.conformance, *arguments],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as suite:
        try:
            output, _ = suite.communicate(timeout=SUITE_LIMIT_S)
        finally:
            if suite.poll() is None:
                os.killpg(suite.pid, signal.SIGKILL)
    return suite.returncode, output


def client_scenarios(listing: str) -> set[tuple[str, str]]:
    """Revision and name of the scenarios for clients, without extensions."""
    _, _, clients = listing.partition("Client scenarios")
    clients, _, _ = clients.partition("Authorization server scenarios")
    return {
        (revision, name)
        for name, revisions in LISTED.findall(clients)
        for revision in revisions.split(",")
        if revision in SCENARIOS
    }


def problems_in(checks: list[dict[str, Any]]) -> list[str]:
    """What a scenario's checks found wrong, each with its name and the reason given."""
    lines = [
        f"{check['status']} {check['name']} ({check['id']}): {check['description']}\n"
        f"    {check.get('errorMessage') or json.dumps(check.get('details'))}"
        for check in checks
        if check["status"] in ("FAILURE", "WARNING")
        or (check["status"] == "SKIPPED" and check["name"] not in MAY_BE_SKIPPED)
    ]
    if not any(check["status"] == "SUCCESS" for check in checks):
        lines.append("no check succeeded")
    return lines


def test_every_scenario_of_the_suite_is_run(servers: McpServers) -> None:
    _, listing = run_suite(servers, ["list"])
    scenarios = client_scenarios(listing)
    assert {each for each in scenarios if not each[1].startswith("auth/")} == set(RUNS)
    page = (ROOT / "docs/mcp.md").read_text(encoding="utf-8")
    assert [name for _, name in scenarios if f"`{name.removeprefix('auth/')}`" not in page] == []


@pytest.mark.parametrize(("revision", "scenario"), RUNS)
def test_the_client_conforms(
    servers: McpServers, tmp_path: Path, revision: str, scenario: str
) -> None:
    for attempt in range(ATTEMPTS):
        status, checks, said = run_scenario(servers, tmp_path / str(attempt), revision, scenario)
        if not answered_where_nobody_had_asked(checks):
            break
    problems = problems_in(checks)
    if problems or status != 0:
        pytest.fail(
            "\n".join([*problems, f"exit status {status}; the client wrote:", said]), pytrace=False
        )


def run_scenario(
    servers: McpServers, directory: Path, revision: str, scenario: str
) -> tuple[int, list[dict[str, Any]], str]:
    """The exit status of the suite, its checks, and what the client wrote last."""
    arguments = ["client", "--command", client_command(), "--scenario", scenario]
    arguments += ["--spec-version", revision, "--timeout", str(CLIENT_LIMIT_S * 1000)]
    status, output = run_suite(servers, [*arguments, "--output-dir", str(directory)])
    results = list(directory.glob("*/checks.json"))
    assert len(results) == 1, f"the suite gave no result:\n{output[-4000:]}"
    said = (results[0].parent / "stderr.txt").read_text(encoding="utf-8")
    return status, json.loads(results[0].read_text(encoding="utf-8")), said[-4000:]


def answered_where_nobody_had_asked(checks: list[dict[str, Any]]) -> bool:
    """Whether `sse-retry` gave the answer on the stream that listens, so that nothing had to be resumed.

    1. The client opens that stream and calls the tool, at the same time and on two connections.
    2. The call comes first; its answer waits for "a GET", which the suite takes to be the resumption.
    3. The listening GET comes, the suite answers there, and the client, having its answer, ends.
    """
    requests = [each["description"] for each in checks if each["id"] == "incoming-request"]
    call = "Received POST request for / (method: tools/call)"
    return call in requests and "Received GET request for /" in requests[requests.index(call) :]
