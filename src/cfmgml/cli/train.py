"""``cfmgml train``: a file of bags, or a store, becomes a model."""

import sys
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cfmgml.cli._console import check_target, say
from cfmgml.cli._options import DaskAddress, Device, DType, NJobs, check_compute, engine_of, only_for
from cfmgml.cli._raw_input import check_built

if TYPE_CHECKING:
    from cfmgml.data.bags import BagDataset
    from cfmgml.kernels import Kernel
    from cfmgml.learning.training import Alpha
    from cfmgml.learning.ways import Way
    from cfmgml.model.cfmgml import CfMGML
    from cfmgml.model_selection import AlphaChoice
    from cfmgml.stores import BagStore

N_FOLDS = 3  # that choose kernel and alpha
EDGE_LABELS: dict[str, bool | str] = {"yes": True, "directed": "directed", "no": False}
HELP = (
    "Learn from bags and their labels, and write a model.\n\n"
    "The model file has all that prediction from raw pictures or texts needs. --alpha auto tries several strengths of "
    "regularisation on held-out bags and says which it took; --kernel auto tries kernels, where graphs have both "
    "attributes and labels, or labels of edges; --refine auto tries to learn once, and again from what the model says "
    "of the training graphs, with the bag as context and without.\n\n"
    "Several files of bags that were built alike are learned from together: the training data, and what was corrected "
    "on the page of cfmgml serve.\n\n"
    "A store (cfmgml build --store) is learned from partition by partition, for more graphs than memory holds. wl then "
    "hashes, nodes and hopper are approximated, and --alpha auto looks at a sample of 20,000 graphs. Bad partitions "
    "are named before anything starts.\n\n\b\nExamples:\n"
    "  cfmgml train photos.bags -o photos.cfmgml\n"
    "  cfmgml train photos.bags -o photos.cfmgml --alpha 1e-4 --probability\n"
    "  cfmgml train papers.bags -o papers.cfmgml --kernel wl --n-iter 2 --alpha auto\n"
    "  cfmgml train papers -o many.cfmgml --alpha 1e-4 --checkpoint many.checkpoint"
)


class Thresholds(StrEnum):
    AUTO, ZERO, COUNTS = "auto", "zero", "counts"


def _check_built(data: list[Path]) -> list[Path]:
    """Before anything else is asked for: raw input needs another command."""
    for one in data:
        check_built(one)
    return data


def _check_kernel(name: str) -> str:
    from cfmgml.kernels import NAMED_KERNELS

    if name not in NAMED_KERNELS:
        raise typer.BadParameter(f"must be one of {', '.join(NAMED_KERNELS)}, got {name!r}.")
    return name


def _check_edge_labels(word: str | None) -> str | None:
    if word is not None and word not in EDGE_LABELS:
        raise typer.BadParameter(f"must be one of {', '.join(EDGE_LABELS)}, got {word!r}.")
    return word


KernelName = Annotated[
    str,
    typer.Option(
        "--kernel",
        metavar="NAME",
        callback=_check_kernel,
        help="What compares graphs: nodes (sum over nodes), hopper (shortest paths), both, wl (node labels and their "
        "neighbourhoods), minmax (the same, by the share of them that two graphs have in common); auto: nodes for "
        "attributes, wl for labels, their sum for both, of which train takes the best on held-out bags; or another "
        "that cfmgml.kernels registers.",
    ),
]


