"""The reply: settled once, readable from everywhere, taken back, mapped and joined."""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
import weakref
from typing import Any

import pykka
import pytest

from runtime import ActorSystem, AskCycle, BlockingCallOnLoop, Cancelled, Reply, Timeout, as_reply
from tests.runtime.players import LIMIT_S, Boom, Echo, Held, Player, Strict, in_thread, until

# -- settling --------------------------------------------------------------------------------------


def test_the_first_to_settle_wins_and_the_others_are_told() -> None:
    reply: Reply[int] = Reply()
    assert reply.settle(1)
    assert not reply.settle(2)
    assert reply.get() == 1


def test_of_many_threads_that_settle_at_once_exactly_one_wins() -> None:
    for _ in range(50):
        reply: Reply[int] = Reply()
        start = threading.Barrier(8)

        def settle(number: int, reply: Any = reply, start: Any = start) -> bool:
            start.wait(LIMIT_S)
            return bool(reply.settle(number))

        racers = [in_thread(lambda n=n, s=settle: s(n)) for n in range(8)]  # type: ignore[misc]
        wins = [racer.get(timeout=LIMIT_S) for racer in racers]
        assert wins.count(True) == 1
        assert reply.get() == wins.index(True)


def test_set_twice_raises() -> None:
    reply: Reply[int] = Reply()
    reply.set(1)
    with pytest.raises(RuntimeError, match="settled already"):
        reply.set(2)
    with pytest.raises(RuntimeError, match="settled already"):
        reply.set_exception(Boom())


def test_set_exception_takes_an_error_a_triple_or_the_one_being_handled() -> None:
    for arguments in ((Boom("x"),), ((Boom, Boom("x"), None),)):
        reply: Reply[int] = Reply()
        reply.set_exception(*arguments)
        with pytest.raises(Boom):
            reply.get()
    reply = Reply()
    try:
        raise Boom
    except Boom:
        reply.set_exception()
    with pytest.raises(Boom):
        reply.get()
    with pytest.raises(RuntimeError, match="needs an exception"):
        Reply().set_exception()


def test_a_callback_that_raises_is_logged_and_the_others_are_called(
    caplog: pytest.LogCaptureFixture,
) -> None:
    reply: Reply[int] = Reply()
    called: list[int] = []

    def wrong(_: Reply[int]) -> None:
        raise Boom

    reply.add_done_callback(wrong)
    reply.add_done_callback(lambda done: called.append(done.get()))
    with caplog.at_level(logging.ERROR, "greenroom"):
        assert reply.settle(1)
        reply.add_done_callback(wrong)
    assert called == [1]
    assert caplog.text.count("reply_callback_failed") == 2


def test_a_callback_that_raises_does_not_stop_the_system_that_settles(system: ActorSystem) -> None:
    """Out of the drain of the run queue it would leave the loop without a next one."""
    held = Held()
    ref = system.spawn(Player)
    ref.tell(held.awork)
    asked = ref.ask(lambda _: "done", block=False)

    def wrong(_: Any) -> None:
        raise Boom

    asked.add_done_callback(wrong)
    held.release()
    assert asked.get(timeout=LIMIT_S) == "done"
    assert ref.ask(lambda _: "alive", timeout=LIMIT_S) == "alive"


# -- waiting ---------------------------------------------------------------------------------------


def test_get_times_out_and_the_ask_goes_on(system: ActorSystem) -> None:
    held = Held()
    asked = system.spawn(Player).ask(held.awork, block=False)
    with pytest.raises(Timeout):
        asked.get(timeout=0)
    held.release()
    assert asked.get(timeout=LIMIT_S) == "done"


def test_waits_that_ran_out_of_time_leave_nothing_in_the_reply() -> None:
    reply: Reply[int] = Reply()
    for _ in range(3):
        with pytest.raises(Timeout):
            reply.get(timeout=0)
    assert not reply.has_listeners()


