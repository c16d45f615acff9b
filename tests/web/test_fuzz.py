"""Mutated uploads are refused with a reason or answered; none crashes or hangs the server.

``benchmarks/fuzz_uploads.py`` sends a thousand.
"""

import importlib.util
from pathlib import Path

import httpx
import pytest

FILE = Path(__file__).resolve().parents[2] / "benchmarks" / "fuzz_uploads.py"


def load():
    spec = importlib.util.spec_from_file_location("fuzz_uploads", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def replaced(live):
    return [line for line in httpx.get(f"{live}/metrics").text.splitlines() if line.startswith("cfmgml_workers_repl")]


@pytest.mark.slow
def test_mutated_uploads_never_crash_the_server(live):
    fuzz = load()
    before = replaced(live)
    seen = fuzz.attack(f"{live}/api/v1/models/photos/image", n=4 * len(fuzz.MUTATIONS), seed=7, seconds=120)
    assert {name for name, _ in seen} == {mutate.__name__ for mutate in fuzz.MUTATIONS}
    statuses = {status for _, status in seen}
    assert statuses <= {200, 413, 415, 422}
    assert {200, 413, 415, 422} <= statuses  # each way out was taken
    assert seen["untouched", 200] == 4
    assert httpx.get(f"{live}/healthz").json() == {"status": "ok", "workers": 1}
    assert replaced(live) == before != []


def test_mutants_are_the_same_every_time():
    fuzz = load()
    assert list(fuzz.mutants(20, seed=3)) == list(fuzz.mutants(20, seed=3))
