"""An entry of a file of MCP servers, checked and made a configuration (gaia 8).

Functions from decoded JSON and an environment to a value. What they raise begins with the field and says
what is wrong with it; who knows the file and the id puts them in front. No message has the value of an
argument, a variable, a header or an address: each may be a secret.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from actors.errors import MCPRegistryError
from actors.mcp.config import (
    EraSetting,
    HttpServer,
    McpServerConfig,
    McpTimeouts,
    RetrySent,
    StdioServer,
    pairs,
)
from actors.mcp.keyring_values import keyring_value
from actors.mcp.placeholders import expand
from actors.mcp.registry_file import kind_of

Environ = Mapping[str, str]

_TYPES = ("stdio", "http", "streamable-http")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110, 5.6.2
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e]*")
_Seconds = Annotated[float, Meta(gt=0)]


class _Ours(Struct, frozen=True, forbid_unknown_fields=True):
    """The object `greenroom` of an entry: what no other program's file has a name for."""

    call_timeout_s: _Seconds | None = None
    handshake_timeout_s: _Seconds | None = None
    era: EraSetting = "auto"
    retry_sent: RetrySent = "always"
    environment: Literal["inherit", "minimal"] | None = None


def is_switched_off(entry: object) -> bool:
    """Whether it has `disabled: true`. Anything else there is for `read_entry` to refuse."""
    return isinstance(entry, dict) and entry.get("disabled") is True


def read_entry(entry: object, environ: Environ) -> McpServerConfig:
    """The configuration an entry stands for; fields that are not known here are passed over.

    Raises:
        MCPRegistryError: it is disabled, or there is no starting or reaching a server by it.
    """
    if not isinstance(entry, dict):
        raise MCPRegistryError(
            f"must be an object with a 'command', but is of type {kind_of(entry)}"
        )
    _require_enabled(entry)
    kind, ours = _type(entry), _ours(entry)
    if kind == "stdio":
        server: StdioServer | HttpServer = _stdio_server(entry, environ, ours)
    elif ours.environment is None:
        server = _http_server(entry, environ)
    else:
        raise MCPRegistryError("greenroom.environment is for servers of type 'stdio' only")
    return McpServerConfig(server, _timeouts(ours), era=ours.era, retry_sent=ours.retry_sent)


def _require_enabled(entry: dict[str, Any]) -> None:
    disabled = entry.get("disabled", False)
    if not isinstance(disabled, bool):
        raise MCPRegistryError(
            f"disabled must be true or false, but is of type {kind_of(disabled)}"
        )
    if disabled:
        raise MCPRegistryError("is disabled; set its 'disabled' to false to use it")


def _type(entry: dict[str, Any]) -> str:
    kind = entry.get("type", "stdio")
    if not isinstance(kind, str):
        raise MCPRegistryError(f"type must be a string, but is of type {kind_of(kind)}")
    if kind not in _TYPES:
        raise MCPRegistryError(
            f"type {kind!r} is not supported; expected one of {', '.join(map(repr, _TYPES))}"
        )
    return kind


def _stdio_server(entry: dict[str, Any], environ: Environ, ours: _Ours) -> StdioServer:
    command = entry.get("command")
    if not isinstance(command, str) or not command:
        hint = "; a server with a 'url' needs the type 'http'" if "url" in entry else ""
        raise MCPRegistryError(f"command must be a string that is not empty{hint}")
    _refuse_nul("command", command)
    return StdioServer(
        command,
        _args(entry, environ),
        pairs(_env(entry, environ)),
        ours.environment or "inherit",
        _cwd(entry, environ),
    )


def _args(entry: dict[str, Any], environ: Environ) -> tuple[str, ...]:
    args = entry.get("args", [])
    if not isinstance(args, list):
        raise MCPRegistryError(f"args must be an array of strings, but is of type {kind_of(args)}")
    return tuple(_text(f"args[{index}]", arg, environ) for index, arg in enumerate(args))


