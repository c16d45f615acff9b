"""Runs command lines in processes that are forked from one in which all is imported and compiled: they start at once.

    python warm_runner.py FOLDER

Reads a JSON object a line and answers each with a number: ``{"run": LINE}`` with the command's exit status,
``{"start": LINE}`` with the number of its process, and ``{"wait": NUMBER}`` with the status of one that was started.
"""

import json
import os
import shlex
import sys

from cfmgml.cli import main


def run(line: str) -> int:
    try:
        return main(shlex.split(line))
    except SystemExit as end:  # by SIGTERM
        return int(end.code or 0)


def fork(line: str) -> int:
    """A process that runs the command and nothing else."""
    number = os.fork()
    if number == 0:
        status = 70
        try:
            status = run(line)
        finally:
            os._exit(status)
    return number


def wait(number: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])


def serve() -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    tasks = {"run": run, "start": fork, "wait": wait}
    for request in map(json.loads, sys.stdin):
        for task, subject in request.items():
            print(tasks[task](subject), file=answers)


if __name__ == "__main__":
    os.chdir(sys.argv[1])
    serve()
    os._exit(0)  # at once: nothing here needs to be taken down
