"""Lists tools with odd names, odd schemas and no name at all; a call gives the name that was called."""

from typing import Any

from .peer import NOTHING, Message, Peer

UNIONS = {
    "type": "object",
    "$defs": {"Point": {"type": "object", "properties": {"x": {"type": "integer"}}}},
    "properties": {
        "at": {"$ref": "#/$defs/Point"},
        "how": {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]},
        "when": {"type": ["string", "null"]},
    },
    "required": ["at"],
}
SCHEMAS: dict[str, Any] = {
    "a.b": NOTHING,
    "a_b": NOTHING,
    "a/b": NOTHING,
    "with space": NOTHING,
    "\u00fcber\u2764": NOTHING,
    "x" * 128: NOTHING,
    "x" * 127 + "y": NOTHING,
    "unions": UNIONS,
    "invalid": {"type": "object", "properties": {"x": {"type": 5}}},
    "dangling": {"type": "object", "properties": {"x": {"$ref": "#/$defs/None"}}},
    "remote": {"type": "object", "properties": {"x": {"$ref": "http://127.0.0.1:9/x.json"}}},
    "text": "not a schema",
}


class OddTools(Peer):
    """See the module."""

    def tools(self) -> list[Message]:
        """See the module."""
        listed = [{"name": name, "inputSchema": schema} for name, schema in SCHEMAS.items()]
        nameless: list[Any] = [{"description": "no name"}, {"name": 5}, "no object", None]
        return [*listed, *nameless, {"name": "bare"}, {"name": "bare", "description": "again"}]

    def call(self, identity: Any, params: Message) -> None:
        """Its name."""
        self.answer(identity, {"content": [{"type": "text", "text": params["name"]}]})


if __name__ == "__main__":
    OddTools().run()
