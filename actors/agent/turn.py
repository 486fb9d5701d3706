"""The turn: drives model and tools until an answer, a limit, a loop, a cancel or an error.

It is the only loop. `process_query` and `run` differ in a `TurnRules` value; streaming is the same loop
with tokens among its events.

    parts = TurnParts(config=..., rules=GAIA, protocol=..., provider=..., tools=..., prompt=...)
    result = await Turn(parts, conversation, sink=sink, cancel=token).run([Message("user", "hello")])

Promises: it runs in the task of its caller and makes no other, except for tool calls that overlap.
Every end by a rule is a `TurnResult`. Whatever happens, also when the task is cancelled or a sink or a
tool runner raises, the conversation is closed with a history in which every call has its answer. A tool
that was running when the turn was stopped gets an error result saying that its outcome is unknown.

When not to use it: to talk to an agent. The agent's mailbox makes turns wait for each other.
"""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from itertools import takewhile
from typing import Any

from msgspec import Struct

from actors.agent import notices
from actors.agent.cancel import CancelToken
from actors.agent.conversation import Conversation
from actors.agent.interruption import Interrupted, Interruption, Reason
from actors.agent.loop_rule import RepeatedCalls
from actors.agent.narrator import Narrator
from actors.agent.parts import TurnParts
from actors.agent.query import require_content, summary_of
from actors.agent.result import Outcome, TurnResult
from actors.agent.tool_round import ToolRound
from actors.agent.transitions import TurnState, advance, move_for
from actors.errors import AgentError, JournalError, LocalModelError, ToolCallError
from actors.model.message import Message, Usage
from actors.model.provider import ModelReply, ModelRequest
from actors.output.events import EventSink
from actors.protocol.step import PlannedCall, Step


class Ending(Struct, frozen=True):
    """How the turn ends, and the text of its result."""

    outcome: Outcome
    text: str


