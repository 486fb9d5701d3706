"""How an MCP server is reached and how long it may take: plain data, equal configurations share a connection.

Where a value has no rule in the seed (gaia 7) or in MCP, its default is what keeps a healthy server working
and a sick one from holding an agent up for long.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

Pairs = tuple[tuple[str, str], ...]
"""Names and values in order; a mapping that can be compared and hashed."""

EraSetting = Literal["auto", "legacy", "modern"]
"""How to speak: `auto` asks the server, `legacy` initializes (up to 2025-11-25), `modern` is 2026-07-28."""

RetrySent = Literal["always", "safe", "never"]
"""Whether a call whose request had been sent, and whose connection was lost, is made once more.

* `always` (the seed's rule): yes. A tool that is not idempotent may run twice.
* `safe`: only for tools with `readOnlyHint` or `idempotentHint`; for the others the outcome is unknown.
* `never`: no. A lost connection is an error result, whatever the tool.

A request that had not been sent is made once more in any case.
"""


class StdioServer(Struct, frozen=True):
    """A server that is a program of this machine, spoken to on its standard streams.

    * `command`, `args`: executed directly, never by a shell; `command` is looked for on the PATH the
      program gets.
    * `env`: variables besides those of `environment`, replacing them.
    * `environment`: `inherit` gives the program the environment of this process; `minimal` only what
      programs need to run at all (PATH, HOME, USER, LOGNAME, SHELL, TERM, LANG, LC_*, TZ, TMPDIR).
    * `cwd`: its working directory; empty: this process's.
    """

    command: str
    args: tuple[str, ...] = ()
    env: Pairs = ()
    environment: Literal["inherit", "minimal"] = "inherit"
    cwd: str = ""

    def __repr__(self) -> str:
        """Without the arguments and the environment's values, which may be secrets."""
        names = ", ".join(name for name, _ in self.env)
        return f"StdioServer({self.command!r}, {len(self.args)} args, env of {names or 'nothing'})"


class HttpServer(Struct, frozen=True):
    """A server at an address, spoken to over Streamable HTTP.

    `headers` go with every request; `bearer_token`, if not empty, as `Authorization: Bearer ...`.
    """

    url: str
    headers: Pairs = ()
    bearer_token: str = ""

    def __repr__(self) -> str:
        """Without the headers' values, the token, and what the address may have of a user and a query."""
        head, _, rest = self.url.partition("://")
        authority, slash, path = rest.partition("?")[0].partition("/")
        url = f"{head}://{authority.rpartition('@')[2]}{slash}{path}"
        return f"HttpServer({url!r}, headers {[name for name, _ in self.headers]!r})"


class McpTimeouts(Struct, frozen=True):
    """Seconds.

    * `probe`: an answer to the question whether a server is modern; a silent one is taken for legacy.
      Asked once for each configuration.
    * `handshake`: from the start of a connection until its tools are listed.
    * `call`: a call without an answer or progress; progress begins it anew (the seed has 30).
    * `ceiling`: a call with all its progress.
    * `idle`: silence of a server after which it is asked for a sign of life, also between calls.
    * `ping`: the answer to that; a server that gives none is taken for dead and replaced.
    * `shutdown`: each of the three steps of a program's end: after its input is closed, after SIGTERM,
      after SIGKILL. Over HTTP: the request that ends the session.
    """

    probe: float = 3.0
    handshake: float = 30.0
    call: float = 30.0
    ceiling: float = 600.0
    idle: float = 60.0
    ping: float = 5.0
    shutdown: float = 2.0


class McpServerConfig(Struct, frozen=True):
    """A server and how to deal with it.

    `roots` are directories, as `file://` URIs, that are told to a server that asks for them.
    """

    server: StdioServer | HttpServer
    timeouts: McpTimeouts = McpTimeouts()
    era: EraSetting = "auto"
    retry_sent: RetrySent = "always"
    roots: tuple[str, ...] = ()


def pairs(mapping: Mapping[str, str]) -> Pairs:
    """A mapping as `Pairs`, in the order of its names."""
    return tuple(sorted(mapping.items()))
