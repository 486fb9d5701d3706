"""What the cases call the kinds of errors, and the classes that are meant."""

from __future__ import annotations

from actors.errors import AgentError, InvalidArgument, ModelError

KINDS: dict[str, tuple[type[Exception], ...]] = {
    "invalid_argument": (InvalidArgument, ValueError),
    "runtime_error": (ModelError, AgentError, RuntimeError),
    "out_of_range": (KeyError, IndexError),
}
