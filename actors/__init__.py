"""greenroom: many LLM agents in one process, each an actor with its own mailbox."""

__all__: list[str] = []
