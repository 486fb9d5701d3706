"""Small MCP servers over real sockets that behave as a test wants, and the transport that speaks to them."""
