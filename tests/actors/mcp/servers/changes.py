"""Takes away the tool that was called and adds another one, and says so. `pid` stays."""

from typing import Any

from .peer import NOTHING, Message, Peer


class Changes(Peer):
    """See the module."""

    generation = 0

    def tools(self) -> list[Message]:
        """`pid`, and the one of this generation."""
        names = ("pid", f"tool_{self.generation}")
        return [{"name": name, "inputSchema": NOTHING} for name in names]

    def call(self, identity: Any, params: Message) -> None:
        """Change."""
        if params["name"] == "pid":
            super().call(identity, params)
            return
        self.generation += 1
        self.notify("notifications/tools/list_changed")
        self.answer(identity, {"content": [{"type": "text", "text": "changed"}]})


if __name__ == "__main__":
    Changes().run()