def test_get_on_the_loop_is_refused(any_system: ActorSystem) -> None:
    other = any_system.spawn(Echo)
    asked = any_system.spawn(Player).ask(
        lambda _: other.ask(1, block=False).get(timeout=LIMIT_S), block=False
    )
    with pytest.raises(BlockingCallOnLoop, match="await"):
        asked.get(timeout=LIMIT_S)


def test_a_blocking_ask_on_the_loop_is_refused_and_names_the_awaitable_form(
    any_system: ActorSystem,
) -> None:
    other = any_system.spawn(Echo)
    with pytest.raises(BlockingCallOnLoop, match=r"await ref\.aask"):
        any_system.spawn(Player).ask(lambda _: other.ask(1), timeout=LIMIT_S)


def test_a_blocking_ask_on_the_loop_of_another_system_is_refused_as_well(
    system: ActorSystem,
) -> None:
    with ActorSystem("other") as other:
        ref = other.spawn(Echo)
        with pytest.raises(BlockingCallOnLoop):
            system.spawn(Player).ask(lambda _: ref.ask(1), timeout=LIMIT_S)


def test_an_answer_that_is_there_already_may_be_got_on_the_loop(system: ActorSystem) -> None:
    reply: Reply[int] = Reply()
    reply.settle(7)
    assert system.spawn(Player).ask(lambda _: reply.get(), timeout=LIMIT_S) == 7


def test_a_reply_is_awaited_from_a_loop_of_ones_own(any_system: ActorSystem) -> None:
    ref = any_system.spawn(Echo)

    async def main() -> list[Any]:
        return await asyncio.gather(*(ref.aask(number) for number in range(50)))

    assert asyncio.run(main()) == list(range(50))


def test_actors_of_two_systems_await_each_other(system: ActorSystem) -> None:
    with ActorSystem("other") as other:
        far = other.spawn(Echo)

        async def ask(_: Any) -> Any:
            return await far.aask("far")

        assert system.spawn(Player).ask(ask, timeout=LIMIT_S) == "far"


def test_an_answer_for_a_loop_that_was_closed_meanwhile_is_dropped() -> None:
    reply: Reply[int] = Reply()
    loop = asyncio.new_event_loop()

    async def wait() -> None:
        await reply

    task = loop.create_task(wait())
    loop.run_until_complete(asyncio.sleep(0))
    task.cancel()
    loop.run_until_complete(asyncio.wait([task]))
    loop.close()
    assert not reply.settle(1)


def test_an_await_cut_by_wait_for_cancels_the_handler(any_system: ActorSystem) -> None:
    ref, held = any_system.spawn(Player), Held()
    ended: Reply[str] = Reply()

    async def work(_: Any) -> None:
        try:
            await held.awork()
        except asyncio.CancelledError:
            ended.settle("cancelled")
            raise

    async def main() -> None:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(ref.aask(work), 0.01)

    asyncio.run(main())
    if held.begun.done():
        assert ended.get(timeout=LIMIT_S) == "cancelled"
    assert ref.ask(lambda _: "free", timeout=LIMIT_S) == "free"


def test_the_timeout_of_an_aask_bounds_the_await_and_cancels_the_handler(virtual: Any) -> None:
    ref, held = virtual.spawn(Player), Held()

    async def ask(_: Any) -> None:
        with pytest.raises(Timeout, match="3600"):
            await ref.aask(held.awork, timeout=3600)

    virtual.spawn(Player).ask(ask, timeout=LIMIT_S)
    until(held.free.done)  # cancelled while it waited
    assert virtual.clock() == pytest.approx(3600)


# -- taking back -----------------------------------------------------------------------------------


def test_cancelling_an_unstarted_message_drops_it(system: ActorSystem) -> None:
    ref, held = system.spawn(Player), Held()
    handled: list[int] = []
    ref.tell(held.awork)
    asked = ref.ask(lambda _: handled.append(1), block=False)
    assert asked.cancel()
    assert not asked.cancel()
    held.release()
    with pytest.raises(Cancelled):
        asked.get(timeout=LIMIT_S)
    ref.stop(timeout=LIMIT_S)
    assert handled == []


