"""Exits at once, saying why."""

import sys

sys.exit("no configuration found")
