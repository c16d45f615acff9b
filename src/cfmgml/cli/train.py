"""``cfmgml train``: a file of bags becomes a model."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cfmgml.cli._console import check_target, say

if TYPE_CHECKING:
    from cfmgml.bags import BagDataset
    from cfmgml.model import CfMGML

N_FOLDS = 3  # that choose alpha
HELP = (
    "Learn from bags and their labels, and write a model.\n\n"
    "The model file has all that prediction from raw pictures or texts needs. --alpha auto tries several strengths of "
    "regularisation on held-out bags and says which it took.\n\n\b\nExamples:\n"
    "  cfmgml train photos.bags -o photos.cfmgml\n"
    "  cfmgml train photos.bags -o photos.cfmgml --alpha 1e-4 --probability\n"
    "  cfmgml train papers.bags -o papers.cfmgml --kernel wl --n-iter 2 --alpha auto"
)


class KernelName(StrEnum):
    AUTO = "auto"
    NODES = "nodes"
    HOPPER = "hopper"
    WL = "wl"
    BOTH = "both"


def register(app: typer.Typer) -> None:
    app.command(help=HELP)(train)


def train(
    data: Annotated[Path, typer.Argument(metavar="DATA.bags", help="Bags with labels.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The model to write.")],
    kernel: Annotated[
        KernelName,
        typer.Option(
            help="What compares graphs: nodes (sum over nodes), hopper (shortest paths), both, wl (node labels and "
            "their neighbourhoods); auto: nodes for attributes, wl for labels."
        ),
    ] = KernelName.AUTO,
    gamma: Annotated[float | None, typer.Option(help="Width of nodes and hopper; by default the builder's.")] = None,
    n_iter: Annotated[int | None, typer.Option(min=0, help="Refinements of wl.")] = None,
    alpha: Annotated[str, typer.Option(metavar="auto|NUMBER", help="Strength of the regularisation.")] = "auto",
    balanced: Annotated[bool, typer.Option("--balanced", help="Rare labels count more.")] = False,
    probability: Annotated[bool, typer.Option("--probability", help="Also learn probabilities (3 more fits).")] = False,
    rank: Annotated[int | None, typer.Option(min=1, help="Columns of the Gram matrix to keep: less memory.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Of the folds.")] = 0,
    n_jobs: Annotated[int | None, typer.Option(help="Threads that compute the Gram matrix.")] = None,
) -> None:
    strength = _strength(alpha)
    check_target(out)
    from cfmgml.bags import BagDataset
    from cfmgml.model import CfMGML
    from cfmgml.model_selection import kernel_named

    bags = BagDataset.load(data)
    model = CfMGML(
        kernel_named(kernel.value, bags, gamma=gamma, n_iter=n_iter),
        class_weight="balanced" if balanced else None,
        probability=probability,
        rank=rank,
        random_state=seed,
        n_jobs=n_jobs,
        verbose=sys.stderr.isatty(),
    )
    say(f"Learning from {bags!r} with {model.kernel!r}")
    model.set_params(alpha=_choose(model, bags, seed) if strength is None else strength)
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


def _choose(model: "CfMGML", bags: "BagDataset", seed: int) -> float:
    from cfmgml._progress import progress
    from cfmgml.model_selection import choose_alpha

    with progress("Choosing alpha", N_FOLDS, sys.stderr.isatty()) as done:
        choice = choose_alpha(model, bags, n_folds=N_FOLDS, random_state=seed, on_fold=lambda: done(1))
    say(f"Chose {choice}.")
    return choice.alpha
