"""`python .../servers NAME ARGS`: run one of them, as a program that finds its neighbours."""

import runpy
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).parents[1])
    del sys.argv[0]
    runpy.run_module(f"servers.{sys.argv[0]}", run_name="__main__")