def test_cancelling_a_running_async_handler_cancels_it_and_the_actor_lives(
    any_system: ActorSystem,
) -> None:
    ref, held = any_system.spawn(Player), Held()
    asked = ref.ask(held.awork, block=False)
    held.wait()
    asked.cancel()
    assert ref.ask(lambda _: "next", timeout=LIMIT_S) == "next"
    assert isinstance(held.free.exception(), Cancelled)


def test_cancelling_does_not_fail_an_actor_that_fails_for_every_error(system: ActorSystem) -> None:
    ref, held = system.spawn(Strict), Held()
    asked = ref.ask(held.awork, block=False)
    held.wait()
    asked.cancel()
    assert ref.ask(lambda _: "next", timeout=LIMIT_S) == "next"


def test_cancelling_background_work_cancels_its_task(any_system: ActorSystem) -> None:
    ref, held = any_system.spawn(Player), Held()
    asked = ref.ask(lambda self: self.background(held.awork()), block=False)
    held.wait()
    asked.cancel()
    until(held.free.done)
    assert isinstance(held.free.exception(), Cancelled)
    assert ref.is_alive()


def test_cancelling_after_the_answer_says_so(system: ActorSystem) -> None:
    asked = system.spawn(Echo).ask(1, block=False)
    assert asked.get(timeout=LIMIT_S) == 1
    assert not asked.cancel()


def test_a_blocking_ask_that_runs_out_of_time_takes_an_unstarted_message_back(
    system: ActorSystem,
) -> None:
    ref, held = system.spawn(Player), Held()
    handled: list[int] = []
    ref.tell(held.awork)
    held.wait()
    with pytest.raises(Timeout):
        ref.ask(lambda _: handled.append(1), timeout=0)
    held.release()
    ref.stop(timeout=LIMIT_S)
    assert handled == []


def test_a_blocking_ask_that_runs_out_of_time_lets_a_begun_handler_go_on(
    system: ActorSystem,
) -> None:
    ref, held = system.spawn(Player), Held()
    ended: Reply[str] = Reply()

    async def work(_: Any) -> None:
        ended.settle(await held.awork())

    asked = in_thread(lambda: ref.ask(work, timeout=0.05))
    held.wait()
    with pytest.raises(Timeout):
        asked.get(timeout=LIMIT_S)
    held.release()
    assert ended.get(timeout=LIMIT_S) == "done"


def test_a_reply_nobody_wants_is_dropped_with_its_value(system: ActorSystem) -> None:
    class Value:
        pass

    made: list[weakref.ref[Value]] = []

    def make(_: Any) -> Value:
        value = Value()
        made.append(weakref.ref(value))
        return value

    ref = system.spawn(Player)
    ref.ask(make, block=False)
    ref.ask(lambda _: None, timeout=LIMIT_S)
    gc.collect()
    assert made[0]() is None


# -- combinators -----------------------------------------------------------------------------------


def test_map_filter_and_reduce_do_what_pykkas_do(system: ActorSystem) -> None:
    ref = system.spawn(Echo)
    items = ref.ask([1, 2, 3, 4], block=False)
    assert items.map(len).get(timeout=LIMIT_S) == 4
    assert items.filter(lambda n: n % 2 == 0).get(timeout=LIMIT_S) == [2, 4]
    assert items.reduce(lambda a, b: a + b).get(timeout=LIMIT_S) == 10
    assert items.reduce(lambda a, b: a + b, 100).get(timeout=LIMIT_S) == 110


def test_reduce_of_nothing_raises_as_pykkas() -> None:
    empty: Reply[list[int]] = Reply()
    empty.settle([])
    with pytest.raises(TypeError, match="no initial value"):
        empty.reduce(lambda a, _: a).get()


