"""Pulling a model file from an address, from a real HTTP server."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from actors.errors import InvalidArgument, LocalModelError
from actors.model.model_files import model_file
from actors.model.pull_url import pull_url
from tests.actors.model.tiny_wheels import sha256

MODEL = b"GGUF " + b"x" * 100_000


class _Files(BaseHTTPRequestHandler):
    """/model.gguf, /moved.gguf that leads there, /cut.gguf that breaks off."""

    def do_GET(self) -> None:
        """Answer one request."""
        path = self.path.partition("?")[0]
        if path == "/moved.gguf":
            self.send_response(302)
            self.send_header("Location", "/model.gguf")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        found = path in ("/model.gguf", "/cut.gguf")
        self.send_response(200 if found else 404)
        self.send_header("Content-Length", str(len(MODEL) if found else 0))
        self.end_headers()
        if found:
            self.wfile.write(MODEL[:10] if path == "/cut.gguf" else MODEL)

    def log_message(self, *_: object) -> None:
        """Be silent."""


@pytest.fixture
def address() -> Iterator[str]:
    """The address of the server."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Files) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """An empty cache."""
    return {"GREENROOM_CACHE_DIR": str(tmp_path / "cache")}


@pytest.mark.parametrize("file", ["model.gguf", "moved.gguf", "model.gguf?key=1"])
def test_a_file_with_the_right_hash_is_kept_under_its_name(
    file: str, address: str, environ: dict[str, str]
) -> None:
    path = pull_url(f"{address}/{file}", sha256(MODEL).upper(), environ=environ)
    assert path.name == file.partition("?")[0]
    assert path.read_bytes() == MODEL


def test_a_file_is_kept_under_the_name_that_is_given(address: str, environ: dict[str, str]) -> None:
    path = pull_url(f"{address}/model.gguf", sha256(MODEL), name="mine", environ=environ)
    assert path == model_file("mine", environ)


def test_a_file_with_another_hash_is_thrown_away(address: str, environ: dict[str, str]) -> None:
    with pytest.raises(LocalModelError, match="is not the one expected"):
        pull_url(f"{address}/model.gguf", sha256(b"other"), environ=environ)
    assert not list(model_file("x", environ).parent.glob("*.gguf"))
    assert not list(model_file("x", environ).parent.glob(".*.pull"))


def test_a_name_that_has_another_file_is_refused(address: str, environ: dict[str, str]) -> None:
    pull_url(f"{address}/model.gguf", sha256(MODEL), environ=environ)
    with pytest.raises(LocalModelError, match="another model is named model already"):
        pull_url(f"{address}/model.gguf", sha256(b"other"), environ=environ)


@pytest.mark.parametrize("file", ["cut.gguf", "nothing.gguf"])
def test_a_file_that_does_not_come_whole_leaves_nothing(
    file: str, address: str, environ: dict[str, str]
) -> None:
    with pytest.raises(LocalModelError, match=f"{file}.*check the address"):
        pull_url(f"{address}/{file}", sha256(MODEL), environ=environ)
    assert not list(model_file("x", environ).parent.rglob("download"))


def test_nobody_at_the_address_is_told(environ: dict[str, str]) -> None:
    with pytest.raises(LocalModelError, match="cannot be fetched"):
        pull_url("http://127.0.0.1:9/m.gguf", sha256(MODEL), environ=environ)


@pytest.mark.parametrize(
    ("url", "digest", "name", "problem"),
    [
        ("ftp://x/m.gguf", "0" * 64, "", "begins with http"),
        ("m.gguf", "0" * 64, "", "begins with http"),
        ("http://x/m.gguf", "0" * 63, "", "64 hexadecimal digits"),
        ("http://x/", "0" * 64, "", "a model name of letters"),
        ("http://x/m.gguf", "0" * 64, "../m", "a model name of letters"),
        ("http://x/m.gguf", "0" * 64, "smollm2-135m-instruct", "a model of the catalogue"),
    ],
)
def test_what_can_never_work_is_refused(
    url: str, digest: str, name: str, problem: str, environ: dict[str, str]
) -> None:
    with pytest.raises(InvalidArgument, match=problem):
        pull_url(url, digest, name=name, environ=environ)
