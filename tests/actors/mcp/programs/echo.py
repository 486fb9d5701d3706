"""Says each line again. With arguments, writes as many bytes to standard error before each answer."""

import sys

flood = int(sys.argv[1]) if len(sys.argv) > 1 else 0
for line in sys.stdin.buffer:
    sys.stderr.write("log line\n" * (flood // 9))
    sys.stderr.flush()
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
