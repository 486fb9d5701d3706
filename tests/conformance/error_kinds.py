"""What the cases call the kinds of errors, and the classes that are meant."""

from __future__ import annotations

from actors.errors import AgentError, DatabaseError, InvalidArgument, MCPRegistryError, ModelError

KINDS: dict[str, tuple[type[Exception], ...]] = {
    "invalid_argument": (InvalidArgument, ValueError),
    "runtime_error": (ModelError, AgentError, RuntimeError),
    "mcp_registry_error": (MCPRegistryError,),
    "database_error": (DatabaseError,),
    "out_of_range": (KeyError, IndexError),
}
