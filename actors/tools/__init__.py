"""Tools: what a model may call, what a call may do, who is asked first, and how it runs.

A function becomes a `Tool` (`decorator`), a `ToolRegistry` (`registry`) decides about calls, an `Approver`
(`approval`, `terminal_approver`) is asked where the policy wants it, and the `ToolExecutor` (`executor`)
runs what is allowed. `runner` puts them in one row for an agent's turn.
"""
