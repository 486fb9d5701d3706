"""Reading of what a tool gave back: the text a model sees, and whether it says that the tool failed.

Pure, and never raises: a value no JSON can hold becomes an error result.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from actors.tools.decision import error_result

UNNAMED_ERROR = "the tool reported an error without saying which"


def result_text(result: Any) -> str:
    """The result as compact JSON, keys in order, so that equal results are equal texts.

    Halves of surrogate pairs, which no request could carry, become `?`.
    """
    try:
        return msgspec.json.encode(result, order="deterministic").decode()
    except UnicodeEncodeError:
        return (
            json.dumps(result, ensure_ascii=False, separators=(",", ":"))
            .encode("utf-8", "replace")
            .decode()
        )
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        return result_text(error_result(f"the tool's result is no JSON value: {error}"))


def error_of(result: Any) -> str | None:
    """The error a result carries, or None if it is a success.

    Only an object whose `status` is the text `error` is one (gaia 1.3k). An error that is no text is
    given as JSON, a missing or empty one by a general text.
    """
    if not isinstance(result, dict) or result.get("status") != "error":
        return None
    error = result.get("error")
    if error is None or error == "":
        return UNNAMED_ERROR
    return error if isinstance(error, str) else result_text(error)
