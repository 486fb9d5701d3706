"""From the options of a command to the plan of its agent."""

from __future__ import annotations

import argparse
from typing import TextIO

from msgspec import structs

from actors.cli.demo_tools import DEMO_TOOLS
from actors.cli.mcp_target import servers_of
from actors.cli.options import approver_from, config_from, handler_from, text_from
from actors.cli.session import SessionPlan
from actors.cli.tool_loading import load_tools
from actors.model.local_process import require_model
from actors.model.model_files import find_model_or_small


def plan_from(
    args: argparse.Namespace,
    out: TextIO,
    *,
    shows_query: bool = True,
    requires_servers: bool = True,
) -> SessionPlan:
    """The plan; without `--tools` and MCP servers the agent has the demonstration tools.

    Turns are shown on `out`. `requires_servers`: see `SessionPlan`.

    Raises:
        InvalidArgument: a setting or a tool is wrong.
        MCPRegistryError: an MCP server is not configured, or its entry cannot be used.
        LocalModelError: the local model, or what serves it, is not on this machine; said before
            anything is started.
    """
    handler = handler_from(args, out, shows_query=shows_query)
    config = config_from(args)
    servers = servers_of(args)
    if config.provider == "local":
        found = find_model_or_small(args.model or "")
        require_model(found.path)
        config = structs.replace(config, model=found.name if found.remark else config.model)
        if found.remark:
            handler.print_warning(found.remark)
    return SessionPlan(
        config=config,
        output=handler,
        tools=load_tools(args.tools) if args.tools else () if servers else DEMO_TOOLS,
        system_prompt=text_from(args.system or ""),
        approver=approver_from(args, handler),
        servers=servers,
        requires_servers=requires_servers,
    )
