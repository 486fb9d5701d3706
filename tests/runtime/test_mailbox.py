"""The mailbox: what a full one does, and that nothing falls between put and close."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from runtime import (
    Actor,
    ActorDeadError,
    ActorRef,
    ActorSystem,
    AskCycle,
    BlockingActor,
    BlockingCallOnLoop,
    DeadLetter,
    MailboxFull,
    MisuseError,
    Reply,
    delivery,
)
from runtime.mailbox import BoundedMailbox, Mailbox, WatchNotice
from tests.runtime.players import LIMIT_S, Held, PausingDeque, Player, in_thread, until


class Small(Player):
    """Room for two messages."""

    capacity = 2


class SmallBlock(Player):
    capacity = 1
    overflow = "block"


class SmallOldest(Player):
    capacity = 2
    overflow = "drop_oldest"


class SmallNewest(Player):
    capacity = 2
    overflow = "drop_newest"


def busy(system: ActorSystem, kind: type[Player]) -> tuple[ActorRef[Any], Held]:
    """An actor that handles a message until it is let go, so that its mailbox fills."""
    ref, held = system.spawn(kind), Held()
    ref.tell(held.awork)
    held.wait()
    return ref, held


def say(word: str, heard: list[str]) -> Any:
    """A message that adds a word to what was heard."""
    return lambda _: heard.append(word)


# -- nothing falls between put and close -----------------------------------------------------------


def test_an_ask_that_saw_the_mailbox_open_is_answered_although_the_actor_stops_before_it_is_in(
    any_system: ActorSystem,
) -> None:
    ref = any_system.spawn(Player)
    ref.ask(lambda _: None, timeout=LIMIT_S)
    mailbox = ref._cell.mailbox
    assert mailbox is not None
    mailbox._items = PausingDeque()
    sent = in_thread(lambda: ref.ask(lambda _: "handled", block=False))
    assert mailbox._items.reached.wait(LIMIT_S)
    assert ref.stop(timeout=LIMIT_S)
    mailbox._items.go_on.set()
    reply = sent.get(timeout=LIMIT_S)
    with pytest.raises(ActorDeadError):
        reply.get(timeout=LIMIT_S)
    assert any_system.dead_letters.count == 1


def test_a_tell_in_the_same_race_becomes_exactly_one_dead_letter(system: ActorSystem) -> None:
    ref = system.spawn(Player)
    ref.ask(lambda _: None, timeout=LIMIT_S)
    mailbox = ref._cell.mailbox
    assert mailbox is not None
    mailbox._items = PausingDeque()
    sent = in_thread(lambda: ref.tell("late"))
    assert mailbox._items.reached.wait(LIMIT_S)
    ref.stop(timeout=LIMIT_S)
    mailbox._items.go_on.set()
    sent.get(timeout=LIMIT_S)
    assert [letter.message for letter in system.dead_letters.newest()] == ["late"]


def test_a_bounded_mailbox_in_the_same_race_gives_the_ask_exactly_one_answer(
    system: ActorSystem,
) -> None:
    ref = system.spawn(Small)
    ref.ask(lambda _: None, timeout=LIMIT_S)
    mailbox = ref._cell.mailbox
    assert mailbox is not None
    mailbox._items = PausingDeque()
    sent = in_thread(lambda: ref.ask(lambda _: "handled", block=False))
    assert mailbox._items.reached.wait(LIMIT_S)
    stopped = ref.stop(block=False, mode="now")
    mailbox._items.go_on.set()
    assert stopped.get(timeout=LIMIT_S)
    reply = sent.get(timeout=LIMIT_S)
    with pytest.raises(ActorDeadError):
        reply.get(timeout=LIMIT_S)


def test_a_closed_mailbox_takes_nothing() -> None:
    buried: list[Any] = []
    mailbox = Mailbox(lambda item, _: buried.append(item))
    mailbox.put(1)
    mailbox.close()
    assert mailbox.put(2) == "closed"
    assert mailbox.force(3) == "closed"
    mailbox.drain()
    assert buried == [1]


def test_items_put_back_come_first_and_in_their_order() -> None:
    mailbox = Mailbox(lambda *_: None)
    mailbox.put(3)
    mailbox.put_back([1, 2])
    assert [mailbox.pop() for _ in range(3)] == [1, 2, 3]


# -- overflow --------------------------------------------------------------------------------------


def test_reject_raises_in_the_sender_and_the_message_has_no_other_fate(system: ActorSystem) -> None:
    ref, held = busy(system, Small)
    heard: list[str] = []
    ref.tell(say("one", heard))
    ref.tell(say("two", heard))
    with pytest.raises(MailboxFull, match="holds 2 messages"):
        ref.tell(say("three", heard))
    with pytest.raises(MailboxFull):
        ref.ask(say("four", heard), timeout=LIMIT_S)
    held.release()
    ref.stop(timeout=LIMIT_S)
    assert heard == ["one", "two"]
    assert system.dead_letters.count == 0


def test_drop_oldest_makes_the_oldest_one_a_dead_letter_and_tells_its_asker(
    system: ActorSystem,
) -> None:
    ref, held = busy(system, SmallOldest)
    heard: list[str] = []
    oldest = ref.ask(say("one", heard), block=False)
    ref.tell(say("two", heard))
    ref.tell(say("three", heard))
    with pytest.raises(MailboxFull, match="dropped"):
        oldest.get(timeout=LIMIT_S)
    held.release()
    ref.stop(timeout=LIMIT_S)
    assert heard == ["two", "three"]
    assert [letter.reason for letter in system.dead_letters.newest()] == ["overflow"]


def test_drop_newest_makes_the_new_one_a_dead_letter_and_tells_its_asker(
    system: ActorSystem,
) -> None:
    ref, held = busy(system, SmallNewest)
    heard: list[str] = []
    ref.tell(say("one", heard))
    ref.tell(say("two", heard))
    ref.tell(say("three", heard))
    with pytest.raises(MailboxFull, match="dropped"):
        ref.ask(say("four", heard), timeout=LIMIT_S)
    held.release()
    ref.stop(timeout=LIMIT_S)
    assert heard == ["one", "two"]
    assert system.dead_letters.count == 2


def test_drop_oldest_never_drops_a_notice_of_the_runtime(system: ActorSystem) -> None:
    ref, held = busy(system, SmallOldest)
    heard: list[str] = []
    mailbox = ref._cell.mailbox
    assert mailbox is not None
    mailbox.force(WatchNotice(say("notice", heard), 0))
    ref.tell(say("one", heard))
    ref.tell(say("two", heard))
    mailbox.force(WatchNotice(say("second notice", heard), 0))
    held.release()
    ref.stop(timeout=LIMIT_S)
    assert heard == ["notice", "two", "second notice"]


def test_drop_oldest_drops_the_new_one_when_only_notices_wait() -> None:
    buried: list[Any] = []
    mailbox = BoundedMailbox(lambda item, _: buried.append(item), 1, "drop_oldest")
    mailbox.force(WatchNotice("notice", 0))
    assert mailbox.put("new") == "dropped"
    assert buried == ["new"]


def test_a_sender_about_to_wait_for_room_is_told_that_the_actor_has_stopped(
    system: ActorSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    ref, held = busy(system, SmallBlock)
    ref.tell(lambda _: None)
    real, refused = delivery.put_if_room, list[str]()

    def full_and_then_stopped(life: Any, item: Any) -> Any:
        outcome = real(life, item)
        refused.append(outcome)
        if outcome == "full":
            held.release()
            ref.stop(timeout=LIMIT_S)
        return outcome

    monkeypatch.setattr(delivery, "put_if_room", full_and_then_stopped)
    with pytest.raises(ActorDeadError):
        ref.tell("late")
    assert refused == ["full", "closed"]


def test_dead_letters_of_a_full_mailbox_are_published(system: ActorSystem) -> None:
    letters: list[DeadLetter] = []
    system.events.subscribe(letters.append, DeadLetter)
    ref, held = busy(system, SmallNewest)
    for number in range(3):
        ref.tell(number)
    assert [(letter.message, letter.reason) for letter in letters] == [(2, "overflow")]
    held.release()
    ref.stop(mode="now", timeout=LIMIT_S)


def test_block_makes_a_thread_wait_for_room(system: ActorSystem) -> None:
    ref, held = busy(system, SmallBlock)
    heard: list[str] = []
    ref.tell(say("one", heard))
    sent = in_thread(lambda: ref.tell(say("two", heard)))
    waiting_for_room(ref)
    held.release()
    sent.get(timeout=LIMIT_S)
    ref.stop(timeout=LIMIT_S)
    assert heard == ["one", "two"]


def test_block_on_the_loop_is_refused_and_names_offer(system: ActorSystem) -> None:
    ref, held = busy(system, SmallBlock)
    ref.tell(lambda _: None)
    sender = system.spawn(Player)
    with pytest.raises(BlockingCallOnLoop, match=r"await ref\.offer"):
        sender.ask(lambda _: ref.tell("more"), timeout=LIMIT_S)
    held.release()


def test_blocked_senders_are_freed_when_the_actor_stops(system: ActorSystem) -> None:
    ref, held = busy(system, SmallBlock)
    ref.tell(lambda _: None)
    senders = [in_thread(lambda: ref.tell("late")) for _ in range(3)]
    offer = system.spawn(Player).ask(lambda _: ref.offer("late"), block=False)
    waiting_for_room(ref, 4)
    stopped = ref.stop(block=False, mode="now")
    for sender in (*senders, offer):
        with pytest.raises(ActorDeadError):
            sender.get(timeout=LIMIT_S)
    held.release()
    assert stopped.get(timeout=LIMIT_S)


def waiting_for_room(ref: ActorRef[Any], senders: int = 1) -> None:
    """Wait until so many senders wait for room in the mailbox."""
    mailbox = ref._cell.mailbox
    assert isinstance(mailbox, BoundedMailbox)
    until(lambda: len(mailbox._offers) == senders)


# -- offer -----------------------------------------------------------------------------------------


def test_offer_waits_for_room_on_the_loop_whatever_the_rule(any_system: ActorSystem) -> None:
    for kind in (Small, SmallBlock, SmallOldest, SmallNewest):
        ref, held = busy(any_system, kind)
        heard: list[str] = []
        words = [str(number) for number in range(5)]

        async def offer_all(_: Any, ref: Any = ref, heard: Any = heard, words: Any = words) -> None:
            for word in words:
                await ref.offer(say(word, heard))

        offered = any_system.spawn(Player).ask(offer_all, block=False)
        waiting_for_room(ref)
        held.release()
        offered.get(timeout=LIMIT_S)
        ref.stop(timeout=LIMIT_S)
        assert heard == words
    assert any_system.dead_letters.count == 0


def test_offer_works_from_a_loop_of_ones_own(system: ActorSystem) -> None:
    ref, held = busy(system, SmallBlock)
    heard: list[str] = []

    async def main() -> None:
        await ref.offer(say("one", heard))
        second = asyncio.create_task(ref.offer(say("two", heard)))
        await asyncio.sleep(0)
        held.release()
        await asyncio.wait_for(second, LIMIT_S)

    asyncio.run(main())
    ref.stop(timeout=LIMIT_S)
    assert heard == ["one", "two"]


def test_an_ask_may_wait_for_room_and_then_for_its_answer(system: ActorSystem) -> None:
    ref, held = busy(system, SmallBlock)
    ref.tell(lambda _: None)

    async def main() -> list[Any]:
        asks = [asyncio.create_task(ref.aask_when_room(lambda _, n=n: n)) for n in range(3)]
        given_up = asyncio.create_task(ref.aask_when_room(lambda _: pytest.fail("it was given up")))
        await asyncio.sleep(0)
        given_up.cancel()
        held.release()
        return await asyncio.wait_for(asyncio.gather(*asks), LIMIT_S)

    assert asyncio.run(main()) == [0, 1, 2]
    ref.stop(timeout=LIMIT_S)
    with pytest.raises(ActorDeadError):
        asyncio.run(ref.aask_when_room("late"))


def test_an_offer_that_is_overtaken_waits_again_under_the_rule_block(system: ActorSystem) -> None:
    """The room an offer was told of is taken by a tell before the offer runs."""
    ref, held = busy(system, SmallBlock)
    ref.tell(lambda _: None)
    heard: list[str] = []

    async def offer(_: Any) -> None:
        await ref.offer(say("offered", heard))

    offered = system.spawn(Player).ask(offer, block=False)
    waiting_for_room(ref)
    mailbox = ref._cell.mailbox
    assert isinstance(mailbox, BoundedMailbox)
    mailbox._tell_of_room()  # as `pop` does, with the room gone again at once
    waiting_for_room(ref)
    held.release()
    offered.get(timeout=LIMIT_S)
    ref.stop(timeout=LIMIT_S)
    assert heard == ["offered"]


def test_room_that_a_cancelled_offer_was_told_of_goes_to_the_next_sender(
    system: ActorSystem,
) -> None:
    """Without that the second sender would wait for ever: the mailbox is empty, nothing is taken."""
    ref, held = busy(system, SmallBlock)
    ref.tell(lambda _: None)
    heard: list[str] = []
    mailbox = ref._cell.mailbox
    assert isinstance(mailbox, BoundedMailbox)

    async def main(_: Any) -> None:
        first = asyncio.create_task(ref.offer(say("first", heard)))
        second = asyncio.create_task(ref.offer(say("second", heard)))
        while len(mailbox._offers) < 2:
            await asyncio.sleep(0)
        mailbox.pop()  # as the actor would; it tells the first sender
        first.cancel()
        await asyncio.wait([first])
        assert first.cancelled()
        await asyncio.wait_for(second, LIMIT_S)

    system.spawn(Player).ask(main, timeout=LIMIT_S)
    held.release()
    ref.stop(timeout=LIMIT_S)
    assert heard == ["second"]


def test_an_offer_to_a_dead_actor_raises(system: ActorSystem) -> None:
    ref = system.spawn(SmallBlock)
    ref.stop(timeout=LIMIT_S)
    with pytest.raises(ActorDeadError):
        asyncio.run(ref.offer("late"))


def test_waiting_for_room_at_an_actor_that_waits_for_the_sender_is_a_ring(
    system: ActorSystem,
) -> None:
    sender, ref = system.spawn(Player), system.spawn(SmallBlock)
    ready: Reply[None] = Reply()

    async def ask_sender(_: Any) -> Any:
        answer = sender.aask(lambda _: "never")
        ready.settle()
        return await answer

    async def offer_twice(_: Any) -> None:
        asked = ref.aask(ask_sender)
        await ready
        await ref.offer(lambda _: None)
        await ref.offer(lambda _: None)
        await asked

    with pytest.raises(AskCycle):
        sender.ask(offer_twice, timeout=LIMIT_S)


def test_a_blocking_actor_that_waits_for_room_in_a_ring_is_refused_as_well(
    system: ActorSystem,
) -> None:
    class Sender(BlockingActor):
        def on_receive(self, message: Any) -> Any:
            return message(self)

    sender, ref = system.spawn(Sender), system.spawn(SmallBlock)
    ready: Reply[None] = Reply()

    async def ask_sender(_: Any) -> Any:
        answer = sender.aask(lambda _: "never")
        ready.settle()
        return await answer

    def tell_twice(_: Any) -> None:
        ref.tell(ask_sender)
        ready.get(timeout=LIMIT_S)
        ref.tell(lambda _: None)
        ref.tell(lambda _: None)

    with pytest.raises(AskCycle):
        sender.ask(tell_twice, timeout=LIMIT_S)


# -- settings and order ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "value"), [("capacity", 0), ("capacity", -1), ("overflow", "explode")]
)
def test_a_mailbox_that_cannot_be_is_refused_when_the_class_is_made(
    setting: str, value: Any
) -> None:
    with pytest.raises(MisuseError, match=setting):
        type("Wrong", (Actor,), {setting: value})


def test_a_taken_back_message_counts_as_a_dead_letter_and_is_not_handled(
    system: ActorSystem,
) -> None:
    ref, held = busy(system, Player)
    heard: list[str] = []
    asked = ref.ask(say("taken back", heard), block=False)
    assert asked.cancel()
    held.release()
    ref.stop(timeout=LIMIT_S)
    assert heard == []
    assert [letter.reason for letter in system.dead_letters.newest()] == ["cancelled"]


def test_a_notice_of_the_runtime_is_no_dead_letter(system: ActorSystem) -> None:
    ref, held = busy(system, Player)
    mailbox = ref._cell.mailbox
    assert mailbox is not None
    mailbox.force(WatchNotice("notice", 0))
    held.release()
    ref.stop(mode="now", timeout=LIMIT_S)
    assert system.dead_letters.count == 0


def test_order_from_one_sender_is_kept_with_asks_and_tells_mixed(system: ActorSystem) -> None:
    ref = system.spawn(Player)
    heard: list[int] = []
    for number in range(500):
        if number % 3:
            ref.tell(lambda _, number=number: heard.append(number))
        else:
            ref.ask(lambda _, number=number: heard.append(number), block=False)
    ref.stop(timeout=LIMIT_S)
    assert heard == list(range(500))


def test_a_flooded_actor_stands_once_in_the_run_queue(system: ActorSystem) -> None:
    """Else it would get more turns the longer it is flooded, and its neighbours fewer."""
    ref = system.spawn(Player)
    cell: Any = ref._cell
    most = 0

    def count(_: Any) -> None:
        nonlocal most
        ref.tell(lambda _: None)  # as a sender on another thread does in the middle of a slice
        most = max(most, sum(waiting is cell for waiting in system.loop_thread.ready))

    for _ in range(2000):
        ref.tell(count)
    ref.stop(timeout=LIMIT_S)
    assert most <= 2
