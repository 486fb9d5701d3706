"""The errors of agents, by who can act.

    AgentError                      root of everything this layer raises
    ├── InvalidArgument             you used it wrongly (also a ValueError)
    │   ├── ConfigError             a setting has a value it cannot have; names the field
    │   └── ToolSchemaError         a tool cannot be described to a model
    ├── ToolExists                  a tool name is taken
    ├── AgentBusy                   the agent runs a turn and the call may not wait
    ├── ModelError                  the model's side failed
    │   ├── ModelUnavailable        nothing answers there, or the answer broke off
    │   ├── ModelTimeout            it did not answer in time
    │   ├── ModelHTTPError          it answered with a status that is no success
    │   ├── ModelReplyError         it answered with something that is no reply
    │   └── ToolCallError           its reply holds a tool call that cannot be read
    ├── LocalModelError             a model file or the local server cannot be had
    ├── McpError                    an MCP server's side failed; names the server
    │   ├── McpConnectionLost       there is no connection; says whether the request had been sent
    │   ├── McpTimeout              the server did not answer in time
    │   ├── McpRefused              the server answered with an error, by its code
    │   ├── McpProtocolError        the server answered with something that is not MCP
    │   └── McpToolGone             the server does not list that tool any more
    ├── DatabaseError               SQLite refused; names its code, the database and the statement
    │   └── StoreInUse              another process, or another store of this one, owns the file; names its pid
    ├── VectorNotFound (KeyError)   an index has no vector of that id
    ├── VectorFileError             a file of vectors cannot be read, written or used here
    ├── EmbeddingMismatch           a collection of memory is of another embedding model
    ├── ExtractionError             a file has no text that can be taken out of it
    ├── SessionError                a session that was kept is not there, or cannot be read
    ├── RunNotFound                 the journal has no such run, or none that can be resumed
    ├── JournalError                an event of a run could not be kept, or cannot be read; the run stops
    ├── MCPRegistryError            a file of MCP servers, or an entry in it, cannot be used
    └── ImageError                  an image file cannot be read

Messages are lower case and say what was expected, what came and what to do.
"""

from __future__ import annotations

from typing import Final

_SHOWN_SQL: Final = 2_000


class AgentError(Exception):
    """Root of every error the `actors` package raises on purpose."""


class InvalidArgument(AgentError, ValueError):
    """A caller passed something that can never work; the message names it."""


class ConfigError(InvalidArgument):
    """A setting has a value it cannot have.

    `field` is the canonical name of the setting.
    """

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"config field {field!r}: {problem}")
        self.field = field


class ToolSchemaError(InvalidArgument):
    """A tool cannot be described to a model; the message names the tool."""


class ToolExists(AgentError):
    """A tool of that name is registered already."""


class AgentBusy(AgentError):
    """The agent runs a turn, and this call may not wait for its end."""


class ModelError(AgentError):
    """The model's side failed; what was asked may be asked again."""


class ModelUnavailable(ModelError):
    """Nothing answers at the address, or the answer broke off half-way."""


class ModelTimeout(ModelError):
    """The model server did not answer, or stopped answering, within its time."""


class ModelHTTPError(ModelError):
    """The model server answered with a status outside 200 to 299.

    `status` is that number; `retry_after_s` the seconds its Retry-After header asks for, if any.
    """

    def __init__(self, message: str, *, status: int, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after_s = retry_after_s


class ModelReplyError(ModelError):
    """The model server answered with something that is no reply (HTML, no choices, an `error` key)."""


class ToolCallError(ModelReplyError):
    """A reply holds a tool call that cannot be read.

    `final` is true where asking again cannot help (its arguments are no JSON object; gaia 2.3).
    """

    def __init__(self, message: str, *, final: bool = False) -> None:
        super().__init__(message)
        self.final = final


class SessionError(AgentError):
    """A session that was kept is not there, or cannot be read; the message names it."""


class RunNotFound(AgentError):
    """The journal has no run of that number, or it is not one that can be resumed."""


class JournalError(AgentError):
    """An event of a run could not be kept, or what was kept cannot be read; the run stops there."""


class LocalModelError(AgentError):
    """A model file or the local model server cannot be had; the message says what to do."""


class ImageError(AgentError):
    """An image file is not there or cannot be read; the message names it."""


class McpError(AgentError):
    """An MCP server's side failed; the message begins with the server's name."""


class McpConnectionLost(McpError):
    """There is no connection to the server: it could not be made, or it has ended.

    `sent` is true if the request had been sent, so that the server may have acted on it.
    """

    def __init__(self, message: str, *, sent: bool = False) -> None:
        super().__init__(message)
        self.sent = sent


class McpTimeout(McpError):
    """The server did not answer a request in time; the request had been sent."""


class McpRefused(McpError):
    """The server answered with a JSON-RPC error: `code`, and `data` if it sent some."""

    def __init__(self, message: str, *, code: int, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


class McpProtocolError(McpError):
    """The server answered with something that is not MCP, or speaks no revision that is spoken here.

    `status` is the HTTP status, where one says more than the message; 0 otherwise.
    """

    def __init__(self, message: str, *, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class McpToolGone(McpError):
    """The server does not list that tool any more; the message says which it lists."""


class MCPRegistryError(AgentError):
    """A file of MCP servers, or an entry in it, cannot be used; the message names file, id and field."""


class DatabaseError(AgentError):
    """SQLite, or the driver below, refused (gaia section 12).

    The message is what was tried and SQLite's text, `[code=N NAME]` if it has a code, and a line each for
    the database and the statement. `code` is SQLite's primary result code and `extended_code` the precise
    one; 0 where the error is not SQLite's.
    """

    def __init__(
        self,
        what: str,
        *,
        code: int = 0,
        extended_code: int = 0,
        code_name: str = "",
        db_path: str = "",
        sql: str = "",
    ) -> None:
        coded = f" [code={code} {code_name}]" if code else ""
        statement = f"\n  statement: {_clipped(sql)}" if sql else ""
        super().__init__(f"{what}{coded}\n  database: {db_path}{statement}")
        self.code = code
        self.extended_code = extended_code
        self.db_path = db_path
        self.sql = sql


class StoreInUse(DatabaseError):
    """A store's file has an owner already; `pid` is its process, 0 if it does not say."""

    def __init__(self, db_path: str, pid: int) -> None:
        owner = f"process {pid}" if pid else "another process"
        super().__init__(
            f"the store is in use by {owner}; use one store in one process at a time",
            db_path=db_path,
        )
        self.pid = pid


class VectorNotFound(AgentError, KeyError):
    """An index has no vector of that id; the message names it."""

    def __str__(self) -> str:
        return str(self.args[0])  # a KeyError shows its repr


class VectorFileError(AgentError):
    """A file of vectors cannot be read, written or used here; the message names the file and why."""


class EmbeddingMismatch(AgentError):
    """A collection of memory is of another embedding model, or of another dimension; the message names both."""


class ExtractionError(AgentError):
    """A file has no text that can be taken out of it; the message names the file and why."""


def _clipped(sql: str) -> str:
    return sql if len(sql) <= _SHOWN_SQL else f"{sql[:_SHOWN_SQL]}..."
