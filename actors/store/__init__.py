"""What agents remember: SQLite and vectors."""

from __future__ import annotations

from actors.store.database import Database, Migration, has_fts5, sqlite_version
from actors.store.database_options import DatabaseOptions, Durability
from actors.store.statement import ColumnType, Statement
from actors.store.transaction import Transaction, TransactionMode

__all__ = [
    "ColumnType",
    "Database",
    "DatabaseOptions",
    "Durability",
    "Migration",
    "Statement",
    "Transaction",
    "TransactionMode",
    "has_fts5",
    "sqlite_version",
]
