"""Ignores what can be ignored, leaves copies of itself behind, and never ends."""
import os
import signal
import time

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
