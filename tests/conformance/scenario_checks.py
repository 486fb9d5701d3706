"""How what happened in a scenario is compared with what its case expects (the keys of FORMAT)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from msgspec import Struct, field

from actors.agent import notices
from actors.output import events
from actors.output.events import TurnEvent
from actors.protocol.prompt import TOOLS_HEADING
from actors.protocol.recovery import EMPTY_REPLY
from actors.protocol.templates import CONVERSATIONAL, HEADING, PLANNING
from tests.conformance.compare import differences, error_differences
from tests.conformance.error_kinds import KINDS

EVENT_NAMES: dict[type[TurnEvent], str] = {
    events.TurnStarted: "processing_start",
    events.StepStarted: "step",
    events.StateNoted: "state_info",
    events.ThoughtGiven: "thought",
    events.GoalGiven: "goal",
    events.PlanGiven: "plan",
    events.ToolChosen: "tool",
    events.ToolFinished: "tool_complete",
    events.JsonShown: "json",
    events.ErrorNoted: "error",
    events.WarningNoted: "warning",
    events.InfoNoted: "info",
    events.ProgressStarted: "progress",
    events.ProgressStopped: "progress_stop",
    events.TokenReceived: "token",
    events.StreamEnded: "stream_end",
    events.AnswerGiven: "final_answer",
    events.TurnFinished: "completion",
}


class Observed(Struct):
    """What a scenario left behind. `turns` are result objects or errors, `history` wire forms,
    `requests` the bodies of the model calls, `results` what the tools returned."""

    turns: list[Any] = field(default_factory=list)
    executed: list[Any] = field(default_factory=list)
    results: list[Any] = field(default_factory=list)
    history: list[dict[str, Any]] = field(default_factory=list)
    requests: list[Any] = field(default_factory=list)
    loads: list[Any] = field(default_factory=list)
    events: list[TurnEvent] = field(default_factory=list)

    def differences(self, expected: dict[str, Any]) -> list[str]:
        """Every place where it is not as expected."""
        problems: list[str] = []
        for key, value in expected.items():
            if key in _SPECIAL:
                problems += _SPECIAL[key](self, value)
            else:
                problems += differences({key: value}, {key: _PLAIN[key](self)})
        return problems


# -- values that are compared as they are -----------------------------------------------------------


def _system(observed: Observed) -> str:
    first = observed.requests[0]["messages"][0]
    return str(first["content"]) if first["role"] == "system" else ""


def _template_kind(observed: Observed) -> str | None:
    system = _system(observed)
    kinds = {"planning": PLANNING, "conversational": CONVERSATIONAL}
    return next((kind for kind, template in kinds.items() if template in system), None)


def _event_names(observed: Observed) -> list[str]:
    return [EVENT_NAMES[type(each)] for each in observed.events if type(each) in EVENT_NAMES]


_PLAIN: dict[str, Callable[[Observed], Any]] = {
    "executed": lambda o: o.executed,
    "llm_calls": lambda o: len(o.requests),
    "loads": lambda o: o.loads,
    "history_roles": lambda o: [each["role"] for each in o.history],
    "request_keys": lambda o: sorted(o.requests[0]),
    "tools_sent": lambda o: o.requests[0].get("tools"),
    "tool_names_sent": lambda o: [each["function"]["name"] for each in o.requests[0]["tools"]],
    "tool_choice": lambda o: o.requests[0].get("tool_choice"),
    "template_in_prompt": lambda o: HEADING in _system(o),
    "template_kind": _template_kind,
    "tool_list_in_prompt": lambda o: TOOLS_HEADING in _system(o),
    "event_names": _event_names,
}


# -- values with rules of their own -----------------------------------------------------------------


def _turns(observed: Observed, expected: list[dict[str, Any]]) -> list[str]:
    if len(observed.turns) != len(expected):
        return [f"turns: expected {len(expected)}, got {observed.turns!r}"]
    pairs = zip(observed.turns, expected, strict=True)
    return [f"turn {n}: {p}" for n, (got, want) in enumerate(pairs) for p in _turn(got, want)]


def _turn(got: Any, expected: dict[str, Any]) -> list[str]:
    error = expected.get("error")
    if error is not None or isinstance(got, Exception):
        if error is None or not isinstance(got, Exception):
            return [f"expected {expected!r}, got {got!r}"]
        return error_differences(error, KINDS[error["kind"]], got)
    problems: list[str] = []
    for key, value in expected.items():
        if key == "result_starts_with":
            problems += [] if got["result"].startswith(value) else [f"{got!r} does not so start"]
        elif key == "result_contains":
            problems += [f"{got!r} lacks {each!r}" for each in value if each not in got["result"]]
        elif key == "result_is":
            problems += [] if got["result"] == _notice(value, got) else [f"{got!r} is no {value}"]
        else:
            problems += differences({key: value}, got)
    if "result" in expected and got.keys() - expected.keys():
        problems.append(f"{sorted(got.keys() - expected.keys())} should not be there")
    return problems


def _notice(name: str, got: dict[str, Any]) -> str:
    match name:
        case "step_limit_notice":
            return notices.limit_reached(got["steps_limit"])
        case "cancelled_notice":
            return notices.cancelled(got["steps_taken"])
        case "empty_reply_notice":
            return EMPTY_REPLY
    raise AssertionError(f"unknown notice {name!r}")


def _history(observed: Observed, expected: list[dict[str, Any]]) -> list[str]:
    return _messages("history", observed.history, expected)


def _last_request(observed: Observed, expected: list[dict[str, Any]]) -> list[str]:
    sent = [each for each in observed.requests[-1]["messages"] if each["role"] != "system"]
    return _messages("last_request", sent, expected)


def _messages(where: str, got: list[Any], expected: list[dict[str, Any]]) -> list[str]:
    if len(got) != len(expected):
        return [f"{where}: expected {len(expected)} messages, got {got!r}"]
    pairs = zip(got, expected, strict=True)
    return [
        f"{where}[{n}]: {p}" for n, (one, want) in enumerate(pairs) for p in _message(one, want)
    ]


_NOTICES = {"error_recovery_notice": notices.recovery("", "", remind=False).partition("\n")[0]}
_LOOSE = {"is", "content_contains", "content_json_contains", "error_contains"}


def _message(wire: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    got = dict(wire)
    if "tool_calls" in got:
        got["tool_calls"] = [{"id": c["id"], **c["function"]} for c in got["tool_calls"]]
    loose = {key: value for key, value in expected.items() if key in _LOOSE}
    exact = {key: value for key, value in expected.items() if key not in _LOOSE}
    content = got["content"]
    if loose:
        del got["content"]
    problems = differences([exact], [got])
    if "is" in loose:
        problems += (
            [] if content.startswith(_NOTICES.get(loose["is"], "")) else [f"{content!r} is it not"]
        )
    result = json.loads(content) if "content_json_contains" in loose else {}
    problems += differences(loose.get("content_json_contains", {}), result)
    problems += _lacking(content, loose.get("content_contains", []))
    return problems + _lacking(str(result.get("error")), loose.get("error_contains", []))


def _lacking(text: str, fragments: list[str]) -> list[str]:
    return [f"{text!r} lacks {each!r}" for each in fragments if each.lower() not in text.lower()]


def _tool_message(observed: Observed, expected: dict[str, int]) -> list[str]:
    """The last tool message: its length, and which ends of the result it kept."""
    sent = [each for each in observed.requests[-1]["messages"] if each["role"] == "tool"]
    content = sent[-1]["content"]
    whole = json.dumps(observed.results[-1], separators=(",", ":"), ensure_ascii=False)
    head, tail = whole[: expected["head_chars"]], whole[-expected["tail_chars"] :]
    problems = differences(
        {"length": expected["length"], "over": True},
        {
            "length": len(content),
            "over": len(whole) > expected["over"],
        },
    )
    if not (content.startswith(head) and content.endswith(tail)):
        problems.append(f"{content!r} does not keep head and tail")
    return problems


def _user_text(observed: Observed, fragments: list[str]) -> list[str]:
    sent = observed.requests[-1]["messages"]
    return _lacking("\n".join(str(m["content"]) for m in sent if m["role"] == "user"), fragments)


_SPECIAL: dict[str, Callable[[Observed, Any], list[str]]] = {
    "turns": _turns,
    "history": _history,
    "last_request": _last_request,
    "tool_message": _tool_message,
    "last_request_contains_user_text": _user_text,
}
