"""Statements: values, rows, and the types of columns."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest

from actors.errors import DatabaseError
from actors.store import Database


@pytest.fixture
def db() -> Iterator[Database]:
    """In memory."""
    with Database.in_memory() as database:
        yield database


def test_rows_are_taken_one_by_one_and_again(db: Database) -> None:
    with db.prepare("SELECT value AS v FROM json_each(?)") as statement:
        statement.bind(1, "[1, 2]")
        assert (statement.parameter_count, statement.column_count) == (1, 1)
        assert statement.column_name(0) == "v"
        for _ in range(2):
            assert statement.step()
            assert statement.column_int(0) == 1
            assert statement.step()
            assert not statement.step()
        statement.step()
        statement.reset()
        statement.clear_bindings()
        assert not statement.step()


@pytest.mark.parametrize(
    ("value", "kind", "as_int", "as_double", "as_text", "as_blob"),
    [
        (None, "null", 0, 0.0, "", b""),
        (7, "integer", 7, 7.0, "7", b"7"),
        (-(2**63), "integer", -(2**63), -(2.0**63), str(-(2**63)), str(-(2**63)).encode()),
        (True, "integer", 1, 1.0, "1", b"1"),
        (2.5, "real", 2, 2.5, "2.5", b"2.5"),
        ("12ab", "text", 12, 12.0, "12ab", b"12ab"),
        ("ü\0x", "text", 0, 0.0, "ü\0x", "ü\0x".encode()),
        (b"", "blob", 0, 0.0, "", b""),
        (bytearray(b"3"), "blob", 3, 3.0, "3", b"3"),
        (memoryview(b"3"), "blob", 3, 3.0, "3", b"3"),
        (math.nan, "null", 0, 0.0, "", b""),
        (1e300, "real", 2**63 - 1, 1e300, "1.0e+300", b"1.0e+300"),
    ],
)
def test_a_column_reads_as_any_type(
    db: Database, value: Any, kind: str, as_int: int, as_double: float, as_text: str, as_blob: bytes
) -> None:
    with db.prepare("SELECT ?") as statement:
        statement.bind_all(value)
        assert statement.step()
        assert statement.column_type(0) == kind
        assert statement.is_null(0) == (kind == "null")
        assert statement.column_int(0) == as_int
        assert statement.column_bool(0) == (as_int != 0)
        assert statement.column_double(0) == as_double
        assert statement.column_text(0) == as_text
        assert statement.column_blob(0) == as_blob


def test_values_and_columns_out_of_range_are_told(db: Database) -> None:
    with db.prepare("SELECT ?1, ?3") as statement:
        for index in (0, 4, -1):
            with pytest.raises(DatabaseError, match=f"value {index} is out of range, it takes 3"):
                statement.bind(index, 1)
        with pytest.raises(DatabaseError, match="it takes 3 values, not 2"):
            statement.bind_all(1, 2)
        with pytest.raises(DatabaseError, match="stands at no row"):
            statement.column(0)
        assert statement.step()
        for index in (-1, 2):
            with pytest.raises(DatabaseError, match=f"column {index} is out of range"):
                statement.column(index)
            with pytest.raises(DatabaseError, match=f"column {index} is out of range"):
                statement.column_name(index)
        with pytest.raises(DatabaseError, match="`reset` it"):
            statement.bind(1, 1)


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, object(), [1]])
def test_a_value_that_cannot_be_stored_is_told(db: Database, value: object) -> None:
    with db.prepare("SELECT ?") as statement, pytest.raises(DatabaseError, match="value 1 "):
        statement.bind(1, value)


def test_a_step_that_fails_can_be_tried_again(db: Database) -> None:
    db.execute("CREATE TABLE t (a UNIQUE); INSERT INTO t VALUES (1)")
    with db.prepare("INSERT INTO t VALUES (?)") as statement:
        statement.bind_all(1)
        with pytest.raises(DatabaseError, match="UNIQUE"):
            statement.execute()
        statement.bind_all(2)
        statement.execute()
    assert db.query("SELECT count(*) FROM t") == [(2,)]


def test_the_database_closes_after_its_statements(db: Database) -> None:
    statement = db.prepare("SELECT 1")
    with pytest.raises(DatabaseError, match=r"prepared statements are open \(1\)"):
        db.close()
    statement.close()
    statement.close()
    for call in (statement.step, statement.reset, statement.bind_all):
        with pytest.raises(DatabaseError, match="it is closed"):
            call()


@pytest.mark.parametrize("sql", ["SELEC", "SELECT 1; SELECT 2", "", "SELECT * FROM nosuch"])
def test_what_cannot_be_prepared_is_told(db: Database, sql: str) -> None:
    with pytest.raises(DatabaseError) as caught:
        db.prepare(sql)
    assert caught.value.sql == sql
