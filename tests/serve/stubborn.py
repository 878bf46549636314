"""The server beside this file and a child of it: neither the end of their input nor a polite signal ends them."""

import runpy
import signal
import subprocess
import sys
import time
from pathlib import Path

for polite in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
    signal.signal(polite, signal.SIG_IGN)

# It inherits what is ignored, and is in no session or group of this one.
subprocess.Popen(
    [sys.executable, "-c", "import time; time.sleep(3600)"],
    stdin=subprocess.DEVNULL,
    stdout=subprocess.DEVNULL,
    stderr=subprocess.DEVNULL,
    start_new_session=True,
)
runpy.run_path(str(Path(__file__).with_name("server.py")), run_name="__main__")
while True:
    time.sleep(3600)
