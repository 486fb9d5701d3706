"""Two agents: one is a tool of the other, and a ring of them is refused instead of waiting for ever.

Both talk to one scripted server on loopback that stands in for a model; it tells them apart by the name of
the model they ask for.
"""

from __future__ import annotations

from actors import Agent, AgentConfig
from actors.testing import RecordedRequest, ScriptedModelServer, answer
from actors.testing.replies import Reply
from runtime import ActorSystem

ASK_EXPERT = '{"tool": "expert", "tool_args": {"request": "How many legs has a spider?"}}'
ASK_BACK = '{"tool": "editor", "tool_args": {"request": "Why do you ask?"}}'

SCRIPTS = {
    "editor": iter([answer(ASK_EXPERT), answer('{"answer": "A spider has eight legs."}')]),
    "expert": iter([answer(ASK_BACK), answer('{"answer": "Eight."}')]),
}


def reply(request: RecordedRequest) -> Reply:
    """The next line of whoever asks."""
    return next(SCRIPTS[request.json["model"]])


def main() -> None:
    """Let the editor ask the expert, and the expert try to ask back."""
    with ScriptedModelServer(reply) as server, ActorSystem() as system:

        def config(model: str) -> AgentConfig:
            return AgentConfig(provider="openai", base_url=server.base_url, model=model)

        editor = Agent.spawn(system, config("editor"), name="editor")
        expert = Agent.spawn(system, config("expert"), name="expert")
        editor.add_tool(expert.as_tool("expert", "Knows everything about animals."))
        expert.add_tool(editor.as_tool("editor", "Writes the article."))
        print(editor.process_query("Write a sentence about spiders.").result)
        for message in expert.history():
            print(f"  the expert's {message.role}: {message.content.splitlines()[0]}")


if __name__ == "__main__":
    main()
