"""The result of a tool call as MCP servers give it: typed for those who call tools themselves, plain for a model.

    result = read_result("server 'files'", await session.call_tool("read_file", {"path": "a.txt"}))
    result.text                                         # all its text
    tool_output(raw)                                    # what an agent's model is given

What servers of all revisions send is read, and what they send that is in none (a text or one block in place
of the list, no content at all) as what was meant. Bytes are never shown to a model, only how many there are.
"""

from __future__ import annotations

import base64
from typing import Any, Final

import msgspec
from msgspec import Struct, field

from actors.errors import McpProtocolError
from actors.tools.decision import error_result

UNNAMED_ERROR: Final = "the server says that the tool failed, and not why"

_BLOCK_DEPTH = 4
_ABOUT_THE_RESULT = frozenset(("_meta", "content", "isError", "resultType", "structuredContent"))


class TextBlock(Struct, frozen=True):
    """Text. `annotations` (audience, priority ...) are the server's, here and in the other blocks."""

    text: str
    annotations: dict[str, Any] = field(default_factory=dict)


class MediaBlock(Struct, frozen=True):
    """An image or audio: `data` is base64 as it came."""

    kind: str
    data: str
    mime_type: str = ""
    annotations: dict[str, Any] = field(default_factory=dict)

    def content(self) -> bytes:
        """The bytes. Raises ValueError if the server's base64 is none."""
        return base64.b64decode(self.data, validate=True)


class ResourceBlock(Struct, frozen=True):
    """A resource within the result: its `text`, or its bytes as base64 in `blob`."""

    uri: str
    text: str | None = None
    blob: str | None = None
    mime_type: str = ""
    annotations: dict[str, Any] = field(default_factory=dict)


class LinkBlock(Struct, frozen=True):
    """A resource that can be read from the server; `more` is what else the server says of it."""

    uri: str
    name: str = ""
    mime_type: str = ""
    more: dict[str, Any] = field(default_factory=dict)


class OtherBlock(Struct, frozen=True):
    """A block of a kind that is not known here, or with a part missing; as it came."""

    value: Any


Block = TextBlock | MediaBlock | ResourceBlock | LinkBlock | OtherBlock


class McpToolResult(Struct, frozen=True):
    """What a tool gave back.

    `structured` is its `structuredContent`, None if there is none. `is_error`: the tool failed, and the
    content says why. `meta` is the server's `_meta`.
    """

    content: tuple[Block, ...] = ()
    structured: Any = None
    is_error: bool = False
    meta: dict[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Its text blocks, each on lines of its own."""
        return "\n".join(each.text for each in self.content if isinstance(each, TextBlock))


def read_result(peer: str, result: Any) -> McpToolResult:
    """The result of `tools/call`; `peer` begins the message of an error.

    Raises:
        McpProtocolError: it is no object.
    """
    if not isinstance(result, dict):
        raise McpProtocolError(
            f"{peer}: expected an object as the result of a tool, got {type(result).__name__}"
        )
    content, structured = result.get("content"), result.get("structuredContent")
    if content is None and structured is None:
        structured = _bare(result)
    blocks = content if isinstance(content, list) else [] if content is None else [content]
    return McpToolResult(
        tuple(_block(each) for each in blocks),
        structured,
        result.get("isError") is True,
        _object(result.get("_meta")),
    )


def tool_output(result: Any) -> Any:
    """What an agent's model is given of the result of `tools/call`; never raises.

    * A failed tool: an error result with its text, which lets the agent try otherwise (gaia 1.3k).
    * Text alone: the text, several blocks one below the other.
    * `structuredContent`, where there is no text or the text is only the same as JSON.
    * Else a list of the blocks; with structured content beside it, an object of both.
    """
    try:
        read = read_result("the server", result)
    except McpProtocolError as error:
        return error_result(str(error))
    shown = _shown(read)
    if not read.is_error:
        return shown
    text = shown if isinstance(shown, str) else read.text or _as_text(shown)
    return error_result(text.strip() or UNNAMED_ERROR)


# -- for a model ------------------------------------------------------------------------------------


def _shown(result: McpToolResult) -> Any:
    only_text = all(isinstance(each, TextBlock) for each in result.content)
    text = result.text
    if result.structured is not None and (not text or (only_text and _says(text, result))):
        if not result.content or only_text:
            return result.structured
        return {
            "structuredContent": result.structured,
            "content": [_described(each) for each in result.content],
        }
    return text if only_text else [_described(each) for each in result.content]


def _says(text: str, result: McpToolResult) -> bool:
    """Whether a text is the structured content as JSON, as servers send it for older clients."""
    try:
        return bool(msgspec.json.decode(text) == result.structured)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return False


def _described(block: Block) -> Any:
    match block:
        case TextBlock():
            return {"type": "text", "text": block.text}
        case MediaBlock():
            return _filled(type=block.kind, mimeType=block.mime_type, bytes=_size(block.data))
        case ResourceBlock():
            size = None if block.blob is None else _size(block.blob)
            return _filled(
                type="resource",
                uri=block.uri,
                mimeType=block.mime_type,
                text=block.text,
                bytes=size,
            )
        case LinkBlock():
            return _filled(
                type="resource_link",
                uri=block.uri,
                name=block.name,
                mimeType=block.mime_type,
                **{key: block.more.get(key) for key in ("title", "description", "size")},
            )
    return _without_bytes(block.value)


def _filled(**fields: Any) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not None and value != ""}


def _without_bytes(value: Any, depth: int = 0) -> Any:
    """A block nobody knows, the places emptied where MCP puts base64."""
    if not isinstance(value, dict) or depth > _BLOCK_DEPTH:
        return value
    return {
        key: {"bytes": _size(inner)}
        if key in ("blob", "data") and isinstance(inner, str)
        else _without_bytes(inner, depth + 1)
        for key, inner in value.items()
    }


def _size(data: str) -> int:
    """How many bytes base64 text stands for, near enough where it is none."""
    return max(len(data) * 3 // 4 - data[-2:].count("="), 0)


def _as_text(value: Any) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError):
        return UNNAMED_ERROR


# -- as it came -------------------------------------------------------------------------------------


def _block(value: Any) -> Block:
    if isinstance(value, str):
        return TextBlock(value)
    if not isinstance(value, dict):
        return OtherBlock(value)
    annotations = _object(value.get("annotations"))
    mime_type = _text(value.get("mimeType"))
    match value:
        case {"type": "text", "text": str(text)}:
            return TextBlock(text, annotations)
        case {"type": "image" | "audio" as kind, "data": str(data)}:
            return MediaBlock(kind, data, mime_type, annotations)
        case {"type": "resource_link", "uri": str(uri)}:
            return LinkBlock(uri, _text(value.get("name")), mime_type, value)
        case {"type": "resource", "resource": {"uri": str(uri)} as inner}:
            text, blob = inner.get("text"), inner.get("blob")
            return ResourceBlock(
                uri,
                text if isinstance(text, str) else None,
                blob if isinstance(blob, str) else None,
                _text(inner.get("mimeType")),
                annotations,
            )
    return OtherBlock(value)


def _bare(result: dict[str, Any]) -> Any:
    """What a server gave without content: `toolResult`, as before 2024-11-05, or its fields as they are."""
    if "toolResult" in result:
        return result["toolResult"]
    return {key: value for key, value in result.items() if key not in _ABOUT_THE_RESULT} or None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
