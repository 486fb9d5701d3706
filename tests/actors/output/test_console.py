"""A console knows what it prints on, and survives its reader."""

from __future__ import annotations

import io
import os
import threading
from pathlib import Path

import pytest

from actors.output.console import Console
from tests.actors.output.terminal_pair import terminal_pair

PLAIN: dict[str, str] = {}


def test_a_file_gets_no_colours_and_keeps_its_bytes() -> None:
    stream = io.StringIO()
    console = Console(stream, environ=PLAIN)
    console.write(console.paint("a\x1b[31mb", "red"))
    assert stream.getvalue() == "a\x1b[31mb"


def test_a_terminal_gets_colours() -> None:
    with terminal_pair() as pair:
        console = Console(pair.stream, environ=PLAIN)
        console.write(console.paint("red", "red", "bold") + "\n")
        assert "\x1b[31;1mred\x1b[0m" in pair.until("\n")


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=str)
def test_no_colours_when_told_so(environ: dict[str, str]) -> None:
    with terminal_pair() as pair:
        console = Console(pair.stream, environ=environ)
        console.write(console.paint("red", "red") + "\n")
        assert pair.until("\n") == "red\r\n"


def test_an_empty_no_color_means_nothing() -> None:
    with terminal_pair() as pair:
        assert Console(pair.stream, environ={"NO_COLOR": ""}).coloured


def test_text_cannot_command_a_terminal() -> None:
    with terminal_pair() as pair:
        console = Console(pair.stream, environ=PLAIN)
        assert (
            console.clean("a\x1b]0;title\x07b\r\nc\td\x9b2J")
            == "a\ufffd]0;title\ufffdb\nc\td\ufffd2J"
        )


def test_what_the_encoding_cannot_say_is_replaced() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    Console(stream, environ=PLAIN).write("2 \u20ac \ud800\n")
    assert raw.getvalue() == b"2 ? ?\n"


def test_a_reader_who_left_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb", buffering=0) as raw:
        stream = io.TextIOWrapper(raw, encoding="utf-8", write_through=True)
        console = Console(stream, environ=PLAIN)
        console.write("hello\n")
        console.write("anybody?\n")
        assert console.lost


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_an_error() -> None:
    with Path("/dev/full").open("wb", buffering=0) as raw:
        stream = io.TextIOWrapper(raw, encoding="utf-8", write_through=True)
        with pytest.raises(OSError, match="No space"):
            Console(stream, environ=PLAIN).write("hello\n")


def test_no_stream_at_all_is_a_lost_console(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout", None)
    console = Console()
    console.write("hello\n")
    assert console.lost


def test_writes_of_many_threads_come_out_whole() -> None:
    reading, writing = os.pipe()
    with os.fdopen(writing, "w", encoding="utf-8") as stream, os.fdopen(reading, "rb") as reader:
        console = Console(stream, environ=PLAIN)
        lines = [f"{name}" * 500 + "\n" for name in "abcdefgh"]

        def write(line: str) -> None:
            for _ in range(10):
                console.write(line)

        threads = [threading.Thread(target=write, args=(line,)) for line in lines]
        got: list[bytes] = []
        taking = threading.Thread(target=lambda: got.extend(reader.readlines()))
        taking.start()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        stream.close()
        taking.join()
    assert sorted(line.decode() for line in got) == sorted(lines * 10)


def test_the_status_line_goes_before_anything_else_is_written() -> None:
    with terminal_pair() as pair:
        console = Console(pair.stream, environ=PLAIN)
        console.show_status("waiting")
        console.write("done\n")
        assert pair.until("\n") == "\r\x1b[2Kwaiting\r\x1b[2Kdone\r\n"


def test_the_status_line_does_not_break_into_a_line() -> None:
    with terminal_pair() as pair:
        console = Console(pair.stream, environ=PLAIN)
        console.write("half a li")
        console.show_status("waiting")
        console.write("ne\n")
        assert pair.until("\n") == "half a line\r\n"
