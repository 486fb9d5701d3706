"""Connections to MCP servers, and the other side: our tools and agents as an MCP server."""
