"""The shape of the house: imports point down, nothing is a circle, nothing is too big.

The drawing is DESIGN's. A floor lists its rooms; a room may import from lower floors and from other rooms
of its own floor as long as no circle comes of it, neither of modules nor of folders. A new module of
`runtime` or a new folder or plain module of `actors` needs a place in the drawing below.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

import pytest

from tests.source_tree import FunctionNode, Module, modules, own_imports

FILE_LINES = 400
FUNCTION_LINES = 45  # without its docstring

# From the top floor to the ground.
DRAWING = (
    {"actors.cli"},
    {"actors.tree", "actors.testing"},
    {"actors.agent"},
    {
        "actors.mcp",
        "actors.journal",
        "actors.memory",
        "actors.sessions",
        "actors.tools",
        "actors.store",
        "actors.workspace",
        "actors.skills",
        "actors.output",
    },
    {"actors.protocol"},
    {"actors.model"},
    {
        "actors.config",
        "actors.config_env",
        "actors.config_names",
        "actors.config_rules",
        "actors.errors",
        "actors.image",
        "actors.store_seam",
        "actors.to_the_end",
        "actors.user_folder",
    },
    {"runtime.testing", "runtime.default"},
    {"runtime.system", "runtime.nursery", "runtime.supervisor", "runtime.shutdown"},
    {
        "runtime.actor",
        "runtime.blocking",
        "runtime.cell",
        "runtime.onloop",
        "runtime.life",
        "runtime.starting",
        "runtime.ending",
        "runtime.belongings",
        "runtime.childspec",
        "runtime.strategy",
        "runtime.ref",
        "runtime.mailbox",
        "runtime.threads",
        "runtime.reply",
        "runtime.delivery",
        "runtime.watching",
    },
    {
        "runtime.host",
        "runtime.loop",
        "runtime.loopwatch",
        "runtime.signals",
        "runtime.deadletters",
        "runtime.clock",
        "runtime.virtual",
        "runtime.exits",
        "runtime.timers",
        "runtime.registry",
        "runtime.events",
        "runtime.waits",
        "runtime.waiting",
        "runtime.errors",
    },
)

FLOOR = {room: len(DRAWING) - number for number, floor in enumerate(DRAWING) for room in floor}

# Imported inside a function because the user may not have installed them (see pyproject.toml, extras).
OPTIONAL = {"keyring", "uvloop", "xllamacpp"}

# Imported inside the one function that needs it, since it takes long and many programs never need it:
# aiohttp, which two of these bring, reads all certificates as it is imported; another brings numpy and SQLite.
LATE = {
    "actors.cli.memory_work",
    "actors.model.aiohttp_sender",
    "actors.mcp.http",
    "importlib.metadata",
}

VAGUE_NAMES = {"utils", "util", "common", "helpers", "helper", "misc", "base", "manager"}


def room_of(module: str) -> str:
    """The room of the drawing a module lies in: the first two parts of its name."""
    return ".".join(module.split(".")[:2])


def circles(graph: Mapping[str, set[str]]) -> list[str]:
    """The nodes on circles, and between two: what remains when all that needs nobody, or nobody needs, is gone."""
    left = {node: {target for target in graph[node] if target in graph} for node in graph}
    while True:
        free = {node for node, targets in left.items() if not targets & left.keys()}
        needed = set().union(*left.values()) if left else set()
        free |= left.keys() - needed
        if not free:
            return sorted(left)
        left = {node: targets - free for node, targets in left.items() if node not in free}


def lines_without_docstring(function: FunctionNode) -> int:
    """How long a function is, its docstring not counted."""
    length = (function.end_lineno or function.lineno) - function.lineno + 1
    first = function.body[0]
    if isinstance(first, ast.Expr) and ast.get_docstring(function) is not None:
        length -= (first.end_lineno or first.lineno) - first.lineno + 1
    return length


def import_graph(pairs: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    """Pairs of importer and target as a graph."""
    graph: dict[str, set[str]] = {}
    for importer, target in pairs:
        if importer != target:
            graph.setdefault(importer, set()).add(target)
            graph.setdefault(target, set())
    return graph


def plain_modules() -> list[Module]:
    """All modules but the two packages' and the folders' `__init__.py`, which only export."""
    return [module for module in modules().values() if not module.is_package]


def test_every_module_has_a_place_in_the_drawing() -> None:
    homeless = {room_of(module.name) for module in plain_modules()} - FLOOR.keys()
    assert not homeless, f"give these a floor in {__name__}.DRAWING: {sorted(homeless)}"


def test_imports_point_down() -> None:
    upward = [
        f"{found.importer} line {found.line} imports {found.target}"
        for found in own_imports()
        if found.importer not in ("runtime", "actors")
        and FLOOR.get(room_of(found.importer), 0) < FLOOR.get(room_of(found.target), 0)
    ]
    assert not upward


def test_the_runtime_knows_nothing_of_agents() -> None:
    upward = [
        f"{found.importer} line {found.line} imports {found.target}"
        for found in own_imports()
        if found.importer.split(".")[0] == "runtime" and found.target.split(".")[0] == "actors"
    ]
    assert not upward


def test_no_module_imports_from_the_root_of_a_package() -> None:
    through_root = [
        f"{found.importer} line {found.line} imports {found.target}"
        for found in own_imports()
        if found.target in ("runtime", "actors")
        and found.importer.split(".")[0] == found.target
        and not modules()[found.importer].is_package
    ]
    assert not through_root


def test_modules_form_no_circle() -> None:
    assert not circles(import_graph((found.importer, found.target) for found in own_imports()))


def test_folders_form_no_circle() -> None:
    pairs = (
        (room_of(found.importer), room_of(found.target))
        for found in own_imports()
        if "." in found.importer and "." in found.target
    )
    assert not circles(import_graph(pairs))


def test_imports_inside_functions_are_of_optional_extras_only() -> None:
    deferred = [
        f"{module.where}:{node.lineno}"
        for module in modules().values()
        for function in module.functions()
        for node in ast.walk(function)
        if (isinstance(node, ast.Import) and not {alias.name for alias in node.names} <= OPTIONAL)
        or (
            isinstance(node, ast.ImportFrom)
            and node.module not in LATE
            and (node.module or "").split(".")[0] not in OPTIONAL
        )
    ]
    assert not deferred


def test_no_import_hides_behind_type_checking() -> None:
    assert not [module.where for module in modules().values() if "TYPE_CHECKING" in module.text]


@pytest.mark.parametrize("module", modules().values(), ids=lambda module: module.where)
def test_file_is_within_its_walls(module: Module) -> None:
    lines = len(module.text.splitlines())
    assert lines <= FILE_LINES
    long = {
        function.name: length
        for function in module.functions()
        if (length := lines_without_docstring(function)) > FUNCTION_LINES
    }
    assert not long, f"functions of more than {FUNCTION_LINES} lines: {long}"


@pytest.mark.parametrize("module", modules().values(), ids=lambda module: module.where)
def test_file_says_what_it_is(module: Module) -> None:
    assert ast.get_docstring(module.tree), (
        "a module begins with what it is, what for, what it promises"
    )
    assert module.path.stem not in VAGUE_NAMES, "name the file after the one noun it holds"


def test_a_circle_is_found() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set()}
    assert circles(graph) == ["b", "c"]
    assert circles({"a": {"b"}, "b": {"c"}, "c": set()}) == []