class Turn:
    """One turn, to be run once.

    `max_steps` above zero replaces the configured limit. `sink` gets the events, `cancel` asks for an
    early end.
    """

    def __init__(
        self,
        parts: TurnParts,
        conversation: Conversation,
        *,
        sink: EventSink | None = None,
        cancel: CancelToken | None = None,
        max_steps: int = 0,
    ) -> None:
        config = parts.config
        self._parts = parts
        self._conversation = conversation
        self._limit = max_steps if max_steps > 0 else config.max_steps
        self._narrator = Narrator(
            sink, streaming=config.streaming, structured=config.structured_events
        )
        self._interruption = Interruption(cancel, config.turn_timeout_s)
        self._repeats = RepeatedCalls(parts.rules.repeat_limit(config.max_consecutive_repeats))
        self._state = TurnState.PLANNING
        self._steps = self._plans = 0
        self._offers_tools = True
        self._usage: Usage | None = None
        self._task = self._last_text = self._last_error = ""

    @property
    def state(self) -> TurnState:
        """Where the turn stands."""
        return self._state

    async def run(self, messages: Sequence[Message]) -> TurnResult:
        """Run the turn on the conversation's history and these messages.

        Raises:
            InvalidArgument: the messages say nothing; nothing has been done.
            AgentBusy: the conversation is in a turn.
        """
        require_content(messages)
        self._task = summary_of(messages)
        self._working = self._conversation.open_turn(messages)
        try:
            with self._interruption:
                ending = await self._play()
        finally:
            self._conversation.close_turn(self._parts.config.max_history_messages)
        return TurnResult(ending.text, self._steps, self._limit, ending.outcome, self._usage)

    # -- from step to step --------------------------------------------------------------------------

    async def _play(self) -> Ending:
        await self._make_ready()
        self._narrator.turn_started(self._task, self._limit, self._parts.config.model)
        ending = self._due()
        while ending is None:
            ending = await self._step() or self._due()
        self._state = advance(self._state, "ended")
        self._narrator.turn_finished(self._steps, self._limit)
        return ending

    async def _step(self) -> Ending | None:
        """One model call and what follows from it; None to go on, or when an end is due."""
        self._steps += 1
        self._narrator.step_started(self._steps, self._limit)
        if self._state is TurnState.ERROR_RECOVERY:
            self._tell_error()
        try:
            step = await self._ask()
            return step if isinstance(step, Ending) else await self._follow(step)
        except Interrupted:
            return None

    async def _follow(self, step: Step) -> Ending | None:
        self._working.add(step.message)
        self._last_text = step.text
        self._narrator.thought(step.thought)
        if not step.native:
            self._narrator.goal(step.goal)
        move = move_for(step)
        if move == "answer":
            return self._answered(step.answer or "")
        self._show_plan(step)
        if move == "call":
            return await self._run_calls(step.calls)
        return self._answered(step.text)

    def _tell_error(self) -> None:
        self._narrator.state_noted(notices.RECOVERY_STATE)
        remind = not self._parts.protocol.native
        text = notices.recovery(self._last_error, self._task, remind=remind)
        self._working.add(Message("user", text))
        self._state = advance(self._state, "error_told")

    def _show_plan(self, step: Step) -> None:
        """Plans are shown, never executed; too many bring a call for an answer (gaia 1.3j)."""
        if not isinstance(step.plan, list):
            return
        self._plans += 1
        self._narrator.plan(step.plan)
        parts = self._parts
        if parts.rules.counts_plans and self._plans > parts.config.max_plan_iterations:
            self._working.add(Message("user", notices.ENOUGH_PLANS))

    # -- the model ----------------------------------------------------------------------------------

    async def _make_ready(self) -> None:
        parts, config = self._parts, self._parts.config
        if not parts.readiness.needed or self._interruption.reason is not None:
            return
        work = parts.readiness.ensure(parts.provider, config.model, config.context_size)
        try:
            error = await self._interruption.wait(work)
        except Interrupted:
            return
        if error is not None:
            self._narrator.warning(notices.not_ready(error))

    async def _ask(self) -> Step | Ending:
        """A reply to follow, or the end when the last attempt of the step failed (gaia 1.3e)."""
        attempts_left = self._parts.rules.model_attempts
        progress = "Thinking"
        while True:
            attempts_left -= 1
            self._narrator.model_asked(progress)
            try:
                return await self._ask_once()
            except JournalError:
                raise  # no failure of the model: what happens cannot be kept any more
            except AgentError as error:
                failure = error
            finally:
                self._narrator.model_done()
            if self._interruption.reason is not None:
                raise Interrupted
            if not attempts_left or _is_final(failure):
                return self._gave_up(failure)
            self._narrator.warning(notices.retrying(failure))
            progress = "Retrying"

    async def _ask_once(self) -> Step:
        parts, config = self._parts, self._parts.config
        prompt = parts.prompt.current() if self._offers_tools else parts.prompt.without_tools
        request = ModelRequest(
            model=config.model,
            messages=(*prompt.system, *self._working.encoded),
            max_tokens=config.max_tokens,
            temperature=config.temperature,
            tools=prompt.tools,
            tool_choice=config.tool_choice,
        )
        if config.show_prompts:
            self._narrator.prompt_sent(prompt.text)
        reply = await self._interruption.wait(self._send(request))
        if config.show_prompts:
            self._narrator.reply_received(reply.text or "")
        step = parts.protocol.read(reply)
        if reply.usage is not None:
            self._usage = reply.usage if self._usage is None else self._usage + reply.usage
        return step

    def _send(self, request: ModelRequest) -> Coroutine[Any, Any, ModelReply]:
        provider = self._parts.provider
        if self._parts.config.streaming:
            return provider.stream(request, self._narrator.token)
        return provider.generate(request)

    # -- the tools ----------------------------------------------------------------------------------

    async def _run_calls(self, calls: Sequence[PlannedCall]) -> Ending | None:
        """Run the calls in their order up to the one the loop rule stops (gaia 1.3k, 1.4, 2.3)."""
        admitted = list(
            takewhile(lambda call: self._repeats.admit(call.name, call.arguments), calls)
        )
        tools = ToolRound(self._parts, self._working, self._narrator, self._interruption)
        await tools.run(admitted)
        if self._interruption.reason is not None:
            return None
        rules, repeated = self._parts.rules, calls[len(admitted) :]
        if repeated and not rules.repeat_means_answer:
            self._narrator.warning(notices.LOOP_WARNING)
            return Ending("loop", notices.LOOP)
        for call in repeated:
            tools.record(call, notices.REPEATED)
        self._after_tools(tools.error, answer_now=bool(repeated))
        return None

    def _after_tools(self, error: str | None, *, answer_now: bool) -> None:
        rules = self._parts.rules
        if error is not None:
            self._last_error = error
        failed = error is not None and rules.recovers
        self._state = advance(self._state, "tool_failed" if failed else "tools_ran")
        self._offers_tools = not answer_now and (
            error is not None or not rules.answer_without_tools_after_result
        )

    # -- the ends -----------------------------------------------------------------------------------

    def _due(self) -> Ending | None:
        """The end that comes before another step, if one does (gaia 1.3a and 5)."""
        reason = self._interruption.reason
        if reason is not None:
            return self._stopped(reason)
        return self._out_of_steps() if self._steps >= self._limit else None

    def _answered(self, text: str) -> Ending:
        self._narrator.answer(text, self._usage)
        return Ending("answered", text)

    def _gave_up(self, failure: AgentError) -> Ending:
        self._narrator.error(str(failure))
        return Ending("model_error", notices.model_error(failure))

    def _stopped(self, reason: Reason) -> Ending:
        if reason == "cancelled":
            text = notices.cancelled(self._steps)
        else:
            text = notices.out_of_time(self._parts.config.turn_timeout_s or 0.0, self._steps)
        self._narrator.warning(text)
        return Ending(reason, text)

    def _out_of_steps(self) -> Ending:
        if self._parts.rules.at_limit == "last_text":
            text = self._last_text
        elif self._state is TurnState.ERROR_RECOVERY:
            text = self._last_error
        else:
            text = notices.limit_reached(self._limit)
        self._narrator.warning(text or notices.limit_reached(self._limit))
        return Ending("limit", text)


def _is_final(failure: AgentError) -> bool:
    """Whether asking again cannot help: arguments that are no JSON, a local server that cannot be had."""
    if isinstance(failure, ToolCallError):
        return failure.final
    return isinstance(failure, LocalModelError)
