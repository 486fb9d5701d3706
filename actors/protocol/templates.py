"""How the prompt protocol asks a model to reply (gaia 3.1)."""

from __future__ import annotations

HEADING = "==== RESPONSE FORMAT ===="

PLANNING = f"""{HEADING}
Reply with one JSON object and nothing else: no prose before it, none after it, no code fence.

To call a tool:
{{"thought": "why this tool now", "goal": "what you want to reach", "tool": "tool_name", "tool_args": {{"name": "value"}}}}

To call a tool and show the plan it belongs to:
{{"thought": "why this plan", "goal": "what you want to reach", "plan": [{{"tool": "first_tool", "tool_args": {{}}}}, {{"tool": "second_tool", "tool_args": {{}}}}], "tool": "first_tool", "tool_args": {{}}}}

To give the final answer:
{{"thought": "what you found out", "goal": "what was reached", "answer": "the complete answer for the user"}}

Rules:
- Real data comes from tools. Never make a tool's result up.
- One tool at a time. Look at its result before you choose the next step.
- A plan is only shown. What runs is the tool named in the "tool" field.
- Change the plan after any result that asks for it.
- When you know enough, finish with an "answer"."""

CONVERSATIONAL = f"""{HEADING}
Talk in plain text. Do not wrap what you say in JSON.

To call a tool, reply with a single line that holds nothing but this object:
{{"tool": "full_tool_name", "tool_args": {{"name": "value"}}}}

Use the full names of the tools as they are listed. Look at a result before you go on."""
