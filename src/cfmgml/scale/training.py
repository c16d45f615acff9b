"""Training over a store: the same model, objective and solver, with its rows in partitions."""

import uuid
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np

from cfmgml.common.typing import FloatArray
from cfmgml.learning.learned import Learned, Learner
from cfmgml.learning.scoring import ExplicitScorer, normalised_features
from cfmgml.learning.seen import REMEMBERED, Seen
from cfmgml.learning.solvers.cccp import Solution, Standing, solve_cccp
from cfmgml.learning.solvers.lbfgs import State
from cfmgml.learning.training import Training
from cfmgml.scale.checkpoints import Checkpoint
from cfmgml.scale.engines import Engine, EngineLike, Joblib, running
from cfmgml.scale.maps import SAMPLE_GRAPHS, resolve_on_sample
from cfmgml.scale.partitions import Job, features_key, release
from cfmgml.scale.problem import Block, StoreProblem, cut_blocks, describe_block
from cfmgml.scale.reports import Reporter
from cfmgml.scale.scratch import feature_folder
from cfmgml.stores import BagStore

MEMORY_SHARE = 0.25  # of a worker's memory, for features
Model = TypeVar("Model", bound=Learner)


def fit_store(
    model: Model,
    store: BagStore,
    *,
    engine: EngineLike = "inline",
    n_blocks: int | None = None,
    memory: int | None = None,
    cache: str | Path | None = None,
    checkpoint: str | Path | None = None,
    checkpoint_every: int = 10,
    sample_graphs: int = SAMPLE_GRAPHS,
    cheap_start: bool = True,
) -> Model:
    """Fit a `CfMGML` to a store in bounded memory; ``model.fit(store)`` calls this.

    Parameters
    ----------
    model
        With ``solver="cccp"`` and a kernel that has an explicit map: `HashedWL`, or `NodeSum` and `GraphHopper` with
        ``approximation="nystrom"`` or ``"fourier"``, and sums of these. None takes the first of them that fits.
    store
        Bags with labels.
    engine
        ``"inline"``, ``"joblib"`` (local processes, ``model.n_jobs`` or all cores), ``"dask"`` (a cluster on this
        machine), the address of a Dask scheduler, or a Dask ``Client``. All give the same weights.
    n_blocks
        Tasks a pass; None takes 32, or one for 16 partitions if that is more. Weights depend on it in the last digits.
    memory
        Bytes of features kept in memory, over all workers together; the rest goes to disk. None takes a quarter of what
        the workers have. Joblib's processes always share features through the disk.
    cache
        Folder for features on disk, on each machine, where they stay for the next run; None for a temporary one that
        is removed at the end, or by the next run on this machine if this one is killed.
    checkpoint
        File that says where the run stands: written at the start of each round and every ``checkpoint_every`` steps.
        If it is there, the run goes on from it.
    sample_graphs
        Graphs on which the kernel settles what depends on data: gamma, landmarks, tf-idf weights.
    cheap_start
        Start from a pass of mini-batches instead of from zero.

    Returns
    -------
    The model. ``representatives_`` is empty: it would have a row for every bag.

    Examples
    --------
    >>> import tempfile
    >>> from cfmgml import CfMGML, NodeSum
    >>> from cfmgml.datasets import load_digit_bags
    >>> bags = load_digit_bags(subset="train", n_bags=40, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bags.to_store(f"{folder}/digits", graphs_per_partition=50)
    ...     kernel = NodeSum(approximation="nystrom", n_components=50)
    ...     model = fit_store(CfMGML(kernel, alpha=1e-3), BagStore(f"{folder}/digits"))
    >>> model.decision_function(bags).shape
    (40, 10)
    """
    training = Training.of(model)
    training.check_partwise("over a store only solver='cccp' works", ": fit a store without it")
    if "Y" not in store.columns:
        raise ValueError(f"the bags of {store.path} have no labels to learn from.")
    report = Reporter(training.compute.verbose, *training.limits, training.tol)
    with running(engine, training.compute.n_jobs) as workers:
        kernel = resolve_on_sample(training.kernel, store, sample_graphs, training.random_state)
        report.say(f"{store!r}: {kernel!r} settled on a sample")
        with feature_folder(cache) as folder:
            loss, key, run = training.loss_of_no_bags(store.n_labels), features_key(store, kernel), uuid.uuid4().hex
            share = MEMORY_SHARE * workers.memory_of_one() if memory is None else memory / workers.n_workers
            own = 0 if isinstance(workers, Joblib) else int(share)
            job = Job(store, kernel, loss, training.has_intercept, folder, own, key, run)
            try:
                blocks = cut_blocks(store.n_partitions, n_blocks)
                job, problem, counts = _describe(training, job, workers, blocks)
                report.say(f"{problem.n_features:,} features of {store.n_graphs:,} graphs are ready")
                kept = None if checkpoint is None else Checkpoint(Path(checkpoint), problem.key(), checkpoint_every)
                solution = _solve(training, problem, report, kept, cheap_start)
            finally:
                workers.everywhere(partial(release, job.run, job.key, folder, cache is None))
    assert store.label_names is not None
    none = np.zeros((0, store.n_labels), dtype=np.int64)
    scorer = ExplicitScorer(kernel, solution.coef)
    thresholds = training.given_thresholds(store.label_names.tolist())
    learned = Learned.of(store, store.label_names, counts, scorer, solution, none, thresholds)
    seen = Seen.of_rows(normalised_features(kernel, store.sample(REMEMBERED).graphs))
    model.learned_ = replace(learned, seen=seen)
    return model


def _describe(
    training: Training, job: Job, workers: Engine, blocks: list[Block]
) -> tuple[Job, StoreProblem, FloatArray]:
    """The first pass counts labels and makes features: what is wrong with a partition shows before training starts."""
    squares, counts = workers.map_sum(describe_block, blocks, job)
    assert job.store.label_names is not None
    weights = training.label_weights(counts, job.store.label_names.tolist())
    job = replace(job, loss=replace(job.loss, label_weights=weights))
    return job, StoreProblem(job, workers, blocks, training.alphas[0], squares), counts


def _solve(
    training: Training, problem: StoreProblem, report: Reporter, kept: Checkpoint | None, cheap_start: bool
) -> Solution[FloatArray]:
    resume = None if kept is None else kept.load()
    report.scales = problem.space().scales
    if resume is not None:
        report.say(f"going on from round {len(resume.objective) + 1}, step {resume.steps}")
    elif cheap_start:
        resume = _start(problem, report)

    def on_step(standing: Standing[FloatArray]) -> None:
        report.step(standing)
        if kept is not None:
            kept.save(standing)

    return solve_cccp(problem, *training.limits, training.tol, report.round, on_step=on_step, resume=resume)


def _start(problem: StoreProblem, report: Reporter) -> Standing[FloatArray] | None:
    """The first round's bound, which is the one around zero whatever its descent starts from; None if the mini-batches
    did not get below zero's value."""
    zero, scales = problem.start(), problem.space().scales
    bound = problem.bound(zero)
    value, gradient = bound.value_and_gradient(zero)
    first = float(np.linalg.norm(gradient))  # the bound touches at zero, so this is the objective's gradient too
    theta = problem.cheap_start()
    better, slope = bound.value_and_gradient(theta)
    report.say(f"a pass of mini-batches: objective {value:.6g} -> {better:.6g}")
    if not better < value:
        return None
    return Standing(zero, State(theta / scales, better, slope * scales), 0, [], 0, first)
