"""Fakes that ship with the package, for the tests of whoever builds on it.

`ScriptedModelServer` is a real HTTP server on a loopback port that answers by a script.
"""

from actors.testing.model_server import ScriptedModelServer, unused_port
from actors.testing.replies import (
    BigReply,
    BodyReply,
    Failure,
    JsonReply,
    RecordedRequest,
    Reply,
    SSEReply,
    answer,
    answer_chunks,
    tool_calls,
)

__all__ = [
    "BigReply",
    "BodyReply",
    "Failure",
    "JsonReply",
    "RecordedRequest",
    "Reply",
    "SSEReply",
    "ScriptedModelServer",
    "answer",
    "answer_chunks",
    "tool_calls",
    "unused_port",
]
