"""The area gaia/vector: one index, and a list of operations on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from actors.errors import InvalidArgument, VectorFileError, VectorNotFound
from actors.store import VectorIndex, VectorOptions
from tests.conformance.outcomes import Outcomes


def run(given: dict[str, Any], tmp_path: Path) -> Outcomes:
    """One case."""
    index = VectorIndex(VectorOptions(**given["options"]))
    return Outcomes({"results": [_tried(index, tmp_path, each) for each in given["ops"]]})


def _tried(index: VectorIndex, tmp_path: Path, operation: list[Any]) -> Any:
    try:
        return _result(index, tmp_path, *operation)
    except (InvalidArgument, VectorFileError, VectorNotFound) as error:
        return error


def _result(index: VectorIndex, tmp_path: Path, name: str, *given: Any) -> Any:
    match name:
        case "add" | "upsert":
            getattr(index, name)(given[0], _numbers(given[1]))
            return "ok"
        case "search":
            return [list(match) for match in index.search(_numbers(given[0]), given[1])]
        case "remove":
            return index.remove(given[0])
        case "contains":
            return given[0] in index
        case "get":
            return index.get(given[0]).tolist()
        case "size":
            return len(index)
        case "dimension" | "ids":
            return getattr(index, name)
        case "clear":
            index.clear()
            return "ok"
    return _with_files(index, tmp_path, name, *given)


def _with_files(index: VectorIndex, tmp_path: Path, name: str, *given: Any) -> Any:
    path = tmp_path / "some" / "index.vec"
    match name:
        case "info":
            options = index.options
            return {
                "dimension": options.dimension,
                "metric": options.metric,
                "model": options.model,
                "normalize": options.normalize,
                "size": len(index),
            }
        case "save_hex":
            index.save(path)
            assert [each.name for each in path.parent.iterdir()] == [path.name]
            return path.read_bytes().hex()
        case "load_hex":
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(bytes.fromhex(given[0]))
            index.load(path)
            return "ok"
        case "load_missing":
            index.load(tmp_path / "missing.vec")
            return "ok"
    raise AssertionError(f"an operation that is not known: {name}")


def _numbers(values: list[Any]) -> list[float]:
    return [float(value) for value in values]
