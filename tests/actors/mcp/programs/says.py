"""Writes its second argument to standard output, its third to standard error; exits with its first."""

import sys

status, out, err = sys.argv[1:]
sys.stdout.write(out)
sys.stdout.flush()
sys.stderr.write(err)
sys.stderr.flush()
sys.exit(int(status))
