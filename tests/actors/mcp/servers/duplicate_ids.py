"""Answers everything twice, the second time wrongly, and answers what nobody asked."""

from typing import Any

from .peer import Peer


class DuplicateIds(Peer):
    """See the module."""

    def answer(self, identity: Any, result: Any) -> None:
        """Twice."""
        super().answer(identity, result)
        super().answer(identity, {"content": [{"type": "text", "text": "wrong"}]})
        super().answer(999_999, {"content": []})
        super().answer("nobody's", {"content": []})


if __name__ == "__main__":
    DuplicateIds().run()
