"""Looking servers up: precedence, what is kept, what a message tells, many threads at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from actors.errors import InvalidArgument, MCPRegistryError
from actors.mcp.config import McpServerConfig, StdioServer
from actors.mcp.registry import MCPRegistry
from tests.source_tree import ROOT

BAD_ENTRIES = {
    "off": {"command": "x", "disabled": True},
    "text": "npx",
    "bare": {},
    "sse": {"type": "sse", "url": "http://127.0.0.1/sse"},
    "unset": {"command": "x", "env": {"A": "${NEVER_SET}"}},
    "ours": {"command": "x", "greenroom": {"speed": 1}},
}


def write(path: Path, servers: object, key: str = "mcpServers") -> Path:
    """A file of servers, put in the old one's place at once."""
    new = path.with_suffix(".new")
    new.write_text(json.dumps({key: servers}), encoding="utf-8")
    return new.replace(path)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(tmp_path / "mcp_servers.json", {"a": {"command": "x"}, "b": {"command": "y"}})


def test_a_known_server_is_a_configuration_and_an_unknown_one_is_none(path: Path) -> None:
    registry = MCPRegistry([path])
    assert registry.resolve("a") == registry.require("a") == McpServerConfig(StdioServer("x"))
    assert registry.resolve("c") is None


def test_requiring_an_unknown_server_tells_where_was_searched_and_what_there_is(
    path: Path, tmp_path: Path
) -> None:
    absent = tmp_path / "mcp.json"
    with pytest.raises(MCPRegistryError) as caught:
        MCPRegistry([absent, path]).require("c")
    for fragment in ("'c'", str(absent), str(path), "available: a, b"):
        assert fragment in str(caught.value)


def test_requiring_from_files_without_servers_says_that_there_are_none(tmp_path: Path) -> None:
    registry = MCPRegistry([write(tmp_path / "mcp.json", {})])
    assert registry.list_servers() == []
    with pytest.raises(
        MCPRegistryError, match=r"'c' is not configured .*no servers are configured"
    ):
        registry.require("c")


def test_of_many_servers_a_message_names_some_and_counts_the_rest(tmp_path: Path) -> None:
    registry = MCPRegistry([write(tmp_path / "m", {f"s{n:04}": {} for n in range(1000)})])
    assert len(registry.list_servers()) == 1000
    with pytest.raises(MCPRegistryError, match=r"s0049 and 950 more\)"):
        registry.require("c")


def test_ids_are_listed_in_order_whatever_their_script(tmp_path: Path) -> None:
    ids = ["ä", "", "b c", "🎭", "a", "A", "a/b"]
    registry = MCPRegistry([write(tmp_path / "mcp.json", {each: {"command": "x"} for each in ids})])
    assert registry.list_servers() == sorted(ids)
    assert all(registry.resolve(each) == McpServerConfig(StdioServer("x")) for each in ids)


@pytest.mark.parametrize("bad", BAD_ENTRIES)
def test_a_bad_entry_is_refused_by_name_and_hides_no_neighbour(tmp_path: Path, bad: str) -> None:
    path = write(tmp_path / "mcp.json", {**BAD_ENTRIES, "good": {"command": "x"}})
    registry = MCPRegistry([path], environ={})
    assert registry.list_servers() == sorted([*BAD_ENTRIES, "good"])
    assert registry.resolve("good") == McpServerConfig(StdioServer("x"))
    for look_up in (registry.resolve, registry.require):
        with pytest.raises(MCPRegistryError) as caught:
            look_up(bad)
        for fragment in (repr(bad), str(path), "available: bare, good"):
            assert fragment in str(caught.value)


def test_the_later_file_wins_and_messages_name_the_file_of_the_entry(tmp_path: Path) -> None:
    low = write(tmp_path / "low.json", {"both": {"command": "low"}, "low": {"command": ""}})
    high = write(tmp_path / "high.json", {"both": {"command": "high"}, "high": 3}, "servers")
    registry = MCPRegistry([low, high])
    assert registry.require("both").server == StdioServer("high")
    with pytest.raises(MCPRegistryError, match=f"'low' in '{low}': command"):
        registry.require("low")
    with pytest.raises(MCPRegistryError, match=f"'high' in '{high}': must be an object"):
        registry.require("high")


LOOK_UPS: dict[str, Callable[[MCPRegistry], object]] = {
    "list_servers": MCPRegistry.list_servers,
    "resolve": lambda registry: registry.resolve("a"),
    "require": lambda registry: registry.require("a"),
    "is_disabled": lambda registry: registry.is_disabled("a"),
    "entry": lambda registry: registry.entry("a"),
}


@pytest.mark.parametrize("look_up", LOOK_UPS.values(), ids=LOOK_UPS)
def test_one_malformed_file_fails_every_look_up_until_it_is_mended(
    path: Path, tmp_path: Path, look_up: Callable[[MCPRegistry], object]
) -> None:
    broken = tmp_path / "mcp.json"
    broken.write_text('{"mcpServers": {', encoding="utf-8")
    registry = MCPRegistry([broken, path])
    with pytest.raises(MCPRegistryError, match=str(broken)):
        look_up(registry)
    write(broken, {})
    look_up(registry)


@pytest.mark.parametrize("look_up", LOOK_UPS.values(), ids=LOOK_UPS)
def test_without_any_file_every_look_up_names_all_paths(
    tmp_path: Path, look_up: Callable[[MCPRegistry], object]
) -> None:
    paths = [tmp_path / "one.json", tmp_path / "two.json"]
    with pytest.raises(MCPRegistryError, match=f"{paths[0]}, {paths[1]}.*GAIA_CONFIG_DIR"):
        look_up(MCPRegistry(paths))


