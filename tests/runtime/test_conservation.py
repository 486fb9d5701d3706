"""Under stress: every message has one fate, every ask one answer, order is kept, control stays put."""

from __future__ import annotations

import asyncio
import random
import threading
from collections import Counter
from typing import Any, ClassVar

import pytest

from runtime import (
    Actor,
    ActorDeadError,
    ActorRef,
    ActorSystem,
    Backoff,
    BlockingActor,
    Cancelled,
    ChildSpec,
    MailboxFull,
    Reply,
    Supervisor,
)
from tests.runtime.players import LIMIT_S, Boom, Held, in_thread, until


class Tally:
    """What became of the messages, counted in the actors' threads."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.fates: Counter[str] = Counter()
        self.order: dict[str, list[int]] = {}

    def count(self, fate: str) -> None:
        with self.lock:
            self.fates[fate] += 1

    def note(self, sender: str, number: int) -> None:
        with self.lock:
            self.order.setdefault(sender, []).append(number)


class Numbered:
    """A message of one sender; some make the actor fail or stop itself, or take a few steps."""

    __slots__ = ("kind", "number", "sender")

    def __init__(self, sender: str, number: int, kind: str) -> None:
        self.sender = sender
        self.number = number
        self.kind = kind


class Working(Actor):
    """Counts each message as handled or failed; fails for every error."""

    expected_errors = ()
    tally: ClassVar[Tally]

    def on_receive(self, message: Numbered) -> Any:
        self.tally.note(message.sender, message.number)
        if message.kind == "slow":
            return self.slowly(message)
        return self.at_once(message)

    def at_once(self, message: Numbered) -> int:
        if message.kind == "fail":
            self.tally.count("failed")
            raise Boom
        if message.kind == "stop":
            self.stop()
        self.tally.count("handled")
        return message.number

    async def slowly(self, message: Numbered) -> int:
        await asyncio.sleep(0)
        return self.at_once(message)


class WorkingBounded(Working):
    capacity = 50
    overflow = "reject"


class WorkingDropping(Working):
    capacity = 50
    overflow = "drop_oldest"


class WorkingBlocked(Working):
    capacity = 50
    overflow = "block"


class WorkingOnThread(BlockingActor):
    expected_errors = ()
    tally: ClassVar[Tally]

    def on_receive(self, message: Numbered) -> int:
        self.tally.note(message.sender, message.number)
        if message.kind == "fail":
            self.tally.count("failed")
            raise Boom
        self.tally.count("handled")
        return message.number


def send_many(
    name: str, refs: list[ActorRef[Any]], tally: Tally, count: int, seed: int
) -> list[Reply[Any]]:
    """Send numbered messages, told and asked, to one actor after the other."""
    chance = random.Random(seed)
    replies: list[Reply[Any]] = []
    for number in range(count):
        roll = chance.random()
        kind = "fail" if roll < 0.01 else "slow" if roll < 0.05 else "plain"
        message = Numbered(f"{name}->{number % len(refs)}", number, kind)
        ref = refs[number % len(refs)]
        try:
            if chance.random() < 0.5:
                ref.tell(message)
            else:
                replies.append(ref.ask(message, block=False))
        except ActorDeadError:
            tally.count("refused as dead")
        except MailboxFull:
            tally.count("refused as full")
    return replies


@pytest.mark.parametrize(
    "kind", [Working, WorkingBounded, WorkingDropping, WorkingBlocked, WorkingOnThread]
)
@pytest.mark.parametrize("uvloop", [False, True], ids=["asyncio", "uvloop"])
def test_handled_and_failed_and_dead_are_what_was_sent(kind: Any, uvloop: bool) -> None:
    tally = kind.tally = Tally()
    senders, count = 4, 1500
    with ActorSystem("stress", uvloop=uvloop, loop_watch_s=None) as system:
        supervisor = system.spawn(Supervisor, max_restarts=10**6, window=1.0)
        refs = [supervisor.start_child(ChildSpec(kind)) for _ in range(4)]
        sending = [
            in_thread(lambda n=number: send_many(f"s{n}", refs, tally, count, n))  # type: ignore[misc]
            for number in range(senders)
        ]
        refs[0].stop(timeout=LIMIT_S, mode="now")
        refs[1].stop(timeout=LIMIT_S, mode="drain")
        supervisor.restart_child(refs[2], timeout=LIMIT_S)
        replies = [reply for sent in sending for reply in sent.get(timeout=LIMIT_S)]
        supervisor.stop(timeout=LIMIT_S)
        answers = Counter(outcome(reply) for reply in replies)
        sent = senders * count
        dead = system.dead_letters.count
        full = tally.fates["refused as full"] + answers["full and not dropped"]
        assert tally.fates["handled"] + tally.fates["failed"] + dead + full == sent
        assert answers.total() == len(replies)
        assert answers["never answered"] == 0
    if kind is not WorkingDropping:
        assert_order(tally)


def outcome(reply: Reply[Any]) -> str:
    """How an ask was answered."""
    try:
        reply.get(timeout=LIMIT_S)
    except Boom:
        return "failed"
    except ActorDeadError:
        return "dead"
    except MailboxFull as error:
        return "dropped" if "dropped" in str(error) else "full and not dropped"
    except Cancelled:
        return "cancelled"
    return "answered"


def assert_order(tally: Tally) -> None:
    """What one sender sent to one actor was begun in the order it was sent."""
    for numbers in tally.order.values():
        assert numbers == sorted(numbers)
        assert len(numbers) == len(set(numbers))


def test_asks_and_stops_at_the_same_moment_are_each_answered_once() -> None:
    """Many short lives, each ended by one thread while another asks."""
    with ActorSystem("race", uvloop=False, loop_watch_s=None) as system:
        for _ in range(300):
            ref = system.spawn(Working)
            Working.tally = Tally()
            go = threading.Barrier(2)

            def ask(ref: Any = ref, go: Any = go) -> list[Reply[Any]]:
                go.wait(LIMIT_S)
                return [ref.ask(Numbered("s", n, "plain"), block=False) for n in range(5)]

            asking = in_thread(ask)
            go.wait(LIMIT_S)
            ref.stop(block=False)
            answers = [outcome(reply) for reply in asking.get(timeout=LIMIT_S)]
            assert set(answers) <= {"answered", "dead"}
            assert answers == sorted(answers)  # once dead, dead


def test_answers_taken_back_at_random_are_dropped_or_too_late_never_both() -> None:
    tally = Working.tally = Tally()
    with ActorSystem("cancel", uvloop=False, loop_watch_s=None) as system:
        ref = system.spawn(Working)
        chance = random.Random(1)
        replies = [
            ref.ask(Numbered("s", n, chance.choice(["plain", "slow"])), block=False)
            for n in range(3000)
        ]
        cancelled = sum(reply.cancel() for reply in replies if chance.random() < 0.5)
        ref.stop(timeout=LIMIT_S)
        answers = Counter(outcome(reply) for reply in replies)
        assert answers["cancelled"] == cancelled
        assert answers["answered"] + answers["cancelled"] == 3000
        begun = sum(len(numbers) for numbers in tally.order.values())
        assert begun + system.dead_letters.count == 3000


@pytest.mark.parametrize("strategy", ["one_for_one", "one_for_all", "rest_for_one"])
@pytest.mark.parametrize("seed", range(4))
def test_random_trees_under_random_trouble_come_to_rest_and_to_an_end(
    strategy: Any, seed: int
) -> None:
    """Supervisors three deep; children fail, stop themselves, are stopped, restarted and spawned anew."""
    chance = random.Random(seed)
    tally = Working.tally = Tally()
    starts: list[str] = []

    class Leaf(Working):
        def on_start(self) -> None:
            starts.append(self.actor_urn)
            if chance.random() < 0.05:
                raise Boom

    def subtree(depth: int) -> ChildSpec:
        kinds: Any = ["permanent", "transient", "temporary"]
        if depth == 0:
            return ChildSpec(Leaf, restart=chance.choice(kinds))
        settings = {
            "strategy": strategy,
            "max_restarts": chance.choice([1, 5, 1000]),
            "window": 1.0,
            "backoff": chance.choice([None, Backoff(initial=0.001, maximum=0.002)]),
        }
        return ChildSpec(Supervisor, ([subtree(depth - 1) for _ in range(3)],), settings)

    with ActorSystem("trees", uvloop=False, loop_watch_s=None) as system:
        top = system.spawn(Supervisor, strategy=strategy, max_restarts=10**6, window=1.0)
        for _ in range(3):
            try:
                top.start_child(subtree(2), timeout=LIMIT_S)
            except Exception:
                continue  # a leaf failed its first start
        sent, asked = 0, list[Reply[Any]]()
        for step in range(400):
            refs = system.registry.of_class(Leaf)
            if not refs:
                break
            ref = chance.choice(refs)
            kind = chance.choice(["plain"] * 6 + ["slow", "fail", "stop"])
            action = chance.random()
            if action < 0.9:
                asked.append(ref.ask(Numbered("s", step, kind), block=False))
                sent += 1
            elif action < 0.95:
                ref.stop(block=False, mode=chance.choice(["drain", "now"]))
            else:
                system.spawn(Leaf, supervisor=top)
        assert top.stop(timeout=LIMIT_S)
        answers = Counter(outcome(reply) for reply in asked)
        assert answers.total() == sent
        assert tally.fates["handled"] + tally.fates["failed"] + system.dead_letters.count == sent
        until(lambda: not system.registry.of_class(Leaf))
        assert system.abandoned_work == []
        assert len(system.registry) == 3  # root, services, user


def test_control_never_reaches_the_next_incarnation_under_stress() -> None:
    """A stop the actor asked for itself and a failure race; whichever wins, the next one lives."""
    lives: list[int] = []

    class Torn(Actor):
        expected_errors = ()

        def on_start(self) -> None:
            lives.append(1)

        def on_receive(self, message: Any) -> Any:
            if message == "tear":
                self.stop()
                self.fail(Boom())
                self.stop()
            return len(lives)

    with ActorSystem("torn", uvloop=False, loop_watch_s=None) as system:
        supervisor = system.spawn(Supervisor, max_restarts=10**6, window=1.0)
        ref = supervisor.start_child(ChildSpec(Torn))
        for number in range(500):
            ref.tell("tear")
            assert ref.ask("how many", timeout=LIMIT_S) == number + 2
        assert len(lives) == 501


def test_blocked_senders_of_many_threads_all_get_through_or_are_told(
    system: ActorSystem,
) -> None:
    tally = WorkingBlocked.tally = Tally()
    ref, held = system.spawn(WorkingBlocked), Held()

    def send(name: str) -> int:
        got_through = 0
        for number in range(200):
            try:
                ref.tell(Numbered(name, number, "plain"))
            except ActorDeadError:
                break
            got_through += 1
        return got_through

    senders = [in_thread(lambda n=n: send(f"s{n}")) for n in range(6)]  # type: ignore[misc]
    total = sum(sender.get(timeout=LIMIT_S) for sender in senders)
    ref.stop(timeout=LIMIT_S)
    assert total == tally.fates["handled"] == 1200
    assert_order(tally)
    held.release()
