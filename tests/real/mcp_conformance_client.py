"""The client that the official MCP conformance suite drives: `python -m tests.real.mcp_conformance_client URL`.

The suite names the scenario in MCP_CONFORMANCE_SCENARIO, and what to call in MCP_CONFORMANCE_CONTEXT where
that is not fixed. Status 0 says that the client did all it should; the suite judges what came over the wire.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from actors.mcp.config import HttpServer, McpServerConfig
from actors.mcp.hooks import McpHooks
from actors.mcp.session import McpSession
from actors.mcp.transports import new_transport

Scenario = Callable[[McpSession], Awaitable[None]]


async def list_only(session: McpSession) -> None:
    """The tools, and nothing more."""
    await session.list_tools()


async def add(session: McpSession) -> None:
    """A call with numbers."""
    await session.list_tools()
    await session.call_tool("add_numbers", {"a": 5, "b": 3})


async def ask_for_defaults(session: McpSession) -> None:
    """A tool that asks for a form."""
    await session.list_tools()
    await session.call_tool("test_client_elicitation_defaults", {})


async def reconnect(session: McpSession) -> None:
    """A reply whose stream ends before it came."""
    await session.list_tools()
    await session.call_tool("test_reconnection", {})


async def give_the_schema_back(session: McpSession) -> None:
    """The schema as it was listed."""
    tools = {tool["name"]: tool for tool in await session.list_tools()}
    schema = tools["json_schema_2020_12_tool"]["inputSchema"]
    await session.call_tool("json_schema_echo", {"schema": schema})


async def keep_states(session: McpSession) -> None:
    """Questions whose state goes back, two of them at once."""
    await session.list_tools()
    await asyncio.gather(
        session.call_tool("test_mrtr_echo_state", {}),
        session.call_tool("test_mrtr_unrelated", {}),
    )
    await session.call_tool("test_mrtr_no_state", {})
    await session.call_tool("test_mrtr_no_result_type", {})


async def send_headers(session: McpSession) -> None:
    """Requests of each kind."""
    await session.list_tools()
    await session.call_tool("test_headers", {})
    await session.call_tool("my-hyphenated-tool", {})
    for resource in await session.list_resources():
        await session.read_resource(resource["uri"])
    await session.list_prompts()
    await session.get_prompt("test_prompt", {})


async def send_parameters(session: McpSession) -> None:
    """The calls the suite wants."""
    await session.list_tools()
    context = msgspec.json.decode(os.environ["MCP_CONFORMANCE_CONTEXT"])
    for call in context["toolCalls"]:
        await session.call_tool(call["name"], call["arguments"])


async def call_what_is_kept(session: McpSession) -> None:
    """All tools whose annotations can be followed."""
    for tool in await session.list_tools():
        await session.call_tool(tool["name"], {"region": "us-west1"})


SCENARIOS: dict[str, Scenario] = {
    "initialize": list_only,
    "tools_call": add,
    "elicitation-sep1034-client-defaults": ask_for_defaults,
    "sse-retry": reconnect,
    "json-schema-2020-12-preservation": give_the_schema_back,
    "json-schema-ref-no-deref": list_only,
    "request-metadata": list_only,
    "sep-2322-client-request-state": keep_states,
    "http-standard-headers": send_headers,
    "http-custom-headers": send_parameters,
    "http-invalid-tool-headers": call_what_is_kept,
}


async def fill_in(params: dict[str, Any]) -> dict[str, Any]:
    """Accept a form, with its defaults, and with yes where it has none."""
    properties = params.get("requestedSchema", {}).get("properties", {})
    content = {name: each.get("default", True) for name, each in properties.items()}
    return {"action": "accept", "content": content}


async def main(url: str) -> None:
    """Play the scenario; those of authorization want no more than a request that needs it."""
    name = os.environ["MCP_CONFORMANCE_SCENARIO"]
    scenario = list_only if name.startswith("auth/") else SCENARIOS[name]
    config = McpServerConfig(HttpServer(url))
    session = McpSession(
        "conformance", config, lambda: new_transport("conformance", config), hooks=McpHooks(fill_in)
    )
    await session.open()
    try:
        await scenario(session)
    finally:
        await session.aclose()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