def test_what_was_read_is_kept_until_reload(path: Path) -> None:
    registry = MCPRegistry([path])
    assert registry.list_servers() == ["a", "b"]
    write(path, {"c": {"command": "z"}})
    assert registry.list_servers() == ["a", "b"]
    registry.reload()
    assert registry.list_servers() == ["c"]


def test_a_variable_is_looked_up_each_time(tmp_path: Path) -> None:
    environ = {"WHO": "one"}
    path = write(tmp_path / "mcp.json", {"a": {"command": "x", "args": ["${WHO}"]}})
    registry = MCPRegistry([path], environ=environ)
    assert registry.require("a").server == StdioServer("x", ("one",))
    environ["WHO"] = "two"
    assert registry.require("a").server == StdioServer("x", ("two",))


def test_is_disabled_is_true_for_what_is_switched_off_only(tmp_path: Path) -> None:
    servers = {**BAD_ENTRIES, "yes": {"command": "x", "disabled": "yes"}, "on": {"command": "x"}}
    registry = MCPRegistry([write(tmp_path / "mcp.json", servers)])
    assert [each for each in registry.list_servers() if registry.is_disabled(each)] == ["off"]
    with pytest.raises(MCPRegistryError, match="'never'"):
        registry.is_disabled("never")


def test_an_entry_is_a_copy_as_it_is_written(tmp_path: Path) -> None:
    written = {"command": "x", "env": {"A": "${B}"}, "icons": [{"a": 10**30}], "disabled": True}
    registry = MCPRegistry([write(tmp_path / "mcp.json", {"a": written, "text": "npx"})])
    copy = registry.entry("a")
    assert copy == written
    copy["icons"].clear()
    assert registry.entry("a") == written
    with pytest.raises(MCPRegistryError, match=r"'text'.*string"):
        registry.entry("text")
    with pytest.raises(MCPRegistryError, match="'never'"):
        registry.entry("never")


def test_the_path_is_that_of_the_winning_file_there_else_the_last(tmp_path: Path) -> None:
    low, high = tmp_path / "low.json", tmp_path / "high.json"
    registry = MCPRegistry([low, high])
    assert (registry.config_exists(), registry.config_path()) == (False, high)
    write(low, {})
    assert (registry.config_exists(), registry.config_path()) == (True, low)
    high.write_text("malformed files exist too", encoding="utf-8")
    assert (registry.config_exists(), registry.config_path()) == (True, high)


@pytest.mark.parametrize("paths", [[], (), "mcp.json"])
def test_an_impossible_list_of_paths_is_a_wrong_argument(paths: list[str]) -> None:
    with pytest.raises(InvalidArgument, match="paths"):
        MCPRegistry(paths)


def test_the_usual_files_are_those_of_the_directory_the_environment_names(tmp_path: Path) -> None:
    write(tmp_path / "mcp.json", {"a": {"command": "low"}, "b": {"command": "x"}})
    write(tmp_path / "mcp_servers.json", {"a": {"command": "high"}})
    registry = MCPRegistry(environ={"GAIA_CONFIG_DIR": str(tmp_path)})
    assert registry.list_servers() == ["a", "b"]
    assert registry.require("a").server == StdioServer("high")
    assert registry.config_path() == tmp_path / "mcp_servers.json"


def test_the_working_directory_is_not_searched(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)
    registry = MCPRegistry(environ={"HOME": str(path.parent / "home")})
    assert not registry.config_exists()
    assert registry.config_path() == path.parent / "home" / ".gaia" / "mcp_servers.json"


def test_nothing_shown_has_a_secret_in_it(tmp_path: Path) -> None:
    servers = {
        "a": {"command": "x", "args": ["--key=${KEY}"], "env": {"A": "${KEY}", "B": "s3cret"}},
        "h": {
            "type": "http",
            "url": "https://me:${KEY}@host.example/mcp?key=${KEY}",
            "headers": {"Authorization": "Bearer ${KEY}"},
        },
    }
    registry = MCPRegistry([write(tmp_path / "mcp.json", servers)], environ={"KEY": "s3cret"})
    shown = f"{registry!r} {registry.require('a')!r} {registry.require('h')!r}"
    assert "s3cret" not in shown
    assert "https://host.example/mcp'" in shown


def test_threads_see_whole_files_while_they_are_replaced_and_reloaded(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    versions = [{f"{name}{n}": {"command": name} for n in range(200)} for name in ("old", "new")]
    write(path, versions[0])
    registry = MCPRegistry([path])
    whole = [sorted(version) for version in versions]
    seen: list[bool] = []

    def look() -> None:
        for _ in range(100):
            listed = registry.list_servers()
            found = [registry.resolve(listed[0]), registry.resolve("never")]
            seen.append(listed in whole and found[1] is None)
            registry.reload()

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for turn in range(100):
        write(path, versions[turn % 2])
        registry.reload()
    for thread in threads:
        thread.join(30)
    assert len(seen) == 400
    assert all(seen)


def test_importing_it_imports_no_keyring_and_reads_nothing() -> None:
    code = (
        "import sys, actors.mcp.registry as r; r.MCPRegistry(); assert 'keyring' not in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT), "GAIA_CONFIG_DIR": "/dev/null"},
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert done.returncode == 0, done.stderr
