"""Reading a file of servers from a real disk, whatever stands at its path."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from actors.errors import MCPRegistryError
from actors.mcp.registry_file import (
    LIMIT_BYTES,
    config_directory,
    default_paths,
    file_exists,
    read_servers,
)

WHOLE = b'{"mcpServers": {"a": {"command": "x"}}}'
NOBODY = 65534


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "mcp.json"


@pytest.fixture
def open_directory() -> Iterator[Path]:
    """A directory anybody may enter."""
    directory = Path(tempfile.mkdtemp())
    directory.chmod(0o755)
    yield directory
    directory.chmod(0o755)
    shutil.rmtree(directory)


@pytest.fixture
def without_privileges(open_directory: Path) -> Iterator[None]:
    """The test runs as nobody, for permissions do not bind root."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    yield
    os.seteuid(0)


@pytest.mark.parametrize(
    ("environ", "directory"),
    [
        ({"GAIA_CONFIG_DIR": "/etc/gaia", "HOME": "/srv/me"}, "/etc/gaia"),
        ({"GAIA_CONFIG_DIR": "", "HOME": "/srv/me"}, "/srv/me/.gaia"),
        ({"HOME": "/srv/me"}, "/srv/me/.gaia"),
        ({"HOME": ""}, "/tmp/.gaia"),
        ({}, "/tmp/.gaia"),
    ],
)
def test_the_directory_is_the_one_named_else_that_of_home(
    environ: dict[str, str], directory: str
) -> None:
    assert config_directory(environ) == Path(directory)
    assert default_paths(environ) == (
        Path(directory, "mcp.json"),
        Path(directory, "mcp_servers.json"),
    )


@pytest.mark.parametrize(
    "content",
    [
        WHOLE,
        b"\xef\xbb\xbf" + WHOLE,
        b" \r\n\t" + WHOLE + b"\r\n",
        b'{"servers": {"a": {"command": "x"}}}',
        b'{"mcpServers": {"a": {"command": "x"}}, "servers": 3, "version": "1", "inputs": []}',
        b'{"mcpServers": {"b": 1}, "mcpServers": {"a": {"command": "x"}}}',
        b'{"mcpServers": {"a": 1, "a": {"command": "\\u0078"}}}',
    ],
    ids=["plain", "mark", "blanks", "alias", "other keys", "key twice", "id twice"],
)
def test_a_good_file_gives_its_entries(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    assert read_servers(path) == {"a": {"command": "x"}}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "it is empty"),
        (b" \n", "it is empty"),
        (b"\xef\xbb\xbf", "it is empty"),
        (b'{"mcpServers": {"a": ', "truncated"),
        (b'{\n "a": 1\n "b": 2}', "in line 3"),
        (WHOLE + b" junk", "trailing characters in line 1"),
        (WHOLE + b"\n" + WHOLE, "trailing characters in line 2"),
        (b'{"mcpServers": {"a": NaN}}', "invalid character"),
        (b'{"mcpServers": {"a": 1e400}}', "out of range"),
        (b'{"mcpServers": {"a\xff": 1}}', "utf-8"),
        (b'{"mcpServers": {"a": "\xff"}}', "utf-8"),
        ('{"mcpServers": {}}'.encode("utf-16"), "utf-16; save it as utf-8"),
        (b'{"mcpServers": ' + b"[" * 100_000, "recursion"),
        (b"// mine\n{}", "line 1 has a comment"),
        (b"# mine\n{}", "line 1 has a comment"),
        (b'{\n"mcpServers": {} // mine\n}', "line 2 has a comment"),
        (b'{\n"mcpServers": {}, // mine\n}', "line 2 has a comment"),
        (b'{"mcpServers": /* mine */ {}}', "line 1 has a comment"),
        (b'\xef\xbb\xbf{\n\n/* mine */"mcpServers": {}}', "line 3 has a comment"),
        (b'{"mcpServers": {}} // mine', "line 1 has a comment"),
        (b'{"mcpServers": {}}\n#', "line 2 has a comment"),
        (b'{"mcpServers": {},}', "line 1 has a trailing comma"),
        (b'{"mcpServers": {"a": [1,\n2,\n]}}', "trailing comma"),
        (b'{"mcpServers": {"a": http://x"}}', "invalid character in line 1"),
        (b"[]", "array"),
        (b"null", "null"),
        (b"3", "number"),
        (b"true", "boolean"),
        (b'"x"', "string"),
        (b"{}", "'mcpservers'"),
        (b'{"mcpservers": {}}', "'mcpservers'"),
        (b'{"mcpServers": []}', "'mcpservers' must be an object of servers by their ids"),
        (b'{"mcpServers": null, "servers": {}}', "'mcpservers' must be"),
        (b'{"servers": "x"}', "'servers' must be"),
    ],
    ids=lambda value: repr(value[:40]) if isinstance(value, bytes) else "",
)
def test_a_bad_file_is_refused_with_its_name_and_the_reason(
    path: Path, content: bytes, reason: str
) -> None:
    path.write_bytes(content)
    with pytest.raises(MCPRegistryError) as caught:
        read_servers(path)
    assert str(path) in str(caught.value)
    assert reason in str(caught.value).lower()


