"""Worker threads: the limit, what was given up, closing, and that virtual time waits for them."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from runtime import ActorSystem, Cancelled, Timeout, WorkerThreads
from runtime.testing import VirtualSystem
from tests.runtime.players import LIMIT_S, Boom, Held, Player, until


def workers_of(system: ActorSystem, limit: int = 2) -> WorkerThreads:
    """Workers that shutdown closes."""
    return system.worker_threads("test", limit=limit)


def test_results_and_errors_come_back(system: ActorSystem) -> None:
    workers = workers_of(system)
    assert workers.submit(lambda a, b: a + b, 1, 2).get(timeout=LIMIT_S) == 3
    failed = workers.submit(lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        failed.get(timeout=LIMIT_S)


def test_no_more_threads_than_the_limit_and_jobs_in_order(system: ActorSystem) -> None:
    workers, held = workers_of(system, 2), [Held(), Held(), Held()]
    jobs = [workers.submit(one.work) for one in held]
    held[0].wait()
    held[1].wait()
    assert not held[2].begun.done()
    held[0].release()
    held[2].wait()
    for one in held:
        one.release()
    assert [job.get(timeout=LIMIT_S) for job in jobs] == ["done"] * 3
    assert len(workers._threads) == 2


def test_a_job_cancelled_before_it_began_is_not_run(system: ActorSystem) -> None:
    workers, held = workers_of(system, 1), Held()
    ran: list[int] = []
    first = workers.submit(held.work)
    second = workers.submit(lambda: ran.append(1))
    assert second.cancel()
    held.release()
    first.get(timeout=LIMIT_S)
    workers.submit(lambda: None).get(timeout=LIMIT_S)
    assert ran == []
    assert workers._pending == 0


def test_a_running_job_that_was_given_up_makes_room_for_another_thread(
    system: ActorSystem,
) -> None:
    workers, held = workers_of(system, 1), Held()

    async def give_up(_: Any) -> str:
        task = asyncio.create_task(workers.run(held.work))
        await held.begun
        task.cancel()
        await asyncio.wait([task])
        return str(await workers.run(lambda: "next"))

    assert system.spawn(Player).ask(give_up, timeout=LIMIT_S) == "next"
    held.release()
    until(lambda: workers._given_up == 0 and workers._pending == 0)
    assert system.loop_thread.outside_work == 0


def test_cancelling_the_reply_gives_a_running_job_up(system: ActorSystem) -> None:
    workers, held = workers_of(system, 1), Held()
    stuck = workers.submit(held.work)
    held.wait()
    assert stuck.cancel()
    assert workers.submit(lambda: "next").get(timeout=LIMIT_S) == "next"
    held.release()
    until(lambda: workers._given_up == 0 and workers._pending == 0)


def test_a_job_that_ended_is_not_given_up_any_more(system: ActorSystem) -> None:
    workers = workers_of(system, 1)
    jobs: list[Any] = []
    done = workers.submit(lambda: "done")
    jobs.append(done._owner)
    assert done.get(timeout=LIMIT_S) == "done"
    until(lambda: workers._pending == 0)
    workers.give_up(jobs[0])
    assert workers._given_up == 0


def test_work_outside_is_counted_back_also_when_it_fails(system: ActorSystem) -> None:
    workers = workers_of(system)
    jobs = [workers.submit(lambda: 1 // 0) for _ in range(20)]
    for job in jobs:
        with pytest.raises(ZeroDivisionError):
            job.get(timeout=LIMIT_S)
    until(lambda: system.loop_thread.outside_work == 0)
    assert workers._pending == 0


def test_closed_workers_take_nothing_and_end_their_threads(system: ActorSystem) -> None:
    workers, held = workers_of(system), Held()
    job = workers.submit(held.work)
    held.wait()
    workers.close()
    workers.close()
    with pytest.raises(RuntimeError, match="closed"):
        workers.submit(lambda: None)
    held.release()
    assert job.get(timeout=LIMIT_S) == "done"
    assert workers.join(LIMIT_S) == []


def test_jobs_that_no_thread_will_ever_take_are_answered(system: ActorSystem) -> None:
    workers, held = workers_of(system, 1), Held()
    running = workers.submit(held.work)
    held.wait()
    waiting = workers.submit(lambda: "never")
    workers.close()
    assert len(workers.join(0.0)) == 1
    with pytest.raises(RuntimeError, match="no thread was free"):
        waiting.get(timeout=LIMIT_S)
    held.release()
    assert running.get(timeout=LIMIT_S) == "done"
    assert workers.join(LIMIT_S) == []
    assert workers._pending == 0


def test_a_process_without_a_thread_to_give_says_so_and_counts_nothing(
    system: ActorSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers = workers_of(system)

    def refuse(_: Any) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError, match="can't start"):
            workers.submit(lambda: None)
    assert workers._pending == 0
    assert system.loop_thread.outside_work == 0
    assert workers.submit(lambda: 1).get(timeout=LIMIT_S) == 1


def test_a_job_that_raises_an_interrupt_only_fails_its_reply(system: ActorSystem) -> None:
    workers = workers_of(system, 1)

    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        workers.submit(interrupt).get(timeout=LIMIT_S)
    assert workers.submit(lambda: "next").get(timeout=LIMIT_S) == "next"


def test_shutdown_does_not_wait_for_each_of_many_stuck_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("runtime.shutdown.LOOP_END_S", 0.1)
    held = Held()
    with ActorSystem("stuck", uvloop=False) as system:
        for _ in range(20):
            workers_of(system, 1).submit(held.work)
        groups = list(system._workers)
        system.shutdown(timeout=LIMIT_S)
    assert len(system.abandoned_work) == 20
    assert all("a job that did not end" in named for named in system.abandoned_work)
    held.release()
    for group in groups:
        assert group.join(LIMIT_S) == []


def test_virtual_time_stands_while_a_worker_works(virtual: VirtualSystem) -> None:
    workers, held = workers_of(virtual), Held()

    async def work_or_time_out(_: Any) -> str:
        return str(await asyncio.wait_for(workers.run(held.work), 3600))

    asked = virtual.spawn(Player).ask(work_or_time_out, block=False)
    held.wait()
    with pytest.raises(Timeout):
        asked.get(timeout=0.05)
    assert virtual.clock() == 0
    held.release()
    assert asked.get(timeout=LIMIT_S) == "done"
    assert virtual.clock() == 0


def test_given_up_jobs_raise_cancelled_for_whoever_waits(system: ActorSystem) -> None:
    workers, held = workers_of(system, 1), Held()
    job = workers.submit(held.work)
    held.wait()
    job.cancel()
    with pytest.raises(Cancelled):
        job.get(timeout=LIMIT_S)
    held.release()


def test_an_error_is_raised_where_it_is_awaited(system: ActorSystem) -> None:
    workers = workers_of(system)

    def work() -> None:
        raise Boom

    async def run(_: Any) -> str:
        with pytest.raises(Boom):
            await workers.run(work)
        return "caught"

    assert system.spawn(Player).ask(run, timeout=LIMIT_S) == "caught"


def test_giving_a_job_up_in_a_process_without_a_thread_to_give_raises_nothing(
    system: ActorSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers, held = workers_of(system, 1), Held()
    job = workers.submit(held.work)
    waiting = workers.submit(lambda: "later")
    held.wait()

    def refuse(_: Any) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        assert job.cancel()
    held.release()
    assert waiting.get(timeout=LIMIT_S) == "later"
