"""What SQLite and its driver raise, as `DatabaseError`: the one rim that apsw's errors cross."""

from __future__ import annotations

from typing import Final

import apsw

from actors.errors import DatabaseError

# Beside SQLite's own: values it cannot hold, text that is no UTF-8, a value of no known type.
SQLITE_RAISES: Final = (apsw.Error, OverflowError, TypeError, ValueError)
"""What a call of apsw may raise for a statement or its values."""

_PRIMARY: Final = 0xFF


def database_error(what: str, error: BaseException, path: str, sql: str = "") -> DatabaseError:
    """The error for `error`; `what` says what was tried."""
    extended = getattr(error, "extendedresult", 0)
    code = getattr(error, "result", 0) & _PRIMARY
    name = str(apsw.mapping_result_codes[code]) if code else ""
    return DatabaseError(
        f"{what}: {str(error) or type(error).__name__}",
        code=code,
        extended_code=extended,
        code_name=name,
        db_path=path,
        sql=sql,
    )
