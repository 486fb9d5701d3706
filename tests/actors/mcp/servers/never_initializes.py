"""Answers nothing at all."""

import sys

sys.stderr.write("waiting for the database\n")
sys.stderr.flush()
for _ in sys.stdin.buffer:
    pass
