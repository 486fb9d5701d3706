"""What `import actors` promises: everything of a first program, no extra needed, nothing started."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import actors
import runtime
from tests.source_tree import ROOT

WITHOUT_EXTRAS = """
import sys, threading
for extra in ("xllamacpp", "uvloop", "yaml", "numpy", "apsw"):
    sys.modules[extra] = None
from actors import *
from actors.testing import ScriptedModelServer, answer
from runtime import ActorSystem

assert threading.active_count() == 1, threading.enumerate()
with ScriptedModelServer([answer("hello")]) as server, ActorSystem() as system:
    config = AgentConfig(provider="openai", base_url=server.base_url, model="m")
    print(Agent.spawn(system, config).process_query("hi").result)
assert threading.active_count() == 1, threading.enumerate()
"""


def test_an_agent_works_without_any_extra_and_nothing_starts_at_import() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", WITHOUT_EXTRAS],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "hello\n"), done.stderr


@pytest.mark.parametrize("name", ["Agent", "AgentConfig", "AgentRef", "TurnResult", "tool"])
def test_what_a_first_program_needs_is_there(name: str) -> None:
    assert name in actors.__all__


def test_the_two_packages_give_no_name_twice() -> None:
    assert not set(actors.__all__) & set(runtime.__all__)


def test_every_error_of_the_package_is_one_of_its_names() -> None:
    errors = {
        name
        for name, value in vars(actors.errors).items()
        if isinstance(value, type) and issubclass(value, actors.AgentError)
    }
    assert errors <= set(actors.__all__)
