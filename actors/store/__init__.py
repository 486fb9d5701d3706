"""What agents remember: SQLite and vectors."""

from __future__ import annotations

from actors.store.damage import StoreFileReplaced
from actors.store.database import Database, Migration, has_fts5, sqlite_version
from actors.store.database_options import DatabaseOptions, Durability
from actors.store.standard_tables import STANDARD_TABLES
from actors.store.statement import ColumnType, Statement
from actors.store.store import Changed, Store, open_store
from actors.store.transaction import Transaction, TransactionMode
from actors.store.vector_index import Metric, VectorIndex, VectorMatch, VectorOptions

__all__ = [
    "Changed",
    "ColumnType",
    "Database",
    "DatabaseOptions",
    "Durability",
    "Metric",
    "Migration",
    "STANDARD_TABLES",
    "Statement",
    "Store",
    "StoreFileReplaced",
    "Transaction",
    "TransactionMode",
    "VectorIndex",
    "VectorMatch",
    "VectorOptions",
    "has_fts5",
    "open_store",
    "sqlite_version",
]
