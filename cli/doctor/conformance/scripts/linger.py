"""Ignores what can be ignored, leaves copies of itself behind, and never ends."""
import os
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

from report import only_in_a_sandbox

only_in_a_sandbox()

for number in range(1, 32):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        break
print("lingering", flush=True)
while True:
    time.sleep(1)
