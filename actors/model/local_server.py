"""The program that serves one model file on this machine: llama.cpp's own HTTP server, nothing around it.

    python -m actors.model.local_server --model FILE.gguf

Runs in its own process, because native code that fails takes its process along. Loads the model, then
prints one JSON line with its address (`{"address": "http://127.0.0.1:40001"}`) on standard output and
serves until its standard input ends: whoever started it holds the other end, so that no server outlives
its owner. On Linux the kernel also ends it when the thread that started it ends, even while it loads.
Listens on loopback only. Log lines go to standard error. Interrupts of the terminal are its owner's.

It imports nothing of this project, so that it starts fast and stays small.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

LOOPBACK = "127.0.0.1"
_PR_SET_PDEATHSIG = 1
_QUIET = 2  # llama.cpp's verbosity: warnings and errors


def main(argv: Sequence[str]) -> int:
    """Serve until standard input ends; 1 if the model cannot be loaded, with the reason on stderr."""
    options = build_parser().parse_args(argv)
    announcements = claim_stdout()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    die_with_parent()
    try:
        server = open_server(options)
    except RuntimeError:  # llama.cpp has written why
        return 1
    try:
        line = json.dumps({"address": server.listening_address})
        os.write(announcements, f"{line}\n".encode())
        while os.read(0, 4096):
            pass
    finally:  # also when the owner was killed while the model was loaded and nobody hears the line
        os._exit(0)  # the threads of llama.cpp have no other end


def build_parser() -> argparse.ArgumentParser:
    """The options."""
    parser = argparse.ArgumentParser(prog="python -m actors.model.local_server")
    add = parser.add_argument
    add("--model", type=Path, required=True, help="the model file (GGUF)")
    add("--port", type=int, default=0, help="where to listen on loopback; 0: any free port")
    add("--template", choices=("own", "bare"), default="own", help="the file's own, or bare.jinja")
    add("--context-size", type=int, default=4096, help="tokens one conversation may have")
    add("--slots", type=int, default=1, help="conversations answered at one time")
    add("--threads", type=int, default=1, help="threads that compute")
    return parser


def claim_stdout() -> int:
    """Keep standard output for announcements, and send what native code prints there to standard error."""
    announcements = os.dup(1)
    os.dup2(2, 1)
    return announcements


def die_with_parent() -> None:
    """Have the kernel end this process with the thread that started it (Linux, prctl(2))."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def open_server(options: argparse.Namespace) -> Any:
    """Load the model and serve it from threads of llama.cpp; returns when it answers."""
    import xllamacpp  # noqa: PLC0415  an optional extra: greenroom[local]

    params = xllamacpp.CommonParams()
    params.model.path = str(options.model)
    params.hostnames = [LOOPBACK]
    params.port = options.port
    params.cors_origins = f"http://{LOOPBACK}"  # no page of the web may read what is answered here
    params.n_ctx = options.context_size * options.slots  # llama.cpp shares it out among the slots
    params.n_parallel = options.slots
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = options.threads
    params.use_jinja = True
    params.warmup = params.ui = params.endpoint_slots = False
    params.verbosity = _QUIET
    if options.template == "bare":
        template = Path(__file__).with_name("bare.jinja")
        params.chat_template = template.read_text(encoding="utf-8")
    return xllamacpp.Server(params)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
