"""Import this to have done everything once: a process forked afterwards starts its work at once."""

import tempfile

from small_experiment import run

with tempfile.TemporaryDirectory() as folder:
    run(folder)
