"""Where programs are run: this machine, or a root folder of another system, entered by chroot (which needs root)."""

import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PASSED_ON = (
    "PIP_CERT",
    "PIP_INDEX_URL",
    "SSL_CERT_FILE",
    "CFMGML_DATA",
)  # where packages come from, by the user's own settings
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


@dataclass(frozen=True)
class Place:
    """An interpreter, in a system of its own if there is a root."""

    python: str
    root: Path | None = None

    @classmethod
    def of(cls, words: str) -> "Place":
        """``/path/to/python3.12``, ``python3.12``, or ``/path/to/chroot:python3``."""
        root, mark, python = words.rpartition(":")
        return cls(python, Path(root)) if mark else cls(words)

    def __str__(self) -> str:
        return self.python if self.root is None else f"{self.root}:{self.python}"

    def run(self, words: list[str], folder: str = "/", **options: object) -> subprocess.CompletedProcess[str]:
        """Run a program in a folder of the place; what it prints is returned."""
        env = {**os.environ, **ONE_THREAD}
        if self.root is not None:
            env = {key: os.environ[key] for key in PASSED_ON if key in os.environ} | ONE_THREAD
            env |= {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8"}
            words = ["chroot", str(self.root), "sh", "-c", 'cd "$0" && exec "$@"', folder, *words]
            folder = "/"
        kept = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, **options}
        return subprocess.run(words, cwd=folder, env=env, check=False, **kept)  # type: ignore[call-overload,no-any-return]

    def version(self) -> str | None:
        """Such as "3.12", or None if there is no such interpreter."""
        try:
            done = self.run([self.python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"])
        except OSError:
            return None
        return done.stdout.strip() if done.returncode == 0 else None

    @contextmanager
    def folder(self):  # type: ignore[no-untyped-def]
        """A folder that is removed again, as (its path from here, its path from there)."""
        base = None if self.root is None else self.root / "tmp"
        made = Path(tempfile.mkdtemp(prefix="cfmgml-", dir=base))
        try:
            yield made, str(made) if self.root is None else f"/tmp/{made.name}"
        finally:
            shutil.rmtree(made, ignore_errors=True)

    def make_environment(self, folder: str, requirements: list[str]) -> str:
        """A fresh virtual environment with these packages; returns its interpreter."""
        python = f"{folder}/venv/bin/python"
        pip = [python, "-m", "pip", "--disable-pip-version-check", "-q", "install", *requirements]
        for words in ([self.python, "-m", "venv", f"{folder}/venv"], pip):
            done = self.run(words, folder)
            if done.returncode:
                raise RuntimeError(f"{' '.join(words)} failed in {self}:\n{done.stdout[-2000:]}")
        return python
