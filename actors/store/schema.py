"""Questions about a database's tables, and the change of them that may be made twice."""

from __future__ import annotations

from actors.errors import DatabaseError
from actors.store.connection import Connection


def quoted(name: str) -> str:
    """An identifier as SQL takes it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def table_exists(connection: Connection, table: str) -> bool:
    """Whether there is a table or view of exactly that name."""
    found = connection.query(
        "SELECT 1 FROM sqlite_schema WHERE type IN ('table', 'view') AND name = ?", (table,)
    )
    return bool(found)


def column_exists(connection: Connection, table: str, column: str) -> bool:
    """Whether a table or view has a column of that name, which SQLite compares without case.

    False if there is no such table.
    """
    found = connection.query(
        "SELECT 1 FROM pragma_table_xinfo(?) WHERE name = ? COLLATE NOCASE", (table, column)
    )
    return bool(found)


def add_column_if_missing(connection: Connection, table: str, definition: str) -> bool:
    """`ALTER TABLE ... ADD COLUMN`, unless the column is there; whether it was added.

    `definition` is a column's name and what follows it, such as "body TEXT NOT NULL DEFAULT ''".

    Raises DatabaseError: there is no such table, no name is given, or SQLite refuses.
    """
    column = _first_name(definition)
    if not column:
        raise DatabaseError(
            f"cannot add a column to table {table!r}: its definition is empty",
            db_path=connection.path,
        )
    if not table_exists(connection, table):
        raise DatabaseError(
            f"cannot add column {column!r}: no such table: {table}", db_path=connection.path
        )
    if column_exists(connection, table, column):
        return False
    connection.script(f"ALTER TABLE {quoted(table)} ADD COLUMN {definition}")
    return True


def _first_name(definition: str) -> str:
    """The name at the beginning, which may be quoted in any way that SQLite knows."""
    text = definition.strip()
    closing = {'"': '"', "`": "`", "[": "]", "'": "'"}.get(text[:1])
    if closing is None:
        return text.split(None, 1)[0] if text else ""
    name, position = "", 1
    while position < len(text):
        letter = text[position]
        if letter == closing and not (
            closing != "]" and text[position + 1 : position + 2] == closing
        ):
            break
        name += letter
        position += 2 if letter == closing else 1
    return name