def train(
    data: Annotated[
        list[Path],
        typer.Argument(
            metavar="DATA", callback=_check_built, help="Bags with labels: a file, several alike, or a store."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The model to write.")],
    kernel: KernelName = "auto",
    gamma: Annotated[float | None, typer.Option(help="Width of nodes and hopper; by default the builder's.")] = None,
    n_iter: Annotated[int | None, typer.Option(min=0, help="Refinements of wl and minmax.")] = None,
    edge_labels: Annotated[
        str | None,
        typer.Option(
            "--edge-labels",
            metavar="yes|directed|no",
            callback=_check_edge_labels,
            help="Whether wl and minmax compare labels of edges, as labels of both directions or of one.",
            show_default="no; with --kernel auto as is best",
        ),
    ] = None,
    alpha: Annotated[str, typer.Option(metavar="auto|NUMBER", help="Strength of the regularisation.")] = "auto",
    context: Annotated[
        float | None,
        typer.Option(
            help="0 to below 1: how much a graph's score looks at its bag as a whole.",
            show_default="as is best; 0 with --refine 0",
        ),
    ] = None,
    refine: Annotated[
        str,
        typer.Option(
            metavar="auto|ROUNDS",
            help="Learn again from the model's own annotation of the training graphs, so many rounds; 0: learn once.",
            show_default="auto; 0 for a store, or if --alpha is a number",
        ),
    ] = "auto",
    balanced: Annotated[bool, typer.Option("--balanced", help="Rare labels count more.")] = False,
    probability: Annotated[bool, typer.Option("--probability", help="Also learn probabilities (3 more fits).")] = False,
    rank: Annotated[
        str | None,
        typer.Option(
            metavar="auto|all|NUMBER",
            help="How many others a graph is compared with: all, so many, or as few as will do where all are slow.",
            show_default="auto",
        ),
    ] = None,
    thresholds: Annotated[
        Thresholds,
        typer.Option(
            help="Scores above which labels are predicted: 0; or lower, so that as many held-out bags get a label as "
            "have it (counts: 3 more fits); auto: whichever predicts better on the bags that --alpha auto holds out."
        ),
    ] = Thresholds.AUTO,
    max_iter: Annotated[
        int | None, typer.Option(min=1, help="Most steps in each of the 5 rounds.", show_default="200")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Of the folds.")] = 0,
    device: Device = None,
    dtype: DType = None,
    n_jobs: NJobs = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="For a store: file to keep how far it is in; the same command goes on from it.")
    ] = None,
    cache: Annotated[
        Path | None, typer.Option(help="For a store: folder to keep features in.", show_default="a temporary one")
    ] = None,
    dask: DaskAddress = None,
    log: Annotated[bool, typer.Option("--log", help="For a store: tell how far it is, even if nobody looks.")] = False,
) -> None:
    strength, rounds, columns = _strength(alpha), _rounds(refine), _columns(rank)
    if context is not None and not 0 <= context < 1:
        raise typer.BadParameter(f"--context must be 0 to below 1, got {context:g}.")
    engine = engine_of(dask, n_jobs)
    check_target(out)
    check_compute(device, dtype)
    from cfmgml.data.builder import known_builder
    from cfmgml.learning.training import told_alpha
    from cfmgml.learning.ways import ways
    from cfmgml.model.cfmgml import CfMGML
    from cfmgml.model_selection import candidate_kernels, fit_as_chosen, kernel_named
    from cfmgml.scale import fit_store
    from cfmgml.stores import BagStore

    in_store = data[0].is_dir()
    if in_store:
        given = {"probability": probability, "rank": rank, "context": context, "dtype": dtype, "device": device}
        only_for("files of bags, not for a store", **given, refine=rounds or None)
    else:
        only_for("stores, not for a file of bags", checkpoint=checkpoint, cache=cache, dask=dask, log=log)
    if checkpoint is not None:
        check_target(checkpoint, "--checkpoint")
    bags = BagStore(data[0]) if in_store and len(data) == 1 else _joined(data)
    some = bags.read(0) if isinstance(bags, BagStore) else bags  # all partitions are alike
    compared = None if edge_labels is None else EDGE_LABELS[edge_labels]
    chosen = kernel_named(kernel, some, gamma=gamma, n_iter=n_iter, edge_labels=compared)
    if compared and chosen.ignores_edge_labels:
        raise typer.BadParameter(f"--edge-labels is for wl; {chosen!r} ignores them.")
    model = CfMGML(
        chosen,
        class_weight="balanced" if balanced else None,
        probability=probability,
        thresholds="zero" if thresholds == Thresholds.AUTO else thresholds.value,
        rank=columns,
        max_iter=max_iter,
        random_state=seed,
        dtype=dtype or "float64",
        device=device or "cpu",
        n_jobs=n_jobs,
        verbose=log or sys.stderr.isatty(),
    )
    if in_store or (rounds is None and strength is not None):  # an alpha belongs to a way to learn
        rounds = 0
    tried_ways = ways(context, rounds, known_builder(some.builder).context_scale)
    settled: AlphaChoice | None = None
    if kernel == "auto":
        tried = candidate_kernels(some, gamma=gamma, n_iter=n_iter, edge_labels=compared)
        chosen, settled = _choose_kernel(model, bags, tried, strength, seed) or (chosen, None)
        if len(tried_ways) > 1 or any(next(iter(tried_ways.values())).settings.values()):
            settled = None  # another way to learn needs another alpha
    chosen = chosen.with_explicit_map() if in_store else chosen
    if chosen.is_explicit:
        only_for("kernels without an explicit map (nodes, hopper)", dtype=dtype)
    _mention_edge_labels(chosen, some)
    model.set_params(kernel=chosen)
    say(f"Learning from {bags!r} with {model.kernel!r}")
    way, best = _choose_way(model, bags, tried_ways, seed)
    model.set_params(**way.settings)
    settled = settled or best or (_choose(model, bags, way.alphas, seed) if strength is None else None)
    model.set_params(alpha=strength if settled is None else settled.alpha)
    if thresholds == Thresholds.AUTO and settled is not None:
        _take_thresholds(model, settled)
    if isinstance(bags, BagStore):
        fit_store(model, bags, engine=engine, checkpoint=checkpoint, cache=cache)
    else:
        model = model.fit(bags) if settled is None else fit_as_chosen(model, bags, settled)
        _mention_approximation(model.approximation_error_)
    model.set_params(verbose=False).save(out)
    say(f"Wrote {out}: {len(model.label_names_)} labels, {model.n_iter_} steps, alpha {told_alpha(model.alpha)}.")


def _take_thresholds(model: "CfMGML", settled: "AlphaChoice") -> None:
    """Those that predict better on held-out bags."""
    if settled.macro_f1:
        told = ", ".join(f"{name}: {value:.4f}" for name, value in settled.macro_f1.items())
        taken = "0" if settled.thresholds is None else "by counts"
        say(f"Thresholds {taken} (macro-F1 of held-out bags: {told}).")
    model.set_params(thresholds=settled.thresholds or "zero")


def _joined(files: list[Path]) -> "BagDataset":
    """The bags of files, one after the other; all must have been built in one way."""
    from cfmgml.data.bags import BagDataset
    from cfmgml.data.builder import known_builder

    parts = []
    for file in files:
        if file.is_dir():
            raise typer.BadParameter(f"a store is learned from alone, and {file} is one: add to it with --append.")
        parts.append(BagDataset.load(file))
        known_builder(parts[0].builder).check_same(parts[-1].builder)
        if parts[0].label_names is not None and parts[-1].label_names is not None:
            _check_labels(parts[0], parts[-1], file)
    told = ("graph_Y", "bag_names", "graph_names")  # which no training needs
    lacking: dict[str, Any] = {name: None for name in told if any(getattr(part, name) is None for part in parts)}
    return parts[0] if len(parts) == 1 else BagDataset.concatenate([replace(part, **lacking) for part in parts])


def _check_labels(first: "BagDataset", other: "BagDataset", file: Path) -> None:
    ours, theirs = first.label_names, other.label_names
    assert ours is not None
    assert theirs is not None
    if ours.tolist() != theirs.tolist():
        raise ValueError(
            f"{file} has the labels {', '.join(theirs.tolist())}, the bags before it {', '.join(ours.tolist())}: all "
            "must have the same, in one order; build them with --like."
        )


def _strength(alpha: str) -> float | None:
    """A number, or None for auto."""
    if alpha == "auto":
        return None
    try:
        return float(alpha)
    except ValueError:
        raise typer.BadParameter(f"--alpha must be auto or a number such as 1e-4, got {alpha!r}.") from None


def _rounds(refine: str) -> int | None:
    """A number, or None for auto."""
    if refine == "auto":
        return None
    if not refine.isdecimal():
        raise typer.BadParameter(f"--refine must be auto or a number of rounds, 0 or more, got {refine!r}.")
    return int(refine)


def _columns(rank: str | None) -> int | str | None:
    """As `CfMGML` takes it."""
    if rank in (None, "auto", "all"):
        return None if rank == "all" else "auto"
    if not rank.isdecimal() or not int(rank):
        raise typer.BadParameter(f"--rank must be auto, all or a number, 1 or more, got {rank!r}.")
    return int(rank)


def _mention_approximation(error: float | None) -> None:
    if error:
        say(f"Graphs are compared with landmarks: values of graphs kept aside are off by {error:.1%}.")


def _mention_edge_labels(kernel: "Kernel", some: "BagDataset") -> None:
    if some.graphs.edge_labels is not None and kernel.ignores_edge_labels:
        say("The edges of these graphs have labels, which this kernel ignores; --kernel wl --edge-labels yes does not.")


def _choose_kernel(
    model: "CfMGML", bags: "BagDataset | BagStore", tried: "dict[str, Kernel]", strength: float | None, seed: int
) -> "tuple[Kernel, AlphaChoice | None] | None":
    """The best of the kernels, and the alpha that was best with it if all bags were looked at; None without any."""
    from cfmgml.common.progress import progress
    from cfmgml.model_selection import choose_kernel_and_alpha
    from cfmgml.model_selection.alphas import ALPHAS, can_choose, sample_of
    from cfmgml.model_selection.choices import KERNEL_GRAPHS
    from cfmgml.stores import BagStore

    if len(tried) < 2:
        return None
    few = bags.sample(KERNEL_GRAPHS, seed) if isinstance(bags, BagStore) else sample_of(bags, KERNEL_GRAPHS, seed)
    if not can_choose(few):
        say("There are no bags to choose a kernel on: that takes two, and one of which all labels are known.")
        return None
    alphas = ALPHAS if strength is None else [strength]
    with progress("Choosing a kernel", N_FOLDS * len(tried), sys.stderr.isatty()) as done:
        choice = choose_kernel_and_alpha(
            model, few, tried, alphas, n_folds=N_FOLDS, random_state=seed, on_fold=lambda: done(1)
        )
    for line in str(choice).split("\n"):
        say(line)
    return tried[choice.name], choice.tried[choice.name] if few.n_graphs == bags.n_graphs else None


def _choose_way(
    model: "CfMGML", bags: "BagDataset | BagStore", tried: "dict[str, Way]", seed: int
) -> "tuple[Way, AlphaChoice | None]":
    """The best of the ways to learn, and the alpha that was best with it if all bags were looked at."""
    from cfmgml.common.progress import progress
    from cfmgml.data.bags import BagDataset
    from cfmgml.model_selection import choose_way
    from cfmgml.model_selection.alphas import can_choose, sample_of
    from cfmgml.model_selection.choices import KERNEL_GRAPHS

    first = next(iter(tried.values()))
    if len(tried) < 2 or not isinstance(bags, BagDataset):
        return first, None
    few = sample_of(bags, KERNEL_GRAPHS, seed)
    if not can_choose(few):
        say("There are no bags to choose a way to learn on: that takes two, and one of which all labels are known.")
        return first, None
    with progress("Choosing a way to learn", N_FOLDS * len(tried), sys.stderr.isatty()) as done:
        choice = choose_way(model, few, tried, n_folds=N_FOLDS, random_state=seed, on_fold=lambda: done(1))
    for line in str(choice).split("\n"):
        say(line)
    return tried[choice.name], choice.tried[choice.name] if few.n_graphs == bags.n_graphs else None


def _choose(model: "CfMGML", bags: "BagDataset | BagStore", alphas: "tuple[Alpha, ...]", seed: int) -> "AlphaChoice":
    from cfmgml.common.progress import progress
    from cfmgml.model_selection import choose_alpha
    from cfmgml.scale.maps import SAMPLE_GRAPHS
    from cfmgml.stores import BagStore

    if isinstance(bags, BagStore):
        bags = bags.sample(SAMPLE_GRAPHS, seed)
        say(f"Choosing alpha on {bags.n_bags:,} bags, {bags.n_graphs:,} graphs")
    with progress("Choosing alpha", N_FOLDS, sys.stderr.isatty()) as done:
        choice = choose_alpha(model, bags, alphas, n_folds=N_FOLDS, random_state=seed, on_fold=lambda: done(1))
    say(f"Chose {choice}.")
    return choice
