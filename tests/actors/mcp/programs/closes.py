"""Closes the descriptor its argument names and runs on until it gets a signal."""

import os
import sys
import time

os.write(2, b"closing\n")
os.close(int(sys.argv[1]))
while True:
    time.sleep(60)
