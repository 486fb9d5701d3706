"""The project's own files, as the tests about them read it: modules, imports, checked-in text.

Reading only: nothing here imports the code it looks at, so a broken module is reported by the test that
reads it and not by an import error of all of them.
"""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("runtime", "actors")

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """One source file: its dotted name, path, text and syntax tree."""

    name: str
    path: Path
    text: str
    tree: ast.Module

    @property
    def is_package(self) -> bool:
        """Whether it is an `__init__.py`."""
        return self.path.name == "__init__.py"

    @property
    def where(self) -> str:
        """Its path from the root of the project."""
        return self.path.relative_to(ROOT).as_posix()

    def functions(self) -> Iterator[FunctionNode]:
        """Every function and method, nested ones too."""
        for node in ast.walk(self.tree):
            if isinstance(node, FunctionNode):
                yield node


@dataclass(frozen=True)
class Import:
    """That `importer` names `target`, at `line`; `deferred` if it stands inside a function."""

    importer: str
    target: str
    line: int
    deferred: bool


@cache
def modules() -> dict[str, Module]:
    """All modules of the two packages, by dotted name."""
    found = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            text = path.read_text(encoding="utf-8")
            found[name] = Module(name, path, text, ast.parse(text, filename=str(path)))
    return found


def imports_of(module: Module) -> Iterator[Import]:
    """What a module imports, wherever in the file; `from x import y` counts as x.y if y is a module."""
    deferred = {id(node) for function in module.functions() for node in ast.walk(function)}
    for node in ast.walk(module.tree):
        for target in _targets(module, node):
            yield Import(module.name, target, getattr(node, "lineno", 0), id(node) in deferred)


def _targets(module: Module, node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        source = _absolute(module, node)
        named = [f"{source}.{alias.name}" for alias in node.names]
        yield from sorted({inner if inner in modules() else source for inner in named})


def _absolute(module: Module, node: ast.ImportFrom) -> str:
    if node.level == 0:
        return node.module or ""
    parts = module.name.split(".") if module.is_package else module.name.split(".")[:-1]
    parts = parts[: len(parts) - node.level + 1]
    return ".".join([*parts, node.module] if node.module else parts)


def own_imports() -> Iterator[Import]:
    """Imports of one of our modules by another."""
    for module in modules().values():
        for found in imports_of(module):
            if found.target in modules() and found.target != module.name:
                yield found


@cache
def project_files() -> tuple[Path, ...]:
    """Every file of the project: what git knows or would add, or without git all but what is built."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            check=True,
        )
        names = [name for name in listed.stdout.decode().split("\0") if name]
        return tuple(path for name in sorted(set(names)) if (path := ROOT / name).is_file())
    except (FileNotFoundError, subprocess.CalledProcessError):
        return tuple(
            path for path in sorted(ROOT.rglob("*")) if path.is_file() and not _built(path)
        )


def _built(path: Path) -> bool:
    parts = path.relative_to(ROOT).parts
    return any(part == "__pycache__" or (part.startswith(".") and part != ".ci") for part in parts)
