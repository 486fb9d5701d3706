"""Starts a child that holds its pipes; tells both numbers in an answer; then does what its argument says.

* `exit`: exits with status 3; the child ends by SIGTERM.
* `stay`: stays. Neither it nor the child ends by SIGTERM.

Nobody reads the input, so that its end does nothing.
"""

import json
import os
import signal
import sys
import time

if sys.argv[1] == "stay":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = os.fork()
if child == 0:
    while True:
        time.sleep(60)
print(json.dumps({"jsonrpc": "2.0", "id": 1, "result": [os.getpid(), child]}), flush=True)
if sys.argv[1] == "exit":
    os._exit(3)
while True:
    time.sleep(60)
