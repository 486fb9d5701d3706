"""The area gaia/json_recovery."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec.structs import asdict

from actors.protocol import recovery


def run(given: dict[str, Any], tmp_path: Path) -> dict[str, Any]:
    """One case."""
    text = given["text"]
    match given["op"]:
        case "parse_response":
            fields = asdict(recovery.parse_response(text))
            return {**fields, "answer_is_nonempty": bool(fields["answer"])}
        case "extract_object":
            return {"object": recovery.extract_object(text)}
        case "first_object":
            return {"text": recovery.first_object(text)}
        case "fix_errors":
            return {"text": recovery.fix_errors(text)}
        case "validate":
            return {"object": recovery.validate(text)}
    raise AssertionError(f"unknown op {given['op']!r}")
