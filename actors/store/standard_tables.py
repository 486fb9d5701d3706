"""The tables of greenroom's own store, as migrations. A released step is never changed: add another.

    store = open_store(system, "agents.db", migrations=STANDARD_TABLES)

A store with tables of your own wants a file of its own, since a file has one line of versions.
"""

from __future__ import annotations

from typing import Final

from actors.store.database import Migration

_MEMORY: Final = """
CREATE TABLE store_epoch (value TEXT NOT NULL) STRICT;
INSERT INTO store_epoch VALUES (lower(hex(randomblob(16))));

CREATE TABLE memory_collections (
    name TEXT PRIMARY KEY,
    model TEXT NOT NULL,
    dimension INTEGER NOT NULL
) STRICT;

CREATE TABLE memory_documents (
    id INTEGER PRIMARY KEY,
    collection TEXT NOT NULL REFERENCES memory_collections (name),
    source TEXT NOT NULL,
    added_at INTEGER NOT NULL,
    UNIQUE (collection, source)
) STRICT;

CREATE TABLE memory_chunks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    collection TEXT NOT NULL,
    document INTEGER NOT NULL REFERENCES memory_documents (id) ON DELETE CASCADE,
    start INTEGER NOT NULL,
    text TEXT NOT NULL,
    vector BLOB
) STRICT;
CREATE INDEX memory_chunks_of_document ON memory_chunks (document);
CREATE INDEX memory_chunks_of_collection ON memory_chunks (collection, id);

CREATE TABLE memory_removals (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    collection TEXT NOT NULL,
    chunk INTEGER NOT NULL
) STRICT;

CREATE VIRTUAL TABLE memory_words USING fts5 (
    text, content = 'memory_chunks', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2'
);
CREATE TRIGGER memory_chunk_added AFTER INSERT ON memory_chunks BEGIN
    INSERT INTO memory_words (rowid, text) VALUES (new.id, new.text);
END;
CREATE TRIGGER memory_chunk_removed AFTER DELETE ON memory_chunks BEGIN
    INSERT INTO memory_words (memory_words, rowid, text) VALUES ('delete', old.id, old.text);
    INSERT INTO memory_removals (collection, chunk) VALUES (old.collection, old.id);
END;
"""

_SESSIONS_AND_RUNS: Final = """
CREATE TABLE sessions (
    agent TEXT NOT NULL,
    id TEXT NOT NULL,
    saved_at REAL NOT NULL,
    count INTEGER NOT NULL,
    preview TEXT NOT NULL,
    messages TEXT NOT NULL,
    PRIMARY KEY (agent, id)
) STRICT;

CREATE TABLE runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    version INTEGER NOT NULL,
    agent TEXT NOT NULL,
    session TEXT NOT NULL,
    task TEXT NOT NULL,
    began_at REAL NOT NULL,
    ended_at REAL,
    outcome TEXT
) STRICT;
CREATE INDEX runs_unfinished ON runs (agent, id) WHERE outcome IS NULL;

CREATE TABLE run_events (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    at REAL NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (run, number)
) STRICT;
"""

STANDARD_TABLES: Final = (
    Migration.from_sql(1, "memory of agents", _MEMORY),
    Migration.from_sql(2, "sessions and runs of agents", _SESSIONS_AND_RUNS),
)
"""All steps, the oldest first."""
