"""How an incarnation ends, and how an actor stops for good.

What can be done at once is done at once, without a task: stopping an actor whose hooks are plain
functions costs no turn of the loop. Ending is bounded: a running handler gets the child's `shutdown`
seconds (then it is cancelled, then given up), the end hook gets as much again. What is given up is named
in the log. Everything here runs on the loop thread but `abandon`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from types import CoroutineType
from typing import Any

from runtime.childspec import INFINITY, SHUTDOWN_S
from runtime.errors import ActorDeadError, ChildStartError, RuntimeFault
from runtime.events import ActorFailed, ActorStopped, log
from runtime.exits import Exit
from runtime.life import Life
from runtime.mailbox import CLOSED
from runtime.reply import Reply
from runtime.watching import end_watches, tell_watchers

LONGEST_FAILURE = 300
"""Most characters of a failure that errors for later messages repeat."""

GRACE_S = 1.0
"""Seconds that cancelled code has to end before it is given up."""


def halt(life: Life, exit: Exit) -> None:  # noqa: A002 - the domain's word
    """Ask for the end of the present incarnation. A stronger request replaces a weaker one.

    Never called while a handler of this actor is on the stack: an idle actor ends here and now.
    """
    if life.state == "stopped":
        return
    if exit.verdict == "final":
        life.close_mailbox()
        if exit.after < 0:
            _bury_waiting(life)
    if life.state == "waiting":
        _halt_waiting(life, exit)
        return
    exit_ = life.note_exit(exit)
    if life.state == "starting":
        if exit_.after < 0:
            _halt_starting(life)
    elif life.state == "running" and life.busy is None:
        _halt_idle(life, exit_)
    elif life.state == "running" and exit_.after < 0:
        _bound_handler(life)


def _bury_waiting(life: Life) -> None:
    """Nothing is handled any more: tell askers now, not when hooks and children have ended.

    A child may wait for such an answer, and its supervisor for the child.
    """
    if life.mailbox is not None:
        life.mailbox.drain()


def _halt_waiting(life: Life, exit_: Exit) -> None:
    if exit_.verdict == "final":
        _stopped(life, exit_.reason)
    elif exit_.verdict == "hold":
        life.answer_hold()


def _halt_starting(life: Life) -> None:
    if life.busy is not None:
        life.performer.cancel(life.busy)
        if life.shutdown_s != INFINITY:
            grace_s = life.performer.start_grace_s(life.shutdown_s)
            _unless_done(life, life.busy, grace_s, _give_up, "starting")


def _halt_idle(life: Life, exit_: Exit) -> None:
    waiting = len(life.mailbox) if life.mailbox is not None else 0
    if exit_.after <= 0 or not waiting:
        end(life)
    else:
        life.schedule()


def _bound_handler(life: Life) -> None:
    task = life.busy
    assert task is not None
    if type(life.instance).cancel_on_stop or life.shutdown_s <= 0:
        _cancel_handler_task(life, task)
    elif life.shutdown_s != INFINITY:
        _unless_done(life, task, life.shutdown_s, _cancel_handler_task)


def _unless_done(
    life: Life,
    task: asyncio.Future[Any],
    delay_s: float,
    function: Callable[..., None],
    *args: Any,
) -> None:
    """Call `function(life, task, *args)` in `delay_s` seconds if the task still runs then."""
    handle = life.host.loop_thread.loop.call_later(delay_s, function, life, task, *args)
    task.add_done_callback(lambda _: handle.cancel())  # or it would hold the dead actor until then


def _cancel_handler_task(life: Life, task: asyncio.Future[Any]) -> None:
    if life.busy is task:
        life.performer.cancel(task)
        _unless_done(life, task, GRACE_S, _give_up, "handling a message")


def _give_up(life: Life, task: asyncio.Future[Any], doing: str) -> None:
    if life.busy is not task or task.done():
        return
    life.host.abandoned(life.path, doing)
    _put_back(life, life.performer.give_up())
    life.busy = None
    task.cancel()
    if life.current is not None:
        life.current.reply.settle(
            error=ActorDeadError(f"actor {life.path} was stopped while handling it")
        )
        life.current = None
    if life.state == "starting":
        start_failed(life, ActorDeadError("on_start did not end"))
    else:
        end(life)


def _put_back(life: Life, items: list[Any]) -> None:
    """Items that were taken and not begun wait again, or are buried with the rest when it ends."""
    if items and life.mailbox is not None:
        life.mailbox.put_back(items)


def start_failed(life: Life, cause: BaseException) -> None:
    """The incarnation never was: no end hook; a first start is final, a restart is the supervisor's."""
    stopping = life.exit if life.exit is not None and life.exit.verdict != "ask" else None
    error = ChildStartError(f"actor {life.path} failed to start: {cause!r}")
    error.__cause__ = cause
    if stopping is None or stopping.after >= 0:  # else it was broken off
        log.error(
            "actor_failed",
            system=life.host.name,
            actor=life.path,
            during="start",
            exc_info=cause,
        )
        if life.host.events.wants(ActorFailed):
            life.host.events.publish(ActorFailed(life.path, error))
    if stopping is None:
        life.exit = Exit(error, "final" if life.incarnation == 0 else "ask")
    life.state = "ending"
    tasks = _release(life)
    if tasks or life.children:
        life.busy_with(_wind_up(life, tasks), partial(_start_wound_up, life, error))
    else:
        _not_started(life, error)


