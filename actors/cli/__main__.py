"""`python -m actors.cli`: the command `greenroom` where its script is not on the path."""

import sys

from actors.cli.main import entry_point

sys.exit(entry_point())
