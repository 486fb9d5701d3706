"""Memory of agents: documents in chunks, found by their words and by their meaning."""

from __future__ import annotations

from actors.memory.chunking import Chunk, ChunkOptions, chunk_text
from actors.memory.extraction import extract_text, register_extractor
from actors.memory.fusion import fuse

__all__ = [
    "Chunk",
    "ChunkOptions",
    "chunk_text",
    "extract_text",
    "fuse",
    "register_extractor",
]
