"""The area gaia/security: the real registry, policies, store and executor threads, and the pure checks."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from actors.model.base_url import lemonade_url
from actors.protocol.prompt import tool_lines
from actors.tools.allow_store import AllowStore
from actors.tools.approval import Approval, Approver, CallbackApprover
from actors.tools.executor import tool_executor
from actors.tools.gate import requires_confirmation
from actors.tools.mcp_spec import mcp_tool
from actors.tools.names import resolve_name
from actors.tools.paths import validate_path
from actors.tools.policy import ToolPolicy, stricter
from actors.tools.registry import ToolRegistry
from actors.tools.runner import RegistryRunner
from actors.tools.shell_args import is_safe_shell_arg
from actors.tools.tool import Tool
from runtime import ActorSystem
from tests.conformance.compare import differences
from tests.conformance.gaia_native_tools import tool_spec


def run(given: dict[str, Any], tmp_path: Path) -> Any:
    """One case."""
    match given["op"]:
        case "validate_path":
            return {"value": _validate_path(given, tmp_path)}
        case "safe_shell_arg":
            return {"value": is_safe_shell_arg(given["arg"])}
        case "mcp_requires_confirmation":
            return {"value": requires_confirmation(given["name"], given["annotations"])}
        case "mcp_tool_info":
            return _mcp_tool_info(given)
        case "stricter":
            first, second = (ToolPolicy[given[each].upper()] for each in "ab")
            return {"value": stricter(first, second).name.lower()}
        case "resolve_name":
            return {"value": resolve_name(given["name"], given["tools"])}
        case "prompt_lines":
            return {"text": tool_lines(_registry(given["tools"], []).specs())}
        case "store":
            return _store(given, tmp_path / "security" / "allowed_tools.json")
        case "lemonade_url":
            return {"value": lemonade_url(given["url"], {})}
        case "execute":
            return _Execution(given, tmp_path).run()
    raise AssertionError(f"unknown op {given['op']!r}")


def _validate_path(given: dict[str, Any], folder: Path) -> bool:
    for kind, name, *target in given["layout"]:
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        match kind:
            case "dir":
                place.mkdir(exist_ok=True)
            case "file":
                place.touch()
            case "symlink":
                place.symlink_to(folder / target[0])
    with chdir(folder):
        return validate_path(given["base"], given["path"])


def _mcp_tool_info(given: dict[str, Any]) -> dict[str, Any]:
    made = mcp_tool(given["server"], given["tool"], lambda args: args)
    parameters = [
        {"name": each.name, "required": each.required, "type": each.type}
        for each in sorted(made.spec.parameters, key=lambda each: each.name)
    ]
    policy = ToolPolicy.CONFIRM if made.policy is None else made.policy
    return {
        "name": made.name,
        "description": made.spec.description,
        "atomic": made.atomic,
        "policy": policy.name.lower(),
        "params": parameters,
    }


def _store(given: dict[str, Any], path: Path) -> dict[str, Any]:
    if "file" in given:
        path.parent.mkdir(parents=True)
        path.write_text(given["file"], encoding="utf-8")
    store = AllowStore(path)
    for name, *args in given["ops"]:
        acts: dict[str, Callable[..., None]] = {
            "add": store.add,
            "remove": store.remove,
            "clear": store.clear_all,
        }
        acts[name](*args)
    return {
        "names": store.all_allowed(),
        "file": _file(path),
        "after_reload": AllowStore(path).all_allowed(),
    }


def _file(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError:
        return "corrupt"


def _registry(given: list[dict[str, Any]], executed: list[Any]) -> ToolRegistry:
    registry = ToolRegistry()
    for each in given:
        policy = ToolPolicy[each["policy"].upper()] if "policy" in each else None
        registry.register(Tool(tool_spec(each), _callback(each, executed), policy))
        registry.set_enabled(each["name"], enabled=each.get("enabled", True))
    return registry


def _callback(tool: dict[str, Any], executed: list[Any]) -> Callable[[Any], Any]:
    behaviour = tool["behaviour"]

    def call(args: Any) -> Any:
        executed.append({"tool": tool["name"], "args": args})
        match behaviour["kind"]:
            case "return":
                return behaviour["value"]
            case "echo_args":
                return {"args": args}
            case "raise":
                raise RuntimeError(behaviour["message"])
        raise AssertionError(f"unknown behaviour {behaviour!r}")

    return call


class _Executed(Struct):
    """What the calls of a case left behind. A case writes an error result as status and fragments."""

    results: list[Any]
    executed: list[Any]
    confirm_prompts: int
    always_allowed_after: list[str]

    def differences(self, expected: dict[str, Any]) -> list[str]:
        """Every place where it is not as expected."""
        wanted = expected["results"]
        if len(wanted) != len(self.results):
            return [f"results: expected {len(wanted)}, got {self.results!r}"]
        problems = differences({**expected, "results": []}, {**asdict(self), "results": []})
        for got, want in zip(self.results, wanted, strict=True):
            problems += _result_differences(want, got)
        return problems


def _result_differences(wanted: Any, got: Any) -> list[str]:
    if not isinstance(wanted, dict) or "error_contains" not in wanted:
        return differences([wanted], [got])
    text = str(got.get("error")).lower()
    missing = [each for each in wanted["error_contains"] if each.lower() not in text]
    problems = differences({"status": wanted["status"]}, got)
    return problems + [f"{got!r} lacks {each!r}" for each in missing]


class _Execution:
    """The calls of one `execute` case, through the registry and the executor of a real system."""

    def __init__(self, given: dict[str, Any], tmp_path: Path) -> None:
        self._given = given
        self._executed: list[Any] = []
        self._prompts = 0
        self._allow_store = self._prefilled(tmp_path / "allowed_tools.json")

    def run(self) -> _Executed:
        with ActorSystem() as system:
            results = asyncio.run(self._call_all(system))
        store = self._allow_store
        allowed = [] if store is None else store.all_allowed()
        return _Executed(results, self._executed, self._prompts, allowed)

    async def _call_all(self, system: ActorSystem) -> list[Any]:
        runner = RegistryRunner(
            _registry(self._given["tools"], self._executed),
            tool_executor(system),
            approver=self._approver(),
            store=self._allow_store,
        )
        return [await runner.run(each["tool"], each["args"]) for each in self._given["calls"]]

    def _prefilled(self, path: Path) -> AllowStore | None:
        if not self._given.get("store", True):
            return None
        store = AllowStore(path)
        for name in self._given.get("always_allowed", []):
            store.add(name)
        return store

    def _approver(self) -> Approver | None:
        if "confirm" not in self._given:
            return None
        answer = Approval(self._given["confirm"])

        def ask(name: str, args: Any) -> Approval:
            self._prompts += 1
            return answer

        return CallbackApprover(ask)
