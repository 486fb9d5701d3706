"""What a user may import is listed, sorted and documented, and its types are shipped."""

from __future__ import annotations

import ast
import importlib
import inspect
import tomllib
from typing import Any

import pytest

from tests.source_tree import PACKAGES, ROOT, modules

FOLDERS = [name for name, module in modules().items() if module.is_package]
EXPORTING = [name for name in FOLDERS if name in PACKAGES or "import " in modules()[name].text]


def exports(folder: str) -> list[tuple[str, Any]]:
    """The public names of a folder and what they stand for."""
    package = importlib.import_module(folder)
    return [(name, getattr(package, name)) for name in package.__all__]


def needs_docstring(value: Any) -> bool:
    """Classes and functions of ours; an alias or a constant is documented beside its definition."""
    own = getattr(value, "__module__", "") or ""
    return (inspect.isclass(value) or inspect.isroutine(value)) and own.split(".")[0] in PACKAGES


def own_docstring(value: Any) -> str:
    """A docstring, but not one that a class inherited."""
    return str(
        (vars(value).get("__doc__") if inspect.isclass(value) else value.__doc__) or ""
    ).strip()


@pytest.mark.parametrize("folder", EXPORTING)
def test_all_is_there_sorted_and_true(folder: str) -> None:
    package = importlib.import_module(folder)
    names = getattr(package, "__all__", None)
    assert names, f"{folder} exports nothing: list its public names in __all__"
    assert list(names) == sorted(set(names))
    assert not [name for name in names if not hasattr(package, name)]


@pytest.mark.parametrize("folder", EXPORTING)
def test_public_names_are_documented(folder: str) -> None:
    bare = [
        name
        for name, value in exports(folder)
        if needs_docstring(value) and not own_docstring(value)
    ]
    assert not bare, f"{folder}: say what a type cannot in the docstrings of {bare}"


@pytest.mark.parametrize("folder", EXPORTING)
def test_public_methods_are_documented(folder: str) -> None:
    bare = [
        f"{name}.{method}"
        for name, value in exports(folder)
        if inspect.isclass(value) and needs_docstring(value)
        for method, function in vars(value).items()
        if not method.startswith("_")
        and inspect.isfunction(function)
        and not inspect.getdoc(function)
    ]
    assert not bare


@pytest.mark.parametrize("package", PACKAGES)
def test_every_error_is_explained(package: str) -> None:
    page = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    defined = [
        node.name
        for node in modules()[f"{package}.errors"].tree.body
        if isinstance(node, ast.ClassDef)
    ]
    assert not [name for name in defined if f"`{name}`" not in page]


@pytest.mark.parametrize("package", PACKAGES)
def test_types_are_shipped(package: str) -> None:
    assert (ROOT / package / "py.typed").is_file()


def test_both_packages_are_in_the_wheel() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = settings["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert set(wheel["packages"]) == set(PACKAGES)
    assert "exclude" not in wheel
