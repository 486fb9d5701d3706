"""Memory of agents: documents in chunks, found by their words and by their meaning."""

from __future__ import annotations

from actors.memory.chunking import Chunk, ChunkOptions, chunk_text
from actors.memory.documents import CollectionStats, MemoryHit
from actors.memory.extraction import extract_text, register_extractor
from actors.memory.fusion import fuse
from actors.memory.memory import Added, Memory, MemoryRef, open_memory
from actors.memory.memory_tools import memory_tools
from actors.model.embeddings import EmbeddingModel

__all__ = [
    "Added",
    "Chunk",
    "ChunkOptions",
    "CollectionStats",
    "EmbeddingModel",
    "Memory",
    "MemoryHit",
    "MemoryRef",
    "chunk_text",
    "extract_text",
    "fuse",
    "memory_tools",
    "open_memory",
    "register_extractor",
]
