"""The text in files: what is read, as what, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.errors import ExtractionError, InvalidArgument
from actors.memory import extraction
from actors.memory.extraction import extract_text, register_extractor


@pytest.fixture(autouse=True)
def _as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test registers is gone after it."""
    monkeypatch.setattr(extraction, "_registered", {})
    return


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("grün\r\n✓".encode(), "grün\r\n✓"),
        (b"\xef\xbb\xbfx", "x"),
        ("grün".encode("latin-1"), "grün"),
        (b"", ""),
    ],
)
@pytest.mark.parametrize("name", ["a.md", "a.py", "README", "a.unknown", ".env", "A.TXT"])
def test_any_text_is_read(tmp_path: Path, name: str, content: bytes, text: str) -> None:
    (tmp_path / name).write_bytes(content)
    assert extract_text(tmp_path / name) == text


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("a.pdf", b"text", "a file of PDF"),
        ("a.DOCX", b"text", "a file of Word"),
        ("a.txt", b"a\0b", "binary"),
    ],
)
def test_what_is_no_text_is_refused(tmp_path: Path, name: str, content: bytes, why: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ExtractionError, match=why):
        extract_text(tmp_path / name)


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing.txt", tmp_path / "missing" / "a.txt"):
        with pytest.raises(ExtractionError, match="cannot read"):
            extract_text(path)


def test_a_file_that_is_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extraction, "LIMIT_BYTES", 3)
    (tmp_path / "a.txt").write_text("abc", encoding="utf-8")
    assert extract_text(tmp_path / "a.txt") == "abc"
    (tmp_path / "a.txt").write_text("abcd", encoding="utf-8")
    with pytest.raises(ExtractionError, match="larger than 3 bytes"):
        extract_text(tmp_path / "a.txt")


def test_a_format_can_be_added_and_a_rule_replaced(tmp_path: Path) -> None:
    register_extractor(".PDF", lambda path: f"pages of {path.name}")
    assert extract_text(tmp_path / "a.pdf") == "pages of a.pdf"
    for extension in ("pdf", ".", ""):
        with pytest.raises(InvalidArgument, match="extension"):
            register_extractor(extension, lambda _: "")
