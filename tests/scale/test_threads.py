"""Workers of several threads, and runs that share a worker: the weights are those of one thread all the same."""

import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from cfmgml.kernels import HashedWL
from cfmgml.learning.training import Training
from cfmgml.scale import fit_store, partitions
from cfmgml.scale.partitions import Job, features_key, linearised, partition, release


@pytest.fixture(scope="module")
def threads():
    """The address of a cluster whose one worker has four threads, in this process: they share its memory."""
    from distributed import LocalCluster

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cluster = LocalCluster(n_workers=1, threads_per_worker=4, processes=False, dashboard_address=None)
    yield cluster.scheduler_address
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cluster.close()


@pytest.fixture
def impatient():
    """Threads that take turns a hundred times as often as they would."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(5e-5)
    yield
    sys.setswitchinterval(usual)


@pytest.mark.slow
@pytest.mark.parametrize("memory", [None, 30_000], ids=["memory", "some"])
def test_four_threads_give_the_weights_of_one(threads, impatient, make_model, store, assert_same_weights, memory):
    from distributed import Client

    expected = fit_store(make_model(), store)
    with Client(threads) as client:
        assert list(client.nthreads().values()) == [4]
        assert_same_weights(fit_store(make_model(), store, engine=client, memory=memory), expected)
    assert not partitions._MEMORY


@pytest.mark.slow
def test_two_clients_at_once(threads, make_model, store, assert_same_weights):
    """The features are the same and the losses are not: neither run may see the other's."""
    from distributed import Client

    settings = [{"term_weights": "mean"}, {"class_weight": "balanced"}, {"irrelevant": "max"}]
    short = {"n_rounds": 2, "max_iter": 3}
    expected = [fit_store(make_model(**given, **short), store, cheap_start=False) for given in settings]

    def run(given):
        with Client(threads) as client:
            return fit_store(make_model(**given, **short), store, engine=client, cheap_start=False)

    with ThreadPoolExecutor(len(settings)) as pool:
        for model, alone in zip(pool.map(run, settings), expected, strict=True):
            assert_same_weights(model, alone)


def make_job(model, store, folder, memory):
    kernel = HashedWL(2, n_bits=8).resolve(store.load().graphs)
    loss = replace(Training.of(model).loss_of_no_bags(store.n_labels), label_weights=np.ones(store.n_labels))
    return Job(store, kernel, loss, True, folder, memory, features_key(store, kernel), "a run")


def test_partitions_from_many_threads(impatient, make_model, store, tmp_path):
    """Every thread asks for every partition, while memory fills up: none fails, and the limit is kept."""
    largest = max(partition(make_job(make_model(), store, tmp_path, 0), k).nbytes for k in range(store.n_partitions))
    limit = 3 * largest
    job = make_job(make_model(), store, tmp_path, limit)
    for _ in range(20):
        barrier = threading.Barrier(8)

        def work(offset, barrier=barrier):
            barrier.wait()
            numbers = np.roll(np.arange(store.n_partitions), offset).tolist()
            return [partition(job, number).n_bags for number in numbers]

        with ThreadPoolExecutor(8) as pool:
            counts = list(pool.map(work, range(8)))
        for offset, found in enumerate(counts):
            expected = np.roll([part.n_bags for part in store.partitions], offset).tolist()
            assert found == expected
        held = partitions._MEMORY["a run"].held
        assert 0 < sum(one.nbytes for one in held.values()) <= limit
        release("a run", job.key, tmp_path, False)


def test_a_late_task_does_not_move_the_bound_of_the_next_round(impatient, make_model, store, tmp_path):
    """What a lost worker's repeated task linearises around an old point is not what the others are given."""
    job = make_job(make_model(), store, tmp_path, 2**30)
    one = partition(job, 0)
    points = [one.problem.start() + k for k in range(2)]
    expected = [one.problem.loss.linearise(one.problem.scores(point)).weights for point in points]

    def work(k):
        for _ in range(200):
            found = partition(job, 0)
            np.testing.assert_array_equal(
                linearised(job, 0, found, points[k % 2], f"tag {k % 2}").weights, expected[k % 2]
            )

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    release("a run", job.key, tmp_path, False)
