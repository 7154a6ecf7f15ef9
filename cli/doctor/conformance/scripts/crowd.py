"""A hundred thousand outputs, the last of which is for nobody to find."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

from report import only_in_a_sandbox

only_in_a_sandbox()

FILES = 100_000
made = 0
try:
    for number in range(FILES):
        os.close(os.open("/outputs/%06d" % number, os.O_CREAT | os.O_WRONLY))
        made += 1
except OSError as error:
    print("the system refused after %d: %s" % (made, error))
print("made %d" % made, flush=True)