def test_an_error_goes_through_every_combinator() -> None:
    failed: Reply[list[int]] = Reply()
    failed.settle(error=Boom())
    for derived in (failed.map(len), failed.filter(bool), failed.reduce(max), failed.join(Reply())):
        with pytest.raises(Boom):
            derived.get(timeout=LIMIT_S)


def test_an_error_of_the_mapping_function_is_the_outcome() -> None:
    reply: Reply[int] = Reply()
    mapped = reply.map(lambda n: 1 // n)
    reply.settle(0)
    with pytest.raises(ZeroDivisionError):
        mapped.get()


def test_join_keeps_the_order_of_its_parts_not_of_their_coming() -> None:
    first: Reply[int] = Reply()
    second: Reply[int] = Reply()
    joined = first.join(second)
    second.settle(2)
    first.settle(1)
    assert joined.get() == [1, 2]


def test_join_takes_plain_pykka_futures(system: ActorSystem) -> None:
    plain = pykka.ThreadingFuture[str]()
    joined = system.spawn(Echo).ask("ours", block=False).join(plain)
    plain.set("theirs")
    assert joined.get(timeout=LIMIT_S) == ["ours", "theirs"]
    assert plain.join(joined).get(timeout=LIMIT_S) == ["theirs", ["ours", "theirs"]]


def test_as_reply_makes_a_plain_pykka_future_awaitable(system: ActorSystem) -> None:
    plain = pykka.ThreadingFuture[str]()
    failed = pykka.ThreadingFuture[str]()

    async def wait(_: Any) -> Any:
        with pytest.raises(Boom):
            await as_reply(failed)
        return await as_reply(plain)

    waiting = system.spawn(Player).ask(wait, block=False)
    failed.set_exception((Boom, Boom(), None))
    plain.set("there")
    assert waiting.get(timeout=LIMIT_S) == "there"


def test_as_reply_returns_a_reply_itself() -> None:
    reply: Reply[int] = Reply()
    assert as_reply(reply) is reply


def test_a_lazy_reply_is_refused() -> None:
    with pytest.raises(NotImplementedError, match="map"):
        Reply[int]().set_get_hook(lambda _: 1)


# -- following -------------------------------------------------------------------------------------


def test_a_handler_may_answer_with_the_reply_of_another_actor(system: ActorSystem) -> None:
    other = system.spawn(Echo)
    ref = system.spawn(Player)
    assert ref.ask(lambda _: other.ask("far", block=False), timeout=LIMIT_S) == "far"


def test_following_a_reply_that_is_there_already_answers_at_once() -> None:
    done: Reply[int] = Reply()
    done.settle(1)
    follower: Reply[int] = Reply()
    follower.follow(done)
    assert follower.get() == 1


def test_chains_of_followers_end_with_the_last_answer_and_cancel_to_the_first() -> None:
    source: Reply[int] = Reply()
    chain: list[Reply[int]] = [source]
    for _ in range(5):
        follower: Reply[int] = Reply()
        follower.follow(chain[-1])
        chain.append(follower)
    assert chain[-1].cancel()
    assert isinstance(source.exception(), Cancelled)
    assert all(reply.done() for reply in chain)


def test_following_work_that_waits_for_the_asker_is_a_ring(system: ActorSystem) -> None:
    """The ring closes when the answer is handed to background work that asked the asker before."""
    asker, ref = system.spawn(Player), system.spawn(Player)
    asked_back: Reply[None] = Reply()

    async def ask_back() -> Any:
        answer = asker.aask(lambda _: "never")
        asked_back.settle()
        return await answer

    async def hand_over(self: Any) -> Any:
        work = self.background(ask_back())
        await asked_back
        await asyncio.sleep(0)
        return work

    async def ask(_: Any) -> Any:
        return await ref.aask(hand_over)

    with pytest.raises(AskCycle):
        asker.ask(ask, timeout=LIMIT_S)
