"""The registry: what is there, what the model is told, what becomes of a call."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.errors import ToolExists, ToolSchemaError
from actors.model.toolspec import ToolParameter, ToolSpec
from actors.tools.decision import NeedsApproval, Ready, Refused
from actors.tools.policy import ToolPolicy
from actors.tools.registry import ToolRegistry
from actors.tools.tool import Tool, ToolOrigin, Validator


def demo(
    name: str = "demo",
    policy: ToolPolicy | None = None,
    *parameters: ToolParameter,
    validator: Validator | None = None,
    origin: ToolOrigin | None = None,
) -> Tool:
    return Tool(
        ToolSpec(name, "", parameters),
        lambda args: args,
        policy,
        validator=validator,
        origin=origin,
    )


def holding(*tools: Tool) -> ToolRegistry:
    registry = ToolRegistry()
    for tool in tools:
        registry.register(tool)
    return registry


# -- what is there ----------------------------------------------------------------------------------


def test_a_name_can_be_taken_once() -> None:
    registry = holding(demo())
    with pytest.raises(ToolExists, match="'demo' is registered already"):
        registry.register(demo())


@pytest.mark.parametrize(
    "spec",
    [
        ToolSpec("demo", "half a pair \ud800"),
        ToolSpec("demo", "", (ToolParameter("a", schema={"default": object()}),)),
    ],
)
def test_what_no_model_can_be_told_is_refused(spec: ToolSpec) -> None:
    registry = ToolRegistry()
    with pytest.raises(ToolSchemaError, match="have no JSON form"):
        registry.register(Tool(spec, lambda args: args))
    assert len(registry) == 0


def test_tools_are_found_by_their_exact_name() -> None:
    registry = holding(demo("mcp_a_b"))
    assert registry.has("mcp_a_b")
    assert not registry.has("b")
    assert registry.find("b") is None
    found = registry.resolve("b")
    assert found is not None
    assert found.name == "mcp_a_b"


def test_everything_is_listed_in_name_order() -> None:
    registry = holding(demo("b"), demo("c"), demo("a"))
    registry.set_enabled("c", enabled=False)
    assert [tool.name for tool in registry.all()] == ["a", "b", "c"]
    assert [spec.name for spec in registry.specs()] == ["a", "b"]
    assert registry.enabled_names() == ["a", "b"]
    assert len(registry) == 3


def test_removing_and_switching_say_whether_there_was_such_a_tool() -> None:
    registry = holding(demo())
    assert registry.set_enabled("demo", enabled=False)
    assert not registry.set_enabled("nope", enabled=True)
    assert registry.remove("demo")
    assert not registry.remove("demo")


def test_a_tool_that_comes_back_is_enabled_again() -> None:
    registry = holding(demo())
    registry.set_enabled("demo", enabled=False)
    registry.remove("demo")
    registry.register(demo())
    assert registry.is_enabled("demo")
    registry.set_enabled("demo", enabled=False)
    registry.clear()
    registry.register(demo())
    assert registry.is_enabled("demo")


def test_the_version_moves_with_what_the_model_is_told_and_only_then() -> None:
    registry = ToolRegistry()
    versions = [registry.version]
    for change in (
        lambda: registry.register(demo()),
        lambda: registry.set_enabled("demo", enabled=False),
        lambda: registry.set_enabled("demo", enabled=True),
        lambda: registry.remove("demo"),
        registry.clear,
    ):
        change()
        versions.append(registry.version)
    assert len(set(versions)) == len(versions)
    registry.register(demo())
    before = registry.version
    registry.set_enabled("demo", enabled=True)
    registry.remove("nope")
    registry.decide("demo", {})
    registry.set_default_policy(ToolPolicy.DENY)
    assert registry.version == before


# -- policies ---------------------------------------------------------------------------------------


def test_a_tool_without_a_policy_takes_the_default_of_the_moment() -> None:
    registry = holding(demo("before"))
    registry.set_default_policy(ToolPolicy.DENY)
    registry.register(demo("after"))
    registry.register(demo("own", ToolPolicy.ALLOW))
    policies = {tool.name: tool.policy for tool in registry.all()}
    assert policies == {
        "before": ToolPolicy.ALLOW,
        "after": ToolPolicy.DENY,
        "own": ToolPolicy.ALLOW,
    }


@pytest.mark.parametrize("default", ToolPolicy)
@pytest.mark.parametrize("own", ToolPolicy)
def test_the_default_only_raises_the_policy_of_a_servers_tool(
    own: ToolPolicy, default: ToolPolicy
) -> None:
    registry = ToolRegistry(default)
    registry.register(demo("x", own, origin=ToolOrigin("server", "x")))
    assert registry.all()[0].policy is max(own, default)


# -- calls ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "outcome"),
    [
        (ToolPolicy.ALLOW, Ready),
        (ToolPolicy.CONFIRM, NeedsApproval),
        (ToolPolicy.DENY, Refused),
    ],
)
def test_the_policy_decides_about_a_good_call(policy: ToolPolicy, outcome: type[Any]) -> None:
    assert type(holding(demo("demo", policy)).decide("demo", {})) is outcome


NEEDS_Q = ToolParameter("q")


@pytest.mark.parametrize(
    ("policy", "enabled", "args", "says"),
    [
        (ToolPolicy.DENY, False, {}, "disabled"),
        (ToolPolicy.DENY, True, {}, "denied by policy"),
        (ToolPolicy.CONFIRM, True, {}, "'q' is missing"),
        (ToolPolicy.ALLOW, True, {"q": 1}, "must be of type string, got number"),
    ],
)
def test_state_comes_before_policy_and_policy_before_arguments(
    policy: ToolPolicy, enabled: bool, args: Any, says: str
) -> None:
    registry = holding(demo("demo", policy, NEEDS_Q))
    registry.set_enabled("demo", enabled=enabled)
    decision = registry.decide("demo", args)
    assert isinstance(decision, Refused)
    assert says in decision.error
    assert "'demo'" in decision.error


def test_an_unknown_tool_is_refused_with_the_names_there_are() -> None:
    registry = holding(demo("b"), demo("a"), demo("off"))
    registry.set_enabled("off", enabled=False)
    assert registry.decide("ghost", {}) == Refused("tool 'ghost' not found; the tools are: a, b")
    assert ToolRegistry().decide("x", {}) == Refused("tool 'x' not found; the tools are: none")


def test_arguments_pass_as_they_are() -> None:
    registry = holding(demo("demo", None, ToolParameter("q", required=False)))
    for args in ({"q": "x", "more": [1]}, {}, None):
        decision = registry.decide("demo", args)
        assert isinstance(decision, Ready)
        assert decision.args is args


def test_a_validator_replaces_the_check_and_gives_the_arguments_to_use() -> None:
    def validator(name: str, args: dict[str, Any]) -> dict[str, Any]:
        return {"name": name, "saw": args}

    registry = holding(demo("demo", ToolPolicy.CONFIRM, NEEDS_Q, validator=validator))
    decision = registry.decide("demo", None)
    assert isinstance(decision, NeedsApproval)
    assert decision.args == {"name": "demo", "saw": {}}


@pytest.mark.parametrize(
    "error", [ValueError("too long"), KeyError("too long"), OSError("too long")]
)
def test_whatever_a_validator_raises_is_a_refusal(error: Exception) -> None:
    def validator(name: str, args: dict[str, Any]) -> dict[str, Any]:
        raise error

    decision = holding(demo(validator=validator)).decide("demo", {})
    assert isinstance(decision, Refused)
    assert decision.error.startswith("tool 'demo': ")
    assert "too long" in decision.error


@given(
    st.text(),
    st.none() | st.integers() | st.lists(st.text()) | st.dictionaries(st.text(), st.text()),
)
def test_no_call_makes_it_raise(name: str, args: Any) -> None:
    registry = holding(demo("demo", None, NEEDS_Q), demo("mcp_x_"))
    registry.decide(name, args)
    registry.decide("demo", args)