def _start_wound_up(life: Life, error: ChildStartError, task: asyncio.Future[Any]) -> None:
    _report_fault(life, task)
    if life.busy is task:
        _not_started(life, error)


def _not_started(life: Life, error: ChildStartError) -> None:
    replies: list[Reply[Any]] | None = None
    if (
        life.exit is None or life.exit.verdict != "hold"
    ):  # else it is started again, and then answered
        replies, life.start_replies = life.start_replies, None
    _ended(life)  # first, so that the name is free again when the caller is told
    for reply in replies or ():
        reply.settle(error=error)


def _release(life: Life) -> set[asyncio.Task[Any]]:
    if life.belongings is None:
        return set()
    end_watches(life)
    return life.belongings.release()


def end(life: Life) -> None:
    """End the incarnation now: children, belongings, hook; inline if nothing of it has to wait."""
    life.as_self(_end, life)


def _end(life: Life) -> None:
    exit_ = life.exit
    assert exit_ is not None
    life.state = "ending"
    if isinstance(exit_.reason, BaseException):
        log.error("actor_failed", system=life.host.name, actor=life.path, exc_info=exit_.reason)
        if life.host.events.wants(ActorFailed):
            life.host.events.publish(ActorFailed(life.path, exit_.reason))
    if exit_.verdict == "final":
        _bury_waiting(life)
    tasks = _release(life)
    if tasks or life.children:
        life.busy_with(_end_slowly(life, exit_, tasks), partial(_end_finished, life))
        return
    pending = _call_end_hook(life, exit_)
    if pending is None:
        _ended(life)
    else:
        life.busy_with(_await_hook(life, pending), partial(_end_finished, life))


def _call_end_hook(life: Life, exit_: Exit) -> Coroutine[Any, Any, Any] | None:
    if not life.performer.may_call(life.instance):
        return None
    try:
        pending = life.performer.call(_end_hook, life, exit_.reason)
    except Exception:  # noqa: BLE001 - the end goes on
        log.error("end_hook_failed", system=life.host.name, actor=life.path, exc_info=True)
        return None
    except BaseException as error:  # noqa: BLE001 - an interrupt stops this system, not the loop
        life.interrupted(error)
        return None
    return pending if type(pending) is CoroutineType else None


def _end_hook(life: Life, reason: Any) -> Any:
    if isinstance(reason, BaseException):
        return life.instance.on_failure(type(reason), reason, reason.__traceback__)
    return life.instance.on_stop()


async def _end_slowly(life: Life, exit_: Exit, tasks: set[asyncio.Task[Any]]) -> None:
    await _wind_up(life, tasks)
    pending = _call_end_hook(life, exit_)
    if pending is not None:
        await _await_hook(life, pending)


async def _wind_up(life: Life, tasks: set[asyncio.Task[Any]]) -> None:
    """Wait for cancelled tasks, within bounds, and stop the children."""
    if tasks:
        _, left = await asyncio.wait(tasks, timeout=max(GRACE_S, min(life.shutdown_s, SHUTDOWN_S)))
        for task in left:
            life.host.abandoned(life.path, f"background task {task.get_name()}")
    while life.children:  # again: one may have come meanwhile
        await stop_children(life)


async def _await_hook(life: Life, pending: Coroutine[Any, Any, Any]) -> None:
    hook = asyncio.ensure_future(pending)
    bound = None if life.shutdown_s == INFINITY else max(life.shutdown_s, GRACE_S)
    _, left = await asyncio.wait({hook}, timeout=bound)
    if left:
        life.performer.cancel(hook)
        _, left = await asyncio.wait({hook}, timeout=GRACE_S)
    if left:
        life.host.abandoned(life.path, "its end hook")
        life.performer.give_up()
        hook.cancel()
    elif not hook.cancelled() and hook.exception() is not None:
        log.error(
            "end_hook_failed", system=life.host.name, actor=life.path, exc_info=hook.exception()
        )


