"""Nothing but the answer, or nothing."""

from __future__ import annotations

import io

from actors.output.dispatch import publish_to
from actors.output.silent import SilentHandler
from tests.actors.output.recorder import WHOLE_TURN


def test_only_the_final_answer_is_said() -> None:
    stream = io.StringIO()
    sink = publish_to(SilentHandler(stream))
    for event in WHOLE_TURN:
        sink(event)
    assert stream.getvalue() == "It is 42.5.\n"


def test_even_the_answer_can_be_silenced() -> None:
    stream = io.StringIO()
    sink = publish_to(SilentHandler(stream, silence_final_answer=True))
    for event in WHOLE_TURN:
        sink(event)
    assert stream.getvalue() == ""
