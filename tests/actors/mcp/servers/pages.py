"""Lists 10,000 tools, 250 on a page; with an argument its last page points to its first."""

import sys
from typing import Any

from .peer import Message, Peer

PAGE = 250


class Pages(Peer):
    """See the module."""

    def tools(self) -> list[Message]:
        """Many."""
        schema = {"type": "object", "properties": {"text": {"type": "string"}}}
        return [
            {"name": f"tool_{n:05}", "description": "x", "inputSchema": schema}
            for n in range(10_000)
        ]

    def on_tools_list(self, identity: Any, params: Message) -> None:
        """A page."""
        at = int(params.get("cursor", "0"))
        page: Message = {"tools": self.tools()[at : at + PAGE]}
        if at + PAGE < 10_000:
            page["nextCursor"] = str(at + PAGE)
        elif len(sys.argv) > 1:
            page["nextCursor"] = str(PAGE)
        self.answer(identity, page)

    def call(self, identity: Any, params: Message) -> None:
        """Its name."""
        self.answer(identity, {"content": [{"type": "text", "text": params["name"]}]})


if __name__ == "__main__":
    Pages().run()
