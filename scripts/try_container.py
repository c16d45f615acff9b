"""Follow the Containerfile without a container engine: its steps in a root folder, its command by bubblewrap.

    debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates trixie ROOT
    python3 scripts/try_container.py --root ROOT dist/*.whl model.cfmgml

Needs root (for chroot) and bubblewrap. The root folder is changed: the wheel is installed in it. Then the command runs
as the image's user with everything read-only but an empty /tmp, and is asked whether it answers, who it is, and what it
can write.
"""

import argparse
import json
import re
import shlex
import shutil
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

from places import Place

ROOT = Path(__file__).resolve().parents[1]
WAIT = 180


def instructions() -> list[tuple[str, str]]:
    """The Containerfile's lines: an instruction and the rest."""
    text = re.sub(r"^#.*\n", "", (ROOT / "Containerfile").read_text(), flags=re.MULTILINE)
    lines = text.replace("\\\n", " ").splitlines()
    return [(line.split()[0], line.partition(" ")[2].strip()) for line in lines if line.strip()]


def build(root: Path, wheel: Path) -> None:
    """COPY and RUN, in the root folder."""
    for name, rest in instructions():
        if name == "COPY":
            shutil.copy(wheel, root / rest.split()[-1].strip("/"))
        elif name == "RUN":
            done = Place("python3", root).run(["sh", "-c", rest])
            if done.returncode:
                raise SystemExit(f"RUN {rest}\nfailed:\n{done.stdout[-3000:]}")


def command(root: Path, model: Path) -> list[str]:
    """ENV, USER, WORKDIR, ENTRYPOINT and CMD, as bubblewrap has them."""
    said = dict(instructions())
    user, group = said["USER"].split(":")
    (root / "models").mkdir(exist_ok=True)
    (root / "models" / "model.cfmgml").touch()
    words = [
        "setpriv",
        "--reuid",
        user,
        "--regid",
        group,
        "--clear-groups",
        "bwrap",
        "--ro-bind",
        str(root),
        "/",
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        "--tmpfs",
        "/tmp",
    ]
    words += ["--ro-bind", str(model.resolve()), "/models/model.cfmgml", "--unshare-user", "--unshare-pid"]
    words += ["--uid", user, "--gid", group, "--chdir", said["WORKDIR"], "--die-with-parent", "--clearenv"]
    for setting in shlex.split(said["ENV"].replace("$PATH", "/usr/bin:/bin")):
        words += ["--setenv", *setting.split("=", 1)]
    return words


def free_port() -> int:
    with socket.socket() as tried:
        tried.bind(("127.0.0.1", 0))
        return int(tried.getsockname()[1])


def ask(address: str) -> str:
    until = time.monotonic() + WAIT
    while True:
        try:
            with urllib.request.urlopen(address, timeout=WAIT) as answer:
                return str(answer.read().decode())
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("model", type=Path)
    given = parser.parse_args()
    build(given.root.resolve(), given.wheel)
    inside, said = command(given.root.resolve(), given.model), dict(instructions())
    probe = "id -u; touch /opt/x 2>&1; touch /models/x 2>&1; touch /tmp/x && echo /tmp can be written to"
    print(subprocess.run([*inside, "sh", "-c", probe], capture_output=True, text=True, check=True).stdout)
    port = str(free_port())  # here, 8000 may be somebody's
    started = [port if word == "8000" else word for word in json.loads(said["ENTRYPOINT"])]
    process = subprocess.Popen([*inside, *started, *json.loads(said["CMD"])])
    try:
        print("healthz:", ask(f"http://127.0.0.1:{port}/healthz"))
        print("models:", ask(f"http://127.0.0.1:{port}/api/v1/models")[:200])
        print("page:", "<title>" in ask(f"http://127.0.0.1:{port}/"))
        print("user, seen from outside:", owner_of(process.pid))
    finally:
        process.terminate()
        process.wait(WAIT)


def owner_of(process: int) -> str:
    found = re.search(r"^Uid:\s+(\d+)", Path(f"/proc/{process}/status").read_text(), re.MULTILINE)
    return found[1] if found else "unknown"


if __name__ == "__main__":
    main()