def _env(entry: dict[str, Any], environ: Environ) -> dict[str, str]:
    env = _object(entry, "env")
    for name in env:
        if not name or "=" in name or "\0" in name:
            raise MCPRegistryError(f"env has a variable {name!r}, a name no variable can have")
    return {name: _value(f"env.{name}", value, environ) for name, value in env.items()}


def _cwd(entry: dict[str, Any], environ: Environ) -> str:
    return _text("cwd", entry.get("cwd", ""), environ)


def _http_server(entry: dict[str, Any], environ: Environ) -> HttpServer:
    if "url" not in entry:
        raise MCPRegistryError("url is missing; a server of type 'http' needs one")
    url = _text("url", entry["url"], environ)
    if not _is_http(url):
        raise MCPRegistryError("url must begin with 'http://' or 'https://' and name a host")
    return HttpServer(url, pairs(_headers(entry, environ)))


def _is_http(url: str) -> bool:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:  # brackets that do not match, a port that is no number
        return False
    plain = url.isprintable() and " " not in url
    return plain and parts.scheme in ("http", "https") and bool(parts.hostname)


def _headers(entry: dict[str, Any], environ: Environ) -> dict[str, str]:
    headers = _object(entry, "headers")
    for name in headers:
        if not _HEADER_NAME.fullmatch(name):
            raise MCPRegistryError(f"headers has a header {name!r}, a name no header can have")
    values = {name: _value(f"headers.{name}", value, environ) for name, value in headers.items()}
    for name, value in values.items():
        if not _HEADER_VALUE.fullmatch(value):
            raise MCPRegistryError(f"headers.{name} has a character that is not printable ASCII")
    return values


def _object(entry: dict[str, Any], field: str) -> dict[str, Any]:
    value = entry.get(field, {})
    if not isinstance(value, dict):
        raise MCPRegistryError(f"{field} must be an object, but is of type {kind_of(value)}")
    return value


def _value(field: str, value: object, environ: Environ) -> str:
    """A variable's or a header's value: numbers and booleans as Python writes them (gaia 8)."""
    match value:
        case int() | float():
            return str(value)
        case {"$keyring": reference, **rest}:
            if rest:
                raise MCPRegistryError(
                    f"{field} has more beside its '$keyring': {', '.join(map(repr, rest))}"
                )
            return _refuse_nul(field, _named(field, keyring_value, reference))
    return _text(field, value, environ)


def _text(field: str, value: object, environ: Environ) -> str:
    if not isinstance(value, str):
        raise MCPRegistryError(f"{field} must be a string, but is of type {kind_of(value)}")
    return _refuse_nul(field, _named(field, expand, value, environ))


def _named(field: str, make: Callable[..., str], *args: object) -> str:
    """What `make` gives; what it raises gets the field's name in front."""
    try:
        return make(*args)
    except MCPRegistryError as error:
        raise MCPRegistryError(f"{field} {error}") from error.__cause__


def _refuse_nul(field: str, text: str) -> str:
    if "\0" in text:
        raise MCPRegistryError(f"{field} has a NUL character, which cannot be passed on")
    return text


def _ours(entry: dict[str, Any]) -> _Ours:
    try:
        return msgspec.convert(entry.get("greenroom", {}), _Ours)
    except msgspec.ValidationError as error:
        text = str(error).replace("`$", "`greenroom")
        raise MCPRegistryError(f"greenroom: {text[:1].lower()}{text[1:]}") from error


def _timeouts(ours: _Ours) -> McpTimeouts:
    """The defaults with what is set; a call's ceiling is never below the time of one answer."""
    usual = McpTimeouts()
    call = ours.call_timeout_s or usual.call
    return replace(
        usual,
        call=call,
        ceiling=max(usual.ceiling, call),
        handshake=ours.handshake_timeout_s or usual.handshake,
    )
