"""A program: the least that is an MCP server over stdio, so that figures are those of the client.

Legacy; one tool, `echo(text)`. Only `json` and `sys`; run it with `python -S -E`.
"""

import json
import sys

TOOL = {
    "name": "echo",
    "description": "Give the text back.",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
}
BEGIN = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "trivial", "version": "1"},
}

for line in sys.stdin.buffer:
    message = json.loads(line)
    if "id" not in message:
        continue
    method = message["method"]
    result: object = {}
    if method == "tools/call":
        text = message["params"]["arguments"]["text"]
        result = {"content": [{"type": "text", "text": text}]}
    elif method == "tools/list":
        result = {"tools": [TOOL]}
    elif method == "initialize":
        result = BEGIN
    answer = {"jsonrpc": "2.0", "id": message["id"], "result": result}
    sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
    sys.stdout.buffer.flush()
