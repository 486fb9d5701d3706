"""A system inherited through fork says so at once; nothing in the child hangs."""

from __future__ import annotations

import subprocess
import sys
import textwrap

PRELUDE = """
import os, sys, threading
from runtime import Actor, ActorDeadError, ActorSystem, BlockingActor, SystemEnded, default_system
import pykka

class Echo(Actor):
    def on_receive(self, message):
        return message

class Sleeper(Actor):
    async def on_receive(self, message):
        import asyncio
        await asyncio.sleep(60)

def refused(call):
    try:
        call()
    except SystemEnded as error:
        assert "fork" in str(error), error
        return
    raise AssertionError(f"{call} was not refused")

def in_child(check):
    child = os.fork()
    if child == 0:
        code = 1
        try:
            check()
            code = 0
        except BaseException:
            import traceback
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert status == 0, status
"""


def run(program: str) -> None:
    """Run a program in a process of its own; it must end well and in time."""
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE + textwrap.dedent(program)],
        timeout=50,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_everything_in_the_child_is_refused_and_the_parent_goes_on() -> None:
    run(
        """
        with ActorSystem() as system:
            ref, fresh = system.spawn(Echo), system.spawn(Echo)
            assert ref.ask(1, timeout=20) == 1

            def check():
                refused(lambda: ref.tell(1))
                refused(lambda: fresh.tell(1))
                refused(lambda: ref.ask(1, timeout=20))
                refused(lambda: ref.ask(1, block=False))
                refused(lambda: system.spawn(Echo))
                assert ref.stop(timeout=20) is False
                assert pykka.ActorRegistry.stop_all(timeout=20) == []
                system.shutdown()
                system.shutdown()

            in_child(check)
            assert ref.ask(2, timeout=20) == 2
        """
    )


def test_answers_that_were_pending_at_the_fork_come_as_errors_in_the_child_only() -> None:
    run(
        """
        with ActorSystem() as system:
            sleeper, blocked = system.spawn(Sleeper), system.spawn(Echo)
            asked = [sleeper.ask("running", block=False), sleeper.ask("waiting", block=False)]
            system.spawn(Echo).ask(1, timeout=20)

            def check():
                for reply in asked:
                    try:
                        reply.get(timeout=20)
                    except ActorDeadError as error:
                        assert "fork" in str(error) or "stopped" in str(error), error
                    else:
                        raise AssertionError("answered")

            in_child(check)
            assert not any(reply.done() for reply in asked)
            for reply in asked:
                reply.cancel()
        """
    )


def test_a_new_system_works_in_the_child() -> None:
    run(
        """
        with ActorSystem() as system:
            system.spawn(Echo).ask(1, timeout=20)
            Echo.start().ask(1, timeout=20)

            def check():
                with ActorSystem() as own:
                    assert own.spawn(Echo).ask("mine", timeout=20) == "mine"
                assert Echo.start().ask("default", timeout=20) == "default"
                default_system().shutdown()

            in_child(check)
        """
    )


def test_a_fork_while_every_lock_of_the_runtime_is_held_hangs_nobody() -> None:
    run(
        """
        from runtime import Reply, reply as reply_module, waits
        with ActorSystem() as system:
            ref = system.spawn(Echo)
            ref.ask(1, timeout=20)
            held, let_go = threading.Event(), threading.Event()

            def hold():
                with (reply_module._settling, waits._lock, system.lock,
                      system._letters._lock, system.registry._lock):
                    held.set()
                    let_go.wait(20)

            holder = threading.Thread(target=hold)
            holder.start()
            assert held.wait(20)

            def check():
                reply = Reply()
                reply.settle(1)
                assert reply.get() == 1
                refused(lambda: ref.tell(1))
                refused(lambda: system.spawn(Echo))
                with ActorSystem() as own:
                    assert own.spawn(Echo).ask(1, timeout=20) == 1

            in_child(check)
            let_go.set()
            holder.join()
        """
    )
