"""A hundred thousand outputs, the last of which is for nobody to find."""
import os

FILES = 100_000
made = 0
try:
    for number in range(FILES):
        os.close(os.open("/outputs/%06d" % number, os.O_CREAT | os.O_WRONLY))
        made += 1
except OSError as error:
    print("the system refused after %d: %s" % (made, error))
print("made %d" % made, flush=True)
