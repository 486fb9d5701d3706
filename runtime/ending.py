"""How an incarnation ends, and how an actor stops for good.

What can be done at once is done at once, without a task: stopping an actor whose hooks are plain
functions costs no turn of the loop. Ending is bounded: a running handler gets the child's `shutdown`
seconds (then it is cancelled, then given up), the end hook gets as much again. What is given up is named
in the log. Everything here runs on the loop thread but `abandon`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from functools import partial
from types import CoroutineType
from typing import Any

from runtime.childspec import INFINITY, SHUTDOWN_S
from runtime.errors import ActorDeadError, ChildStartError
from runtime.events import ActorFailed, ActorStopped, log
from runtime.exits import Exit, Verdict
from runtime.life import Life
from runtime.mailbox import CLOSED
from runtime.reply import Reply

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
    if life.state == "waiting":
        _halt_waiting(life, exit)
        return
    exit_ = life.note_exit(exit)
    if life.state == "starting":
        _halt_starting(life)
    elif life.state == "running" and life.busy is None:
        _halt_idle(life, exit_)
    elif life.state == "running" and exit_.after < 0:
        _bound_handler(life)


def _halt_waiting(life: Life, exit_: Exit) -> None:
    if exit_.verdict == "final":
        _stopped(life, exit_.reason)
    elif exit_.verdict == "hold":
        life.answer_hold()


def _halt_starting(life: Life) -> None:
    if life.busy is not None:
        life.busy.cancel()
        if life.shutdown_s != INFINITY:
            life.call_later(GRACE_S, _give_up, life, life.busy, "starting")


def _halt_idle(life: Life, exit_: Exit) -> None:
    waiting = len(life.mailbox) if life.mailbox is not None else 0
    if exit_.after <= 0 or not waiting:
        end(life)
    else:
        life.schedule()


def _bound_handler(life: Life) -> None:
    task = life.busy
    if type(life.instance).cancel_on_stop or life.shutdown_s <= 0:
        _cancel_handler_task(life, task)
    elif life.shutdown_s != INFINITY:
        life.call_later(life.shutdown_s, _cancel_handler_task, life, task)


def _cancel_handler_task(life: Life, task: asyncio.Future[Any] | None) -> None:
    if task is not None and life.busy is task:
        life.performer.cancel(task)
        life.call_later(GRACE_S, _give_up, life, task, "handling a message")


def _give_up(life: Life, task: asyncio.Future[Any], doing: str) -> None:
    if life.busy is not task or task.done():
        return
    life.host.abandoned(life.path, doing)
    life.performer.give_up()
    life.busy = None
    if life.current is not None:
        life.current.reply.settle(
            error=ActorDeadError(f"actor {life.path} was stopped while handling it")
        )
        life.current = None
    if life.state == "starting":
        start_failed(life, ActorDeadError("on_start did not end"))
    elif life.state == "running":
        end(life)
    else:
        _ended_with_tasks(life)


def start_failed(life: Life, cause: BaseException) -> None:
    """The incarnation never was: no end hook; a first start is final, a restart is the supervisor's."""
    stopping = life.exit is not None and life.exit.verdict != "ask"
    error = ChildStartError(f"actor {life.path} failed to start: {cause!r}")
    error.__cause__ = cause
    if not stopping:
        log.error(
            "actor_failed",
            system=life.host.name,
            actor=life.path,
            during="start",
            exc_info=cause,
        )
        if life.host.events.wants(ActorFailed):
            life.host.events.publish(ActorFailed(life.path, error))
        verdict: Verdict = "final" if life.incarnation == 0 else "ask"
        life.exit = Exit(error, verdict)
    life.answer_start(error)
    _ended_with_tasks(life)


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
    tasks = life.belongings.release() if life.belongings is not None else None
    if tasks or life.children:
        life.busy_with(_end_slowly(life, exit_, tasks or set()), partial(_end_finished, life))
        return
    pending = _call_end_hook(life, exit_)
    if pending is None:
        _ended(life)
    else:
        life.busy_with(_await_hook(life, pending), partial(_end_finished, life))


def _call_end_hook(life: Life, exit_: Exit) -> Coroutine[Any, Any, Any] | None:
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
    if tasks:
        _, left = await asyncio.wait(tasks, timeout=max(GRACE_S, min(life.shutdown_s, SHUTDOWN_S)))
        for task in left:
            life.host.abandoned(life.path, f"background task {task.get_name()}")
    if life.children:
        await stop_children(life)
    pending = _call_end_hook(life, exit_)
    if pending is not None:
        await _await_hook(life, pending)


async def _await_hook(life: Life, pending: Coroutine[Any, Any, Any]) -> None:
    hook = asyncio.ensure_future(pending)
    bound = None if life.shutdown_s == INFINITY else max(life.shutdown_s, GRACE_S)
    _, left = await asyncio.wait({hook}, timeout=bound)
    if left:
        hook.cancel()
        _, left = await asyncio.wait({hook}, timeout=GRACE_S)
    if left:
        life.host.abandoned(life.path, "its end hook")
        life.performer.give_up()
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


def _end_finished(life: Life, task: asyncio.Future[Any]) -> None:
    if life.busy is not task:
        return
    if not task.cancelled() and task.exception() is not None:
        log.critical("runtime_fault", actor=life.path, exc_info=task.exception())
    _ended(life)


def _ended_with_tasks(life: Life) -> None:
    if life.belongings is not None:
        life.belongings.release()
    _ended(life)


def _ended(life: Life) -> None:
    """The incarnation is over; what follows is the verdict's."""
    exit_, life.exit = life.exit, None
    assert exit_ is not None
    life.busy = None
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
    """The supervisor takes no children any more: stopped without ever having started."""
    life.state = "waiting"
    _stopped(life, "shutdown")


def abandon(life: Life) -> None:
    """The system ends without waiting: take no message more and answer everyone; from any thread."""
    life.close_mailbox()
    if life.mailbox is not None:
        life.mailbox.drain()
    current, dead = life.current, ActorDeadError(f"actor {life.path} was abandoned at shutdown")
    if current is not None:
        current.reply.settle(error=dead)
    for reply in (*(life.start_replies or ()), *(life.stop_replies or ())):
        reply.settle(error=dead)


def _stopped(life: Life, reason: Any) -> None:
    life.close_mailbox()
    life.state = "stopped"
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
    watchers, life.watchers = life.watchers, None
    for watcher, incarnation in (watchers or {}).items():
        life.notify_watcher(watcher, incarnation, reason)
    life.answer_hold()
    life.answer_start(ActorDeadError(f"actor {life.path} stopped before it had started"))
    replies, life.stop_replies = life.stop_replies, None
    for reply in replies or ():
        reply.settle(True)


async def _all(replies: list[Reply[bool]]) -> None:
    """Wait for every reply and empty the list."""
    while replies:
        await replies.pop()


def _child_ended(instance: Any, child: Life, incarnation: int, reason: Any) -> None:
    """Runs in the parent's control lane: a supervisor decides."""
    if child.incarnation == incarnation and child.state == "waiting":
        instance.child_ended(child, reason)
