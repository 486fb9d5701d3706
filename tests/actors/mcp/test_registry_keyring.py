"""Secrets in the keyring: the real library, with a keyring in memory instead of the user's."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends.fail import Keyring as NoKeyring
from keyring.errors import KeyringLocked

from actors.errors import MCPRegistryError
from actors.mcp.config import HttpServer, StdioServer
from actors.mcp.registry import MCPRegistry

SERVICE = "gaia.connections"
TOKEN = {"$keyring": f"{SERVICE}:mcp-github:GITHUB_TOKEN"}


class MemoryKeyring(KeyringBackend):
    """Passwords by service and user; with an `error`, that is all it gives."""

    priority = -1  # never chosen by the library itself

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # the library has no types there
        self.passwords: dict[tuple[str, str], str] = {}
        self.asked: list[tuple[str, str]] = []
        self.error: Exception | None = None

    def get_password(self, service: str, username: str) -> str | None:
        """What is kept, noting that it was asked for."""
        self.asked.append((service, username))
        if self.error is not None:
            raise self.error
        return self.passwords.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        """Keep one."""
        self.passwords[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        """Forget one."""
        del self.passwords[service, username]


@pytest.fixture
def memory() -> Iterator[MemoryKeyring]:
    usual, memory = keyring.get_keyring(), MemoryKeyring()
    keyring.set_keyring(memory)
    yield memory
    keyring.set_keyring(usual)


def registry_of(tmp_path: Path, **fields: object) -> MCPRegistry:
    """A registry with one server."""
    path = tmp_path / "mcp_servers.json"
    servers = {"mcp-github": {"command": "run", **fields}}
    path.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    return MCPRegistry([path], environ={})


def test_a_reference_becomes_the_secret_as_it_is_kept(
    tmp_path: Path, memory: MemoryKeyring
) -> None:
    keyring.set_password(SERVICE, "mcp-github:GITHUB_TOKEN", "s3cret ${HOME}")
    registry = registry_of(tmp_path, env={"GITHUB_TOKEN": TOKEN})
    server = registry.require("mcp-github").server
    assert server == StdioServer("run", env=(("GITHUB_TOKEN", "s3cret ${HOME}"),))
    assert "s3cret" not in repr(server)


def test_a_header_may_have_a_reference_too(tmp_path: Path, memory: MemoryKeyring) -> None:
    keyring.set_password(SERVICE, "mcp-github:GITHUB_TOKEN", "Bearer s3cret")
    registry = registry_of(tmp_path, type="http", url="http://x", headers={"Authorization": TOKEN})
    headers = (("Authorization", "Bearer s3cret"),)
    assert registry.require("mcp-github").server == HttpServer("http://x", headers)


def test_the_keyring_is_asked_at_each_look_up_and_for_nothing_else(
    tmp_path: Path, memory: MemoryKeyring
) -> None:
    registry = registry_of(tmp_path, env={"GITHUB_TOKEN": TOKEN})
    registry.list_servers()
    registry.is_disabled("mcp-github")
    assert registry.entry("mcp-github")["env"] == {"GITHUB_TOKEN": TOKEN}
    assert memory.asked == []
    for secret in ("one", "two"):
        keyring.set_password(SERVICE, "mcp-github:GITHUB_TOKEN", secret)
        assert registry.require("mcp-github").server == StdioServer(
            "run", env=(("GITHUB_TOKEN", secret),)
        )


def test_a_missing_secret_is_an_error_that_names_service_and_user(
    tmp_path: Path, memory: MemoryKeyring
) -> None:
    with pytest.raises(MCPRegistryError) as caught:
        registry_of(tmp_path, env={"GITHUB_TOKEN": TOKEN}).resolve("mcp-github")
    for fragment in ("'mcp-github'", "env.GITHUB_TOKEN", SERVICE, "'mcp-github:GITHUB_TOKEN'"):
        assert fragment in str(caught.value)


@pytest.mark.parametrize(
    "error", [KeyringLocked("locked"), OSError("no bus"), RuntimeError("x"), KeyError("y")]
)
def test_whatever_a_keyring_raises_is_an_error_of_the_registry(
    tmp_path: Path, memory: MemoryKeyring, error: Exception
) -> None:
    memory.error = error
    with pytest.raises(
        MCPRegistryError, match=rf"env\.A is kept .*{type(error).__name__}"
    ) as caught:
        registry_of(tmp_path, env={"A": TOKEN}).require("mcp-github")
    assert caught.value.__cause__ is error


def test_a_machine_without_a_keyring_is_told_so(tmp_path: Path, memory: MemoryKeyring) -> None:
    keyring.set_keyring(NoKeyring())  # type: ignore[no-untyped-call]
    with pytest.raises(MCPRegistryError, match="NoKeyringError"):
        registry_of(tmp_path, env={"A": TOKEN}).require("mcp-github")


def test_without_the_library_the_extra_is_advised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    registry = registry_of(tmp_path, env={"A": TOKEN})
    assert registry.list_servers() == ["mcp-github"]
    with pytest.raises(MCPRegistryError, match=r"env\.A is kept .*greenroom\[keyring\]"):
        registry.require("mcp-github")


@pytest.mark.parametrize(
    "reference",
    [
        "",
        "gaia.connections",
        "gaia.connections:",
        ":user",
        "other:user",
        "gaia.connections.x:user",
        3,
        None,
        {"service": SERVICE, "user": "x"},
    ],
)
def test_a_reference_of_another_shape_or_service_is_refused_unasked(
    tmp_path: Path, memory: MemoryKeyring, reference: object
) -> None:
    registry = registry_of(tmp_path, env={"A": {"$keyring": reference}})
    with pytest.raises(MCPRegistryError, match=r"env\.A has a \$keyring reference that is not"):
        registry.require("mcp-github")
    assert memory.asked == []


def test_a_reference_with_more_beside_it_is_refused(tmp_path: Path, memory: MemoryKeyring) -> None:
    registry = registry_of(tmp_path, env={"A": {**TOKEN, "default": "x"}})
    with pytest.raises(
        MCPRegistryError, match=r"env\.A has more beside its '\$keyring': 'default'"
    ):
        registry.require("mcp-github")


def test_a_secret_that_cannot_be_passed_on_is_not_shown(
    tmp_path: Path, memory: MemoryKeyring
) -> None:
    keyring.set_password(SERVICE, "mcp-github:GITHUB_TOKEN", "s3cret\0")
    with pytest.raises(MCPRegistryError, match=r"env\.A has a NUL") as caught:
        registry_of(tmp_path, env={"A": TOKEN}).require("mcp-github")
    assert "s3cret" not in str(caught.value)
