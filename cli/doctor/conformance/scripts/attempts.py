"""Everything that a script may not do, tried from inside a run. The last line says that nothing was left out."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

import attempts_files
import attempts_kernel
import attempts_limits
import attempts_network
import attempts_outputs
import attempts_processes
from report import done, only_in_a_sandbox

only_in_a_sandbox()

for part in (attempts_network, attempts_kernel, attempts_processes, attempts_files, attempts_limits):
    part.run()
# Last, because what it leaves goes on until the run ends it.
attempts_outputs.run()
done("attempts")
