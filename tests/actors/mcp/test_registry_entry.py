"""What an entry becomes, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from actors.errors import MCPRegistryError
from actors.mcp.config import HttpServer, McpServerConfig, McpTimeouts, StdioServer
from actors.mcp.registry_entry import read_entry

ENVIRON = {"NAME": "value", "EMPTY": "", "MARKED": "${NAME}", "LINES": "a\nb"}
HTTP = {"type": "http", "url": "https://host.example/mcp"}


def stdio(**fields: Any) -> dict[str, Any]:
    """An entry that would do, with other fields."""
    return {"command": "run", **fields}


@pytest.mark.parametrize(
    ("entry", "server"),
    [
        (stdio(), StdioServer("run")),
        (stdio(type="stdio", disabled=False, args=[], env={}), StdioServer("run")),
        (stdio(args=["-y", "", "a b;$c"]), StdioServer("run", ("-y", "", "a b;$c"))),
        (stdio(description=3, timeout=90, url="x", icons=[None]), StdioServer("run")),
        (stdio(cwd="/srv/${NAME}"), StdioServer("run", cwd="/srv/value")),
        (stdio(args=["${NAME}/${env:NAME}"]), StdioServer("run", ("value/value",))),
        ({"command": "${NAME}"}, StdioServer("${NAME}")),
    ],
)
def test_an_entry_with_a_command_is_a_program(entry: dict[str, Any], server: StdioServer) -> None:
    assert read_entry(entry, ENVIRON) == McpServerConfig(server)


def test_values_of_variables_are_texts_as_python_writes_them() -> None:
    env = {
        "TEXT": "ü ",
        "NUMBER": 8765,
        "LARGE": 10**25,
        "REAL": 1.5,
        "WHOLE": 1000.0,
        "YES": True,
        "NO": False,
        "SET": "<${NAME}>",
        "EMPTY": "${EMPTY}",
        "ONCE": "${MARKED}",
    }
    server = read_entry(stdio(env=env), ENVIRON).server
    assert isinstance(server, StdioServer)
    assert dict(server.env) == {
        "TEXT": "ü ",
        "NUMBER": "8765",
        "LARGE": "1" + "0" * 25,
        "REAL": "1.5",
        "WHOLE": "1000.0",
        "YES": "True",
        "NO": "False",
        "SET": "<value>",
        "EMPTY": "",
        "ONCE": "${NAME}",
    }


def test_equal_entries_are_equal_whatever_their_order() -> None:
    one = read_entry(stdio(env={"A": "1", "B": "2"}), {})
    other = read_entry({"env": {"B": 2, "A": 1}, "command": "run"}, {})
    assert one == other
    assert hash(one) == hash(other)


@pytest.mark.parametrize("kind", ["http", "streamable-http"])
def test_an_entry_with_an_address_is_a_server_over_http(kind: str) -> None:
    headers = {"X-B": "${NAME}", "X-A": 2}
    entry = {"type": kind, "url": "http://[::1]:8080/${NAME}", "headers": headers, "command": 3}
    assert read_entry(entry, ENVIRON) == McpServerConfig(
        HttpServer("http://[::1]:8080/value", (("X-A", "2"), ("X-B", "value")))
    )


def test_what_only_we_know_stands_in_an_object_of_its_own() -> None:
    ours = {
        "call_timeout_s": 900,
        "handshake_timeout_s": 120.5,
        "era": "legacy",
        "retry_sent": "safe",
        "environment": "minimal",
    }
    assert read_entry(stdio(greenroom=ours), {}) == McpServerConfig(
        StdioServer("run", environment="minimal"),
        McpTimeouts(call=900.0, ceiling=900.0, handshake=120.5),
        era="legacy",
        retry_sent="safe",
    )


def test_a_short_time_for_a_call_leaves_its_ceiling() -> None:
    timeouts = read_entry({**HTTP, "greenroom": {"call_timeout_s": 5}}, {}).timeouts
    assert timeouts == McpTimeouts(call=5.0)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("npx", "must be an object .*string"),
        (None, "null"),
        ([], "array"),
        (stdio(disabled="yes"), "disabled must be true or false, .*string"),
        (stdio(disabled=None), "disabled .*null"),
        (stdio(disabled=1), "disabled .*number"),
        (stdio(disabled=True), "is disabled"),
        (stdio(disabled=True, type=3), "is disabled"),
        (stdio(type=3), "type must be a string, .*number"),
        (stdio(type=None), "type .*null"),
        (stdio(type="sse"), "'sse' is not supported.*'stdio', 'http', 'streamable-http'"),
        (stdio(type="HTTP"), "'HTTP' is not supported"),
        ({"type": "sse", "url": "http://x"}, "'sse'"),
        ({}, "command must be a string that is not empty"),
        (stdio(command=""), "command"),
        (stdio(command=["npx"]), "command"),
        (stdio(command="a\0b"), "command has a NUL"),
        ({"url": "http://x"}, "command .*needs the type 'http'"),
        ({"type": 3, "args": 3}, "type"),
        ({"args": 3}, "command"),
        (stdio(args="a b", env=3), r"args must be an array of strings, .*string"),
        (stdio(args=None), "args .*null"),
        (stdio(args=["a", 7]), r"args\[1\] must be a string, .*number"),
        (stdio(args=[{"$keyring": "x"}]), r"args\[0\] .*object"),
        (stdio(args=["${GONE}"]), r"args\[0\] needs the environment variable 'GONE'"),
        (stdio(args=["a\0b"]), r"args\[0\] has a NUL"),
        (stdio(env=[]), "env must be an object, .*array"),
        (stdio(env=None), "env .*null"),
        (stdio(env={"A": [1]}), "env.A must be a string, .*array"),
        (stdio(env={"A": None}), "env.A .*null"),
        (stdio(env={"A": {}}), "env.A .*object"),
        (stdio(env={"A": {"keyring": "x"}}), "env.A .*object"),
        (stdio(env={"": "x"}), "name no variable can have"),
        (stdio(env={"A=B": "x"}), "'A=B'"),
        (stdio(env={"A": "x\0"}), "env.A has a NUL"),
        (stdio(env={"A": "${env:GONE}"}), "env.A needs the environment variable 'GONE'"),
        (stdio(cwd=3), "cwd must be a string"),
        (stdio(cwd="${GONE}"), "cwd needs the environment variable 'GONE'"),
        ({"type": "http"}, "url is missing"),
        ({"type": "http", "command": "x"}, "url is missing"),
        ({**HTTP, "url": 3}, "url must be a string"),
        ({**HTTP, "url": ""}, "url must begin with"),
        ({**HTTP, "url": "ftp://x"}, "url must begin with"),
        ({**HTTP, "url": "http:///mcp"}, "url must .* name a host"),
        ({**HTTP, "url": "http://["}, "url must begin with"),
        ({**HTTP, "url": "http://x:port"}, "url must begin with"),
        ({**HTTP, "url": "http://x/a b"}, "url must begin with"),
        ({**HTTP, "url": "http://x/${LINES}"}, "url must begin with"),
        ({**HTTP, "url": "http://${GONE}"}, "url needs the environment variable 'GONE'"),
        ({**HTTP, "headers": []}, "headers must be an object"),
        ({**HTTP, "headers": {"A": []}}, "headers.A must be a string"),
        ({**HTTP, "headers": {"A B": ""}}, "'A B', a name no header can have"),
        ({**HTTP, "headers": {"": ""}}, "a name no header can have"),
        ({**HTTP, "headers": {"A": "${GONE}"}}, "headers.A needs .* 'GONE'"),
        ({**HTTP, "headers": {"A": "${LINES}"}}, "headers.A has a character"),
        ({**HTTP, "headers": {"A": "ü"}}, "headers.A has a character"),
        ({**HTTP, "greenroom": {"environment": "minimal"}}, "greenroom.environment"),
        (stdio(greenroom=3), "greenroom: expected `object`"),
        (stdio(greenroom={"speed": 1}), "greenroom: .*unknown field `speed`"),
        (stdio(greenroom={"era": "old"}), "`greenroom.era`"),
        (stdio(greenroom={"retry_sent": True}), "`greenroom.retry_sent`"),
        (stdio(greenroom={"call_timeout_s": 0}), "`greenroom.call_timeout_s`"),
        (stdio(greenroom={"call_timeout_s": True}), "`greenroom.call_timeout_s`"),
        (stdio(greenroom={"handshake_timeout_s": "9"}), "`greenroom.handshake_timeout_s`"),
    ],
)
def test_an_entry_that_gives_no_configuration_is_refused(entry: object, message: str) -> None:
    with pytest.raises(MCPRegistryError, match=message):
        read_entry(entry, ENVIRON)


@pytest.mark.parametrize(
    "entry",
    [
        stdio(args=["s3cret\0"]),
        stdio(env={"A": "s3cret\0"}),
        stdio(env={"A": "s3cret ${GONE}"}),
        stdio(env={"A": "pass${s3cret"}),
        stdio(env={"A": "${NAME:-s3cret}"}),
        stdio(env={"A": {"$keyring": "s3cret"}}),
        {**HTTP, "url": "ftp://me:s3cret@host"},
        {**HTTP, "headers": {"A": "s3cret\n"}},
    ],
)
def test_no_message_has_a_value(entry: dict[str, Any]) -> None:
    with pytest.raises(MCPRegistryError) as caught:
        read_entry(entry, ENVIRON)
    assert "s3cret" not in str(caught.value)
