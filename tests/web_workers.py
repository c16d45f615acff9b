"""Worker processes of servers that tests run, and waiting for them."""

import os
import time


def worker_numbers():
    """Process numbers of this test's workers."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/cmdline") as command, open(f"/proc/{entry}/stat") as stat:
                    parent = int(stat.read().rsplit(")", 1)[1].split()[1])
                    if "cfmgml.web.worker" in command.read() and parent == os.getpid():
                        found.append(int(entry))
            except OSError:
                continue
    return set(found)


def wait_for(condition, seconds=40):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return False