async def stop_children(life: Life) -> None:
    """Stop the children in reverse start order.

    A child of the supervisor's own list is waited for before the next one is told. Dynamic children
    are told in reverse order all at once, so that many busy ones share one `shutdown`.
    """
    told: list[Reply[bool]] = []
    for child in reversed(list(life.children or ())):
        if not child.dynamic:
            await _all(told)
        reply = child.stopped()
        halt(child, Exit("shutdown", "final"))
        if child.state != "stopped":
            told.append(reply)
    await _all(told)


def _report_fault(life: Life, task: asyncio.Future[Any]) -> None:
    if not task.cancelled() and task.exception() is not None:
        log.critical("runtime_fault", actor=life.path, exc_info=task.exception())


def _end_finished(life: Life, task: asyncio.Future[Any]) -> None:
    _report_fault(life, task)
    if life.busy is task:
        _ended(life)


def _ended(life: Life) -> None:
    """The incarnation is over; what follows is the verdict's."""
    exit_, life.exit = life.exit, None
    assert exit_ is not None
    life.busy = None
    life.awaiting = None  # what was given up may wait on, but not for this actor
    life.instance = None
    life.belongings = None
    life.incarnation += 1
    life.control = None
    life.state = "waiting"
    if exit_.verdict == "final" or life.parent is None:
        _stopped(life, exit_.reason)
    elif exit_.verdict == "hold":
        life.answer_hold()
    else:
        life.parent.tell_control(_child_ended, life, life.incarnation, exit_.reason)


def retire(life: Life, reason: Any) -> None:
    """The supervisor's decision not to restart: the actor has stopped for good."""
    if life.state == "waiting":
        _stopped(life, reason)


def refuse(life: Life) -> None:
    """It is not to start: its `__init__` raised, or the supervisor takes no children any more."""
    _release(life)
    life.state = "waiting"
    _stopped(life, "shutdown")


def abandon(life: Life) -> None:
    """The system ends without waiting: take no message more and answer everyone; from any thread."""
    life.close_mailbox()
    for item in life.performer.give_up():
        life.bury(item, "stopped")
    answer_everyone(life, f"actor {life.path} was abandoned at shutdown")
    tell_watchers(life, "shutdown")


def answer_everyone(life: Life, why: str) -> None:
    """Nothing of this actor will run any more: whoever waits for it gets ActorDeadError saying why."""
    if life.mailbox is not None:
        life.mailbox.drain()
    dead = ActorDeadError(why)
    if life.current is not None:
        life.current.reply.settle(error=dead)
    tasks = list(life.belongings.tasks) if life.belongings is not None else []
    for reply in (
        *(work.reply for work in tasks),
        *(life.start_replies or ()),
        *(life.stop_replies or ()),
    ):
        reply.settle(error=dead)


def _in_words(error: BaseException) -> str:
    """An error as a short text: the error itself would keep its frames, and all they hold, alive."""
    text = str(error) if isinstance(error, RuntimeFault) else repr(error)
    return text if len(text) <= LONGEST_FAILURE else f"{text[:LONGEST_FAILURE]}..."


def _stopped(life: Life, reason: Any) -> None:
    life.close_mailbox()
    life.state = "stopped"
    if isinstance(reason, BaseException):
        life.failure = _in_words(reason)
    mailbox, life.mailbox = life.mailbox, CLOSED
    if mailbox is not None:
        mailbox.drain()
    if life.parent is not None and life.parent.children is not None:
        life.parent.children.pop(life, None)
        if not life.parent.children:
            life.parent.children = {}  # an emptied dict keeps the room of all it ever held
    life.performer.close()
    if life.parent is None and isinstance(reason, BaseException):
        life.host.root_failed(reason)
    life.host.forget(life)
    if life.host.events.wants(ActorStopped):
        life.host.events.publish(ActorStopped(life.path, reason))
    tell_watchers(life, reason)
    life.answer_hold()
    life.answer_start(ActorDeadError(f"actor {life.path} stopped before it had started"))
    replies, life.stop_replies = life.stop_replies, None
    for reply in replies or ():
        reply.settle(True)


async def _all(replies: list[Reply[bool]]) -> None:
    """Wait for every reply and empty the list."""
    while replies:
        await replies.pop()


def _child_ended(instance: Any, child: Life, incarnation: int, reason: Any) -> Any:
    """Runs in the parent's control lane: a supervisor decides; a coroutine if that takes time."""
    if child.incarnation == incarnation and child.state == "waiting":
        return instance.child_ended(child, reason)
    return None
