"""MCP servers that are small real programs: a good one, and one for each way to be a bad one."""
