"""The area gaia/database: real databases, opened one after another, each with its list of operations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from actors.errors import DatabaseError
from actors.store import Database, DatabaseOptions, Migration
from tests.conformance.outcomes import Outcomes


def run(given: dict[str, Any], tmp_path: Path) -> Outcomes:
    """One case."""
    return Outcomes(
        {"connections": [_connection(opening, tmp_path) for opening in given["connections"]]}
    )


def _connection(opening: dict[str, Any], tmp_path: Path) -> Any:
    name = opening["path"]
    path = str(tmp_path / name) if name and name != ":memory:" else name
    if "write_file" in opening:
        Path(path).write_text(opening["write_file"], encoding="utf-8")
    options = {
        "wal_mode" if key == "wal" else key: value
        for key, value in opening.get("options", {}).items()
    }
    try:
        database = Database(path, DatabaseOptions(**options))
    except DatabaseError as error:
        return error
    with database:
        return [_tried(database, operation) for operation in opening["ops"]]


def _tried(database: Database, operation: list[Any]) -> Any:
    try:
        return _result(database, *operation)
    except DatabaseError as error:
        return error


def _result(database: Database, name: str, *given: Any) -> Any:
    match name:
        case "query":
            rows = database.query(given[0], *_values(given))
            return [[_shown(value) for value in row] for row in rows]
        case "run":
            database.run(given[0], *_values(given))
            return "ok"
        case "transaction":
            return _transaction(database, *given)
        case "migrate":
            return _migration(database, given[0])
        case "prepare":
            with database.prepare(given[0]) as statement:
                return {
                    "columns": statement.column_count,
                    "parameters": statement.parameter_count,
                }
        case "column":
            with database.prepare(given[0]) as statement:
                statement.step()
                return _shown(statement.column(given[1]))
        case "add_column":
            return database.add_column_if_missing(*given)
    member = getattr(database, name)
    result = member(*given) if callable(member) else member
    return "ok" if result is None else result


def _transaction(database: Database, operations: list[Any], end: str) -> dict[str, Any]:
    with database.transaction() as transaction:
        inner = [_tried(database, operation) for operation in operations]
        if end != "none":
            getattr(transaction, end)()
    return {"inner": inner}


def _migration(database: Database, steps: list[dict[str, Any]]) -> dict[str, Any]:
    ran: list[str] = []

    def step(given: dict[str, Any]) -> Migration:
        def apply(database: Database) -> None:
            ran.append(f"v{given['version']}")
            for kind, *values in given["steps"]:
                if kind == "sql":
                    database.execute(*values)
                else:
                    database.add_column_if_missing(*values)

        return Migration(given["version"], given["description"], apply)

    try:
        database.migrate([step(given) for given in steps])
    except DatabaseError as error:
        return {"outcome": error, "ran": ran}
    return {"outcome": "ok", "ran": ran}


def _values(given: tuple[Any, ...]) -> list[Any]:
    values = given[1] if len(given) > 1 else []
    return [bytes.fromhex(value["hex"]) if isinstance(value, dict) else value for value in values]


def _shown(value: Any) -> Any:
    return {"hex": value.hex()} if isinstance(value, bytes) else value
