"""A turn's tools: a registry with its policies and approvals, in front of an executor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from actors.model.toolspec import ToolSpec
from actors.tools.allow_store import AllowStore
from actors.tools.approval import Approver
from actors.tools.authorize import authorize
from actors.tools.bench import ToolBench
from actors.tools.call_watch import CallWatch
from actors.tools.decision import Refused, error_result
from actors.tools.executor import ToolExecutor, open_bench, run_on
from actors.tools.registry import ToolRegistry
from runtime import ActorRef


class RegistryRunner:
    """Runs one agent's tools. Refusals and failures are error results, never exceptions."""

    def __init__(
        self,
        registry: ToolRegistry,
        executor: ActorRef[ToolExecutor],
        *,
        approver: Approver | None,
        store: AllowStore | None,
    ) -> None:
        self._registry = registry
        self._executor = executor
        self._bench: ToolBench | None = None
        self._approver = approver
        self._store = store

    @property
    def version(self) -> int:
        """Changes whenever `specs` would give something else."""
        return self._registry.version

    def specs(self) -> Sequence[ToolSpec]:
        """The enabled tools in name order."""
        return self._registry.specs()

    def parallel_safe(self, names: Sequence[str]) -> bool:
        """Whether every one of these tools says that its calls may overlap."""
        tools = [self._registry.resolve(name) for name in names]
        return all(tool is not None and tool.parallel_safe for tool in tools)

    async def run(self, name: str, args: dict[str, Any], watch: CallWatch | None = None) -> Any:
        """Decide, ask for approval where that is the policy, and run; `watch` is told before each."""
        verdict = await authorize(
            self._registry, name, args, approver=self._approver, store=self._store, watch=watch
        )
        if isinstance(verdict, Refused):
            return error_result(verdict.error)
        if watch is not None:
            await watch.tool_starting(verdict)
        if self._bench is None or self._bench.closed:  # closed: the executor was restarted
            self._bench = await open_bench(self._executor)
        if self._bench.here():
            return await self._bench.run_call(verdict)
        return await run_on(self._executor, verdict)
