"""``cfmgml train``: a file of bags, or a store, becomes a model."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cfmgml.cli._console import check_target, say
from cfmgml.cli._options import DaskAddress, Device, DType, NJobs, check_compute, engine_of, only_for

if TYPE_CHECKING:
    from cfmgml.data.bags import BagDataset
    from cfmgml.model.cfmgml import CfMGML
    from cfmgml.stores import BagStore

N_FOLDS = 3  # that choose alpha
HELP = (
    "Learn from bags and their labels, and write a model.\n\n"
    "The model file has all that prediction from raw pictures or texts needs. --alpha auto tries several strengths of "
    "regularisation on held-out bags and says which it took.\n\n"
    "A store (cfmgml build --store) is learned from partition by partition, for more graphs than memory holds. wl then "
    "hashes, nodes and hopper are approximated, and --alpha auto looks at a sample of 20,000 graphs. Bad partitions "
    "are named before anything starts.\n\n\b\nExamples:\n"
    "  cfmgml train photos.bags -o photos.cfmgml\n"
    "  cfmgml train photos.bags -o photos.cfmgml --alpha 1e-4 --probability\n"
    "  cfmgml train papers.bags -o papers.cfmgml --kernel wl --n-iter 2 --alpha auto\n"
    "  cfmgml train papers -o many.cfmgml --alpha 1e-4 --checkpoint many.checkpoint"
)


def _check_kernel(name: str) -> str:
    from cfmgml.kernels import NAMED_KERNELS

    if name not in NAMED_KERNELS:
        raise typer.BadParameter(f"must be one of {', '.join(NAMED_KERNELS)}, got {name!r}.")
    return name


KernelName = Annotated[
    str,
    typer.Option(
        "--kernel",
        metavar="NAME",
        callback=_check_kernel,
        help="What compares graphs: nodes (sum over nodes), hopper (shortest paths), both, wl (node labels and their "
        "neighbourhoods); auto: nodes for attributes, wl for labels; or another that cfmgml.kernels registers.",
    ),
]


def train(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="Bags with labels: a file, or a store.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The model to write.")],
    kernel: KernelName = "auto",
    gamma: Annotated[float | None, typer.Option(help="Width of nodes and hopper; by default the builder's.")] = None,
    n_iter: Annotated[int | None, typer.Option(min=0, help="Refinements of wl.")] = None,
    alpha: Annotated[str, typer.Option(metavar="auto|NUMBER", help="Strength of the regularisation.")] = "auto",
    context: Annotated[
        float | None,
        typer.Option(help="0 to below 1: how much a graph's score looks at its bag as a whole.", show_default="0"),
    ] = None,
    balanced: Annotated[bool, typer.Option("--balanced", help="Rare labels count more.")] = False,
    probability: Annotated[bool, typer.Option("--probability", help="Also learn probabilities (3 more fits).")] = False,
    rank: Annotated[int | None, typer.Option(min=1, help="Columns of the Gram matrix to keep: less memory.")] = None,
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
    strength = _strength(alpha)
    engine = engine_of(dask, n_jobs)
    check_target(out)
    check_compute(device, dtype)
    from cfmgml.data.bags import BagDataset
    from cfmgml.model.cfmgml import CfMGML
    from cfmgml.model_selection import kernel_named
    from cfmgml.scale import fit_store
    from cfmgml.stores import BagStore

    in_store = data.is_dir()
    if in_store:
        given = {"probability": probability, "rank": rank, "context": context, "dtype": dtype, "device": device}
        only_for("files of bags, not for a store", **given)
    else:
        only_for("stores, not for a file of bags", checkpoint=checkpoint, cache=cache, dask=dask, log=log)
    if checkpoint is not None:
        check_target(checkpoint, "--checkpoint")
    bags = BagStore(data) if in_store else BagDataset.load(data)
    some = bags.read(0) if isinstance(bags, BagStore) else bags  # all partitions are alike
    chosen = kernel_named(kernel, some, gamma=gamma, n_iter=n_iter)
    chosen = chosen.with_explicit_map() if in_store else chosen
    model = CfMGML(
        chosen,
        class_weight="balanced" if balanced else None,
        context=context or 0.0,
        probability=probability,
        rank=rank,
        max_iter=max_iter,
        random_state=seed,
        dtype=dtype or "float64",
        device=device or "cpu",
        n_jobs=n_jobs,
        verbose=log or sys.stderr.isatty(),
    )
    if chosen.is_explicit:
        only_for("kernels without an explicit map (nodes, hopper)", dtype=dtype)
    say(f"Learning from {bags!r} with {model.kernel!r}")
    model.set_params(alpha=_choose(model, bags, seed) if strength is None else strength)
    if isinstance(bags, BagStore):
        fit_store(model, bags, engine=engine, checkpoint=checkpoint, cache=cache)
    else:
        model.fit(bags)
    model.set_params(verbose=False).save(out)
    say(f"Wrote {out}: {len(model.label_names_)} labels, {model.n_iter_} steps, alpha {model.alpha:g}.")


def _strength(alpha: str) -> float | None:
    """A number, or None for auto."""
    if alpha == "auto":
        return None
    try:
        return float(alpha)
    except ValueError:
        raise typer.BadParameter(f"--alpha must be auto or a number such as 1e-4, got {alpha!r}.") from None


def _choose(model: "CfMGML", bags: "BagDataset | BagStore", seed: int) -> float:
    from cfmgml.common.progress import progress
    from cfmgml.model_selection import choose_alpha
    from cfmgml.scale.maps import SAMPLE_GRAPHS
    from cfmgml.stores import BagStore

    if isinstance(bags, BagStore):
        bags = bags.sample(SAMPLE_GRAPHS, seed)
        say(f"Choosing alpha on {bags.n_bags:,} bags, {bags.n_graphs:,} graphs")
    with progress("Choosing alpha", N_FOLDS, sys.stderr.isatty()) as done:
        choice = choose_alpha(model, bags, n_folds=N_FOLDS, random_state=seed, on_fold=lambda: done(1))
    say(f"Chose {choice}.")
    return choice.alpha
