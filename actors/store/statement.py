"""`Statement`: one SQL statement, prepared once, with its values and the row it stands at.

    with db.prepare("SELECT id, body FROM notes WHERE score > ?") as statement:
        statement.bind(1, 0.5)
        while statement.step():
            print(statement.column_int(0), statement.column_text(1))

Values are counted from 1 and columns from 0, as SQLite does. A plain `db.query(...)` is shorter and faster;
this is for rows that are too many to hold, and for the exact types of columns.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import apsw

from actors.errors import DatabaseError
from actors.store.connection import Connection, Row

ColumnType = Literal["null", "integer", "real", "text", "blob"]

_TYPES: Final[dict[type, ColumnType]] = {
    type(None): "null",
    int: "integer",
    float: "real",
    str: "text",
    bytes: "blob",
}
_LEAST, _MOST = -(2**63), 2**63 - 1


class Statement:
    """See the module. Made by `Database.prepare`; belongs to one thread at a time.

    Every method raises DatabaseError: for what SQLite refuses, an index that is out of range, a column where
    there is no row, and after `close`.
    """

    def __init__(self, connection: Connection, sql: str) -> None:
        details = connection.details(sql)
        self.sql = sql
        self._connection = connection
        self._names = tuple(name for name, _ in details.description)
        self._values: list[Any] = [None] * details.bindings_count
        self._cursor: apsw.Cursor | None = None
        self._row: Row | None = None
        connection.users.add(self)

    # -- values -----------------------------------------------------------------------------------

    @property
    def parameter_count(self) -> int:
        """How many values it takes."""
        return len(self._values)

    def bind(self, index: int, value: Any) -> None:
        """Set a value: None, bool (as 0 or 1), int of 64 bits, float, str or bytes-like. Not between steps.

        A value that was never set is NULL, and so is a float that is not a number.
        """
        self._check_open()
        if self._cursor is not None:
            raise self._error("its rows are being read; `reset` it before values are set")
        if not 1 <= index <= len(self._values):
            raise self._error(f"value {index} is out of range, it takes {len(self._values)}")
        self._values[index - 1] = self._storable(index, value)

    def bind_all(self, *values: Any) -> None:
        """Set all values, from the first to the last."""
        self._check_open()
        if len(values) != len(self._values):
            raise self._error(f"it takes {len(self._values)} values, not {len(values)}")
        for index, value in enumerate(values, start=1):
            self.bind(index, value)

    def clear_bindings(self) -> None:
        """Make all values NULL."""
        self.bind_all(*[None] * len(self._values))

    def _storable(self, index: int, value: Any) -> Any:
        match value:
            case None | float() | str() | bytes():
                return value
            case int() if _LEAST <= value <= _MOST:
                return int(value)
            case int():
                raise self._error(f"value {index} has more than 64 bits")
            case bytearray() | memoryview():
                return bytes(value)
        raise self._error(
            f"value {index} is of type {type(value).__name__}, expected None, bool, int, float, str or bytes"
        )

    # -- running ----------------------------------------------------------------------------------

    def step(self) -> bool:
        """Go to the next row, the first time to the first; False at the end.

        The step after the end runs it anew.
        """
        self._check_open()
        with (
            self._connection.lock,
            self._connection.mapped("cannot step the statement", self.sql),
        ):
            try:
                if self._cursor is None:
                    self._cursor = self._connection.begin(self.sql, self._values)
                self._row = next(self._cursor, None)
            except BaseException:
                self._stop()
                raise
            if self._row is None:
                self._stop()
        return self._row is not None

    def execute(self) -> None:
        """Run it anew to its end; rows are dropped."""
        self.reset()
        while self.step():
            pass

    def reset(self) -> None:
        """Go back before the first row; values stay."""
        self._check_open()
        with self._connection.lock:
            self._stop()

    def close(self) -> None:
        """End it, so that the database can be closed. May be called again."""
        with self._connection.lock:
            self._stop()
            self._connection.users.discard(self)

    def __enter__(self) -> Statement:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _stop(self) -> None:
        self._row = None
        if self._cursor is not None:
            self._cursor.close(True)
            self._cursor = None

    # -- columns ----------------------------------------------------------------------------------

    @property
    def column_count(self) -> int:
        """How many columns its rows have; 0 if it gives none."""
        return len(self._names)

    def column_name(self, index: int) -> str:
        """The name of a column."""
        self._check_column(index, len(self._names))
        return self._names[index]

    def column(self, index: int) -> Any:
        """What is there: None, int, float, str or bytes."""
        if self._row is None:
            raise self._error("it stands at no row; `step` it first")
        self._check_column(index, len(self._row))
        return self._row[index]

    def column_type(self, index: int) -> ColumnType:
        """How it is stored."""
        return _TYPES[type(self.column(index))]

    def is_null(self, index: int) -> bool:
        """Whether it is NULL."""
        return self.column(index) is None

    def column_int(self, index: int) -> int:
        """As a number of 64 bits, by SQLite's rules: that at the beginning of a text; 0 for NULL."""
        value = self.column(index)
        return value if isinstance(value, int) else int(self._cast(value, "INTEGER") or 0)

    def column_bool(self, index: int) -> bool:
        """Whether `column_int` is not 0."""
        return self.column_int(index) != 0

    def column_double(self, index: int) -> float:
        """As a float, by SQLite's rules; 0.0 for NULL."""
        value = self.column(index)
        return value if isinstance(value, float) else float(self._cast(value, "REAL") or 0.0)

    def column_text(self, index: int) -> str:
        """As text, by SQLite's rules: a blob is read as UTF-8; empty for NULL."""
        value = self.column(index)
        return value if isinstance(value, str) else str(self._cast(value, "TEXT") or "")

    def column_blob(self, index: int) -> bytes:
        """As bytes: those of its text, if it is no blob; empty for NULL."""
        value = self.column(index)
        return value if isinstance(value, bytes) else self.column_text(index).encode()

    def _cast(self, value: Any, kind: str) -> Any:
        """By SQLite itself."""
        return self._connection.query(f"SELECT CAST(? AS {kind})", (value,))[0][0]

    def _check_column(self, index: int, columns: int) -> None:
        if not 0 <= index < columns:
            raise self._error(f"column {index} is out of range, there are {columns} from 0 on")

    def _check_open(self) -> None:
        if self not in self._connection.users:
            raise self._error("it is closed")

    def _error(self, why: str) -> DatabaseError:
        return DatabaseError(
            f"cannot use the statement: {why}", db_path=self._connection.path, sql=self.sql
        )
