"""The tools with which an agent keeps and finds what it must remember: `memory_store` and `memory_search`."""

from __future__ import annotations

from typing import Any, Final

from actors.memory.memory import COLLECTION, MemoryRef
from actors.tools.decorator import tool
from actors.tools.tool import Tool

_MOST_HITS: Final = 20


def memory_tools(memory: MemoryRef, *, collection: str = COLLECTION) -> tuple[Tool, ...]:
    """Tools for an agent, on one collection of a memory: it knows of no other."""

    @tool(parallel_safe=True, idempotent=True)
    async def memory_store(text: str, source: str = "") -> dict[str, Any]:
        """Remember a text for later.

        Args:
            text: what is to be remembered, in full sentences
            source: where it is from; a later text from there takes its place
        """
        added = await memory.aadd(text, source=source, collection=collection)
        return {"source": added.source, "chunks": added.chunks}

    @tool(parallel_safe=True, idempotent=True)
    async def memory_search(query: str, limit: int = 5) -> dict[str, Any]:
        """Look for what was remembered.

        Args:
            query: what is looked for, in words or as a question
            limit: how many texts at most, up to 20
        """
        found = await memory.asearch(query, max(1, min(limit, _MOST_HITS)), collection=collection)
        return {"results": [{"text": hit.text, "source": hit.source} for hit in found]}

    return memory_store, memory_search