def test_no_file_is_none(path: Path) -> None:
    assert read_servers(path) is None
    assert read_servers(path / "beyond") is None
    path.write_bytes(WHOLE)
    assert read_servers(path / "beneath a file") is None


def test_a_link_is_followed_and_one_that_leads_nowhere_is_no_file(
    path: Path, tmp_path: Path
) -> None:
    path.symlink_to(tmp_path / "elsewhere.json")
    assert not file_exists(path)
    assert read_servers(path) is None
    (tmp_path / "elsewhere.json").write_bytes(WHOLE)
    assert file_exists(path)
    assert read_servers(path) == {"a": {"command": "x"}}


def link_to_itself(path: Path) -> None:
    """A link nobody can follow."""
    path.symlink_to(path)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (Path.mkdir, "is a directory"),
        (os.mkfifo, "no regular file"),
        (lambda path: path.symlink_to("/dev/zero"), "no regular file"),
        (link_to_itself, "cannot be read"),
        (lambda path: path.write_bytes(b" " * (LIMIT_BYTES + 1)), "larger than"),
    ],
    ids=["directory", "pipe", "device", "circle", "huge"],
)
def test_what_is_no_file_of_servers_is_refused_and_never_waited_for(
    path: Path, make: Callable[[Path], object], reason: str
) -> None:
    make(path)
    with pytest.raises(MCPRegistryError, match=reason) as caught:
        read_servers(path)
    assert str(path) in str(caught.value)


def test_a_path_that_can_be_none_is_refused() -> None:
    for impossible in (Path("a\0b"), Path("x" * 300)):
        with pytest.raises(MCPRegistryError, match="cannot be read"):
            read_servers(impossible)
        with pytest.raises(MCPRegistryError, match="cannot be read"):
            file_exists(impossible)


def test_the_largest_file_is_read(path: Path) -> None:
    path.write_bytes(WHOLE.ljust(LIMIT_BYTES))
    assert read_servers(path) == {"a": {"command": "x"}}


def test_a_file_that_may_not_be_read_is_an_error(
    open_directory: Path, request: pytest.FixtureRequest
) -> None:
    path = open_directory / "mcp.json"
    path.write_bytes(WHOLE)
    path.chmod(0o000)
    request.getfixturevalue("without_privileges")
    assert file_exists(path)
    with pytest.raises(MCPRegistryError, match=r"cannot be read: Permission denied"):
        read_servers(path)


def test_a_directory_that_may_not_be_entered_is_an_error_and_not_an_absence(
    open_directory: Path, request: pytest.FixtureRequest
) -> None:
    path = open_directory / "mcp.json"
    path.write_bytes(WHOLE)
    open_directory.chmod(0o000)
    request.getfixturevalue("without_privileges")
    for look in (file_exists, read_servers):
        with pytest.raises(MCPRegistryError, match=r"cannot be read: Permission denied"):
            look(path)
