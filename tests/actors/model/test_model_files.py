"""Where model files lie and which are found."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from actors.errors import LocalModelError
from actors.model.catalogue import DEFAULT_MODEL, SMOL, ModelTraits, entry_named, traits_of
from actors.model.model_files import (
    cache_dir,
    find_model,
    find_model_or_small,
    model_file,
    pulled_models,
)


def keep(name: str, environ: dict[str, str]) -> Path:
    """Put a file in the place of a pulled model."""
    path = model_file(name, environ)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"GGUF")
    entry = entry_named(name)
    if entry is not None:
        os.truncate(path, entry.size_bytes)  # sparse: it takes no room
    return path


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """An empty cache."""
    return {"GREENROOM_CACHE_DIR": str(tmp_path / "cache")}


def test_the_cache_is_where_its_own_variable_says() -> None:
    environ = {"GREENROOM_CACHE_DIR": "/a/b", "XDG_CACHE_HOME": "/c"}
    assert cache_dir(environ) == Path("/a/b")


def test_the_cache_is_else_in_the_shared_one() -> None:
    assert cache_dir({"XDG_CACHE_HOME": "/c"}) == Path("/c/greenroom")


@pytest.mark.parametrize("environ", [{}, {"XDG_CACHE_HOME": "relative"}, {"XDG_CACHE_HOME": ""}])
def test_the_cache_is_else_at_home(environ: dict[str, str]) -> None:
    assert cache_dir(environ) == Path.home() / ".cache" / "greenroom"


def test_a_home_of_nobody_is_refused_with_what_to_do() -> None:
    with pytest.raises(LocalModelError, match="set GREENROOM_CACHE_DIR"):
        cache_dir({"GREENROOM_CACHE_DIR": "~nobody-of-this-name/models"})


def test_an_empty_cache_has_no_models(environ: dict[str, str]) -> None:
    assert pulled_models(environ) == []


def test_what_is_being_pulled_is_not_there_yet(environ: dict[str, str]) -> None:
    keep("b", environ)
    keep("a", environ)
    keep(".c", environ)
    assert pulled_models(environ) == ["a", "b"]


def test_no_name_finds_the_default_model_and_its_traits(environ: dict[str, str]) -> None:
    path = keep(DEFAULT_MODEL, environ)
    found = find_model("", environ)
    assert (found.path, found.traits) == (path, traits_of(DEFAULT_MODEL))


def test_a_path_finds_any_model_file(tmp_path: Path, environ: dict[str, str]) -> None:
    path = tmp_path / "mine.gguf"
    path.write_bytes(b"GGUF")
    found = find_model(str(path), environ)
    assert (found.name, found.path, found.traits) == ("mine", path, ModelTraits())


def test_a_name_finds_what_was_pulled_from_an_address(environ: dict[str, str]) -> None:
    assert find_model("other", {**environ} | {"x": str(keep("other", environ))}).name == "other"


def test_a_model_that_is_not_there_tells_the_command_that_fetches_it(
    environ: dict[str, str],
) -> None:
    with pytest.raises(LocalModelError, match=f"`greenroom model pull {DEFAULT_MODEL}`"):
        find_model("", environ)


@pytest.mark.parametrize("name", ["gpt-9", "/nowhere/x.gguf", "x.gguf"])
def test_what_is_no_model_is_named(name: str, environ: dict[str, str]) -> None:
    with pytest.raises(LocalModelError, match=name):
        find_model(name, environ)


def test_the_small_model_stands_in_for_the_default_one_and_says_so(environ: dict[str, str]) -> None:
    path = keep(SMOL.name, environ)
    found = find_model_or_small(DEFAULT_MODEL, environ)
    assert found.path == path
    assert "cannot choose tools" in found.remark


def test_the_small_model_stands_in_for_no_other(environ: dict[str, str]) -> None:
    keep(SMOL.name, environ)
    with pytest.raises(LocalModelError, match="1\\.5b"):
        find_model_or_small("qwen2.5-coder-1.5b-instruct", environ)


def test_the_default_model_is_taken_where_it_is_there(environ: dict[str, str]) -> None:
    keep(SMOL.name, environ)
    keep(DEFAULT_MODEL, environ)
    found = find_model_or_small("", environ)
    assert (found.name, found.remark) == (DEFAULT_MODEL, "")


def test_a_file_cut_short_is_damaged_and_the_message_says_what_to_do(
    environ: dict[str, str],
) -> None:
    os.truncate(keep(DEFAULT_MODEL, environ), 100)
    with pytest.raises(LocalModelError, match=r"damaged.*greenroom model pull"):
        find_model("", environ)
