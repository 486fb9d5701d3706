"""Tools of the user's own, named on the command line as `module:name`.

What the name stands for may be a tool, a plain function with type hints, or a list of these. The module
is looked for in the current directory first, as Python does for a script.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from actors.errors import InvalidArgument
from actors.tools.decorator import tool
from actors.tools.tool import Tool


def current_directory() -> Path:
    """Where the command was started.

    Raises:
        InvalidArgument: that directory was removed meanwhile.
    """
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise InvalidArgument(
            "the current directory is not there any more; go to another one"
        ) from error


@contextmanager
def importing_from(directory: Path) -> Iterator[None]:
    """Within the block `directory` is the first place Python imports from.

    It spans the whole command, because a tool may import when it is called.
    """
    entry = str(directory)
    sys.path.insert(0, entry)
    try:
        yield
    finally:
        if entry in sys.path:  # the user's module may have changed it too
            sys.path.remove(entry)


def load_tools(names: Iterable[str]) -> tuple[Tool, ...]:
    """The tools of all `names`, in order.

    Raises:
        InvalidArgument: a name has no such form, does not exist, cannot be imported or is no tool.
        ToolSchemaError: a function cannot be described to a model.
    """
    return tuple(loaded for name in names for loaded in _load(name))


def _load(name: str) -> list[Tool]:
    module_name, colon, attribute = name.partition(":")
    if not (module_name and colon and attribute):
        raise InvalidArgument(
            f"--tools expects module:name, got {name!r}; for example my_tools:weather"
        )
    found: Any = _import(module_name, name)
    for part in attribute.split("."):
        try:
            found = getattr(found, part)
        except AttributeError as error:
            raise InvalidArgument(
                f"--tools {name}: module {module_name!r} has no {attribute!r}"
            ) from error
        except Exception as error:  # a `__getattr__` of the user's
            raise InvalidArgument(f"--tools {name}: {attribute!r} raised {_said(error)}") from error
    return [
        _as_tool(item, name) for item in (found if isinstance(found, list | tuple) else [found])
    ]


def _import(module_name: str, name: str) -> ModuleType:
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if (
            error.name is not None
            and module_name.split(".", maxsplit=1)[0] == error.name.split(".")[0]
        ):
            raise InvalidArgument(
                f"--tools {name}: there is no module {module_name!r} in {Path.cwd()} or installed"
            ) from error
        raise InvalidArgument(f"--tools {name}: {module_name!r} needs {error.name!r}") from error
    except (
        Exception,
        SystemExit,
    ) as error:  # the user's module may raise anything, or call sys.exit()
        raise InvalidArgument(
            f"--tools {name}: importing {module_name!r} raised {_said(error)}"
        ) from error


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def _as_tool(found: Any, name: str) -> Tool:
    if isinstance(found, Tool):
        return found
    if callable(found) and not isinstance(found, type):
        return tool(found)
    raise InvalidArgument(
        f"--tools {name}: expected a tool, a function or a list of them, got {type(found).__name__}"
    )
