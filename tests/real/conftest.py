"""The real model of the tests marked `real`, one server of it per module, and the real MCP servers.

`make test` pulls the model first. Where it is missing the tests fail and say what to do; set
GREENROOM_SKIP_REAL=1 to leave them out on purpose.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator

import pytest

from actors.errors import LocalModelError
from actors.model.catalogue import DEFAULT_MODEL
from actors.model.local_process import LocalServer, LocalServerOptions
from actors.model.model_files import FoundModel, find_model
from tests.mcp_servers import McpServers, find_servers
from tests.real.served import Served

SKIP = "GREENROOM_SKIP_REAL"


@pytest.fixture(scope="session")
def model() -> FoundModel:
    """The default model, pulled."""
    if os.environ.get(SKIP):
        pytest.skip(f"{SKIP} is set")
    try:
        return find_model(DEFAULT_MODEL)
    except LocalModelError as error:
        pytest.fail(f"{error}, or set {SKIP}=1 to leave these tests out", pytrace=False)


@pytest.fixture(scope="session")
def servers() -> McpServers:
    """The installed MCP servers."""
    return find_servers()


@pytest.fixture(scope="module")
def served(model: FoundModel) -> Iterator[Served]:
    """The model, served, and the event loop to talk to it on."""
    options = LocalServerOptions(template=model.traits.template, threads=1)
    server = LocalServer(model.path, options)
    with asyncio.Runner() as runner:
        base_url = runner.run(server.start())
        yield Served(runner, base_url, model)
        runner.run(server.stop())
