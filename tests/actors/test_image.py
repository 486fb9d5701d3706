"""Images; the cases of gaia/images say which bytes are which type."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.errors import ImageError, InvalidArgument
from actors.image import MIME_TYPES, Image, detect_mime
from actors.model.message import Message, user_message

PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)


def test_a_file_is_typed_by_its_bytes_and_not_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "photo.jpg"
    path.write_bytes(PNG)
    assert Image.from_file(path) == Image(PNG, "image/png")
    assert Image.from_file(str(path)).mime == "image/png"


def test_a_given_type_wins_over_the_bytes() -> None:
    assert Image.from_bytes(PNG, "image/gif").mime == "image/gif"


@pytest.mark.parametrize("mime", ["image/svg+xml", "IMAGE/PNG", "text/plain"])
def test_a_type_that_is_not_allowed_is_told_with_those_that_are(mime: str) -> None:
    with pytest.raises(InvalidArgument, match="expected one of image/png") as caught:
        Image.from_bytes(PNG, mime)
    assert mime in str(caught.value)


def test_no_bytes_are_no_image() -> None:
    with pytest.raises(InvalidArgument, match="got none"):
        Image.from_bytes(b"")


def test_bytes_of_an_unknown_type_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="unknown type"):
        Image.from_bytes(b"plain text, long enough")


def test_a_missing_file_is_told_by_its_path(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match=r"gone\.png"):
        Image.from_file(tmp_path / "gone.png")


def test_a_path_through_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(PNG)
    with pytest.raises(ImageError, match="cannot be read"):
        Image.from_file(tmp_path / "file" / "image.png")


def test_what_is_no_regular_file_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to(tmp_path / "fifo")
    for name in ("fifo", "link", "."):
        with pytest.raises(InvalidArgument, match="no regular file"):
            Image.from_file(tmp_path / name)


def test_an_empty_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "empty.png").touch()
    with pytest.raises(InvalidArgument, match="empty"):
        Image.from_file(tmp_path / "empty.png")


def test_a_file_of_just_the_limit_is_read_and_one_byte_more_refused(tmp_path: Path) -> None:
    path = tmp_path / "image.png"
    path.write_bytes(PNG)
    assert Image.from_file(path, max_bytes=len(PNG)).data == PNG
    with pytest.raises(InvalidArgument, match=f"larger than {len(PNG) - 1} bytes"):
        Image.from_file(path, max_bytes=len(PNG) - 1)


@given(st.binary() | st.none())
def test_any_bytes_have_a_type_or_none(data: bytes | None) -> None:
    assert detect_mime(data) in {*MIME_TYPES, ""}


def test_a_message_without_images_is_plain_text() -> None:
    assert user_message("hello") == Message("user", "hello")


def test_text_stands_before_the_images() -> None:
    uri = Image(PNG, "image/png").data_uri
    kinds = [part["type"] for part in user_message("what is it?", [uri, uri]).wire()["content"]]
    assert kinds == ["text", "image_url", "image_url"]


def test_an_image_without_text_stands_alone() -> None:
    content = user_message("", [Image(PNG, "image/png").data_uri]).wire()["content"]
    assert [part["type"] for part in content] == ["image_url"]
