"""Killed workers and killed runs: training ends with the same weights all the same."""

import os
import signal
import subprocess
import sys
import threading
import time

import cloudpickle
import numpy as np
import pytest

from cfmgml.scale import fit_store
from cfmgml.scale.engines import Dask, Inline, Joblib, tree_sum

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import a test module

LONG = {"n_rounds": 3, "max_iter": 40, "tol": 1e-6}


class Stopped(Exception):
    """Stands for a crash of the run."""


def killer(client, n_kills, killed, stop):
    """Kill one worker after the other, at random moments; Dask's nannies start new ones."""
    rng = np.random.default_rng(0)
    while len(killed) < n_kills and not stop.is_set():
        time.sleep(rng.uniform(0.1, 0.8))
        pids = [info["pid"] for info in client.run(_about_me, on_error="ignore").values() if isinstance(info, dict)]
        if pids:
            pid = int(rng.choice(pids))
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)


def _about_me():
    return {"pid": os.getpid()}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Dask warns of the workers it loses
def test_ten_killed_workers_do_not_change_the_weights(make_model, store, client, assert_same_weights):
    expected = fit_store(make_model(**LONG), store)
    killed, stop = [], threading.Event()
    thread = threading.Thread(target=killer, args=(client, 10, killed, stop))
    thread.start()
    try:
        runs = 0
        while len(killed) < 10:  # again, if training was over before all ten were dead
            found = fit_store(make_model(**LONG), store, engine=client)
            assert_same_weights(found, expected)
            runs += 1
            assert runs < 20
    finally:
        stop.set()
        thread.join()
    assert len(killed) == 10
    client.wait_for_workers(2, timeout=60)


SCRIPT = """
import sys
from cfmgml import CfMGML
from cfmgml.kernels import HashedWL
from cfmgml.scale import fit_store
from cfmgml.stores import BagStore
model = CfMGML(HashedWL(2, n_bits=8), alpha=1e-3, n_rounds=3, max_iter=2000, tol=1e-9)
fit_store(model, BagStore(sys.argv[1]), checkpoint=sys.argv[2], checkpoint_every=5)
print("finished")
"""


@pytest.mark.slow
def test_a_killed_run_goes_on_from_its_checkpoint(make_model, store, tmp_path):
    file = tmp_path / "run.checkpoint"
    run = subprocess.Popen([sys.executable, "-c", SCRIPT, str(store.path), str(file)], stdout=subprocess.PIPE)
    written = set()
    while len(written) < 4 and run.poll() is None:  # a few steps into the run
        if file.exists():
            written.add(file.stat().st_mtime_ns)
        time.sleep(0.005)
    run.kill()
    assert "finished" not in run.communicate()[0].decode(), "the run was over before it could be killed"
    params = {"n_rounds": 3, "max_iter": 60, "tol": 1e-9}
    again = fit_store(make_model(**params), store, checkpoint=file, checkpoint_every=5)
    whole = fit_store(make_model(**params), store)
    np.testing.assert_allclose(again.objective_[-1], whole.objective_[-1], rtol=1e-4)


@pytest.mark.parametrize("stop_at", [3, 14, 31])
def test_a_restart_does_the_steps_that_were_left(make_model, store, tmp_path, monkeypatch, stop_at):
    """With the optimiser's memory in the checkpoint, the rest of the run is the same to the last digit."""
    from cfmgml.scale import training

    params = {"n_rounds": 3, "max_iter": 15, "tol": 1e-9}
    whole = fit_store(make_model(**params), store)
    calls = []

    class Counting(training.Checkpoint):
        def save(self, standing):
            super().save(standing)
            calls.append(standing.n_iter + standing.steps)
            if len(calls) == stop_at:
                raise Stopped

    with monkeypatch.context() as patch:
        patch.setattr(training, "Checkpoint", Counting)
        with pytest.raises(Stopped):
            fit_store(make_model(**params), store, checkpoint=tmp_path / "c", checkpoint_every=1)
        del calls[:]
        stop_at = -1
        again = fit_store(make_model(**params), store, checkpoint=tmp_path / "c", checkpoint_every=1)
    assert calls[0] > 0, "it went on, not from the start"
    np.testing.assert_array_equal(again.scorer_.coef, whole.scorer_.coef)
    np.testing.assert_array_equal(again.objective_, whole.objective_)
    assert again.n_iter_ == whole.n_iter_


def test_the_checkpoint_of_another_run_is_refused(make_model, many, store, tmp_path):
    fit_store(make_model(), store, checkpoint=tmp_path / "c")
    for change in ({"alpha": 1e-2}, {"class_weight": "balanced"}, {"temperature": 0.1}, {"fit_intercept": False}):
        with pytest.raises(ValueError, match="checkpoint of another run"):
            fit_store(make_model(**change), store, checkpoint=tmp_path / "c")
    fit_store(make_model(max_iter=20), store, checkpoint=tmp_path / "c")  # longer is fine


# -- engines ---------------------------------------------------------------------------------


def die_once(item, folder):
    """Kills its own process the first time it is asked for item 2."""
    mark = os.path.join(folder, "died")
    if item == 2 and not os.path.exists(mark):
        open(mark, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return [np.array([item * 0.1, item])]


def fail(item):
    raise ValueError(f"no such thing as {item}")


@pytest.mark.slow
def test_joblib_starts_again_after_a_death(tmp_path):
    engine = Joblib(2)
    items = list(range(12))
    expected = tree_sum([np.array([item * 0.1, item])] for item in items)
    np.testing.assert_array_equal(engine.map_sum(die_once, items, str(tmp_path))[0], expected[0])
    assert (tmp_path / "died").exists()


def test_errors_of_tasks_come_through(client):
    for engine in (Inline(), Joblib(2), Dask(client)):
        with pytest.raises(ValueError, match="no such thing as 1"):
            list(engine.map(fail, [1]))


def test_map_keeps_the_order(client):
    for engine in (Inline(), Joblib(2), Dask(client)):
        assert list(engine.map(divmod, [7, 8, 9], 4)) == [(1, 3), (2, 0), (2, 1)]
