"""Contact sheets: what a model says of a dozen images and a dozen abstracts that it has not seen.

    python -m cfmgml.paper.contact_sheets --data DIR --out out/sheets [--kind images|texts]

A model learns from four fifths of the bags, drawn by seed, and from the labels of bags only; the sheet shows some of
the others. The pictures and texts on it are other people's: sheets are for looking at, not for publishing.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cfmgml.builders.texts.texts import KEYWORDS
from cfmgml.common.segments import segment_max
from cfmgml.common.typing import FloatArray
from cfmgml.data.bags import BagDataset
from cfmgml.datasets import load_hallmarks, load_msrc_v2
from cfmgml.datasets.hallmarks import load_hallmarks_texts
from cfmgml.evaluation.data_sets import draw_bags
from cfmgml.kernels import NodeSum, WeisfeilerLehman
from cfmgml.metrics import bag_report, graph_report
from cfmgml.model.cfmgml import CfMGML

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TRAIN_SHARE = 0.8
N_SHOWN = 12
N_ACROSS = 4  # images in a row; the last row holds as many heat maps
DPI = 110


class Shown(NamedTuple):
    """Held-out bags to draw, and what the model says of them."""

    bags: BagDataset
    scores: FloatArray  # (n_graphs, n_labels)
    contributions: FloatArray  # (n_nodes, n_labels)
    summary: str


def held_out(bags: BagDataset, model: CfMGML, n_shown: int, seed: int) -> Shown:
    """Train on four fifths of the bags, measure on the rest, and pick ``n_shown`` of the rest to draw."""
    order = np.random.default_rng(seed).permutation(bags.n_bags)
    n_train = round(TRAIN_SHARE * bags.n_bags)
    model.fit(bags[order[:n_train]])
    test = bags[order[n_train:]]
    scores = model.decision_function_graphs(test)
    assert test.Y is not None
    assert test.graph_Y is not None
    labelled = test.graph_Y.any(axis=1)
    precision = bag_report(test.Y, model.decision_function(test))["average_precision"]
    accuracy = graph_report(test.graph_Y[labelled], scores[labelled])["accuracy"]
    summary = (
        f"{test.n_bags} held-out bags: average precision {precision:.3f}; "
        f"accuracy of their {int(labelled.sum())} labelled graphs {accuracy:.3f}"
    )
    shown = test[:n_shown]
    return Shown(shown, scores[: shown.n_graphs], model.explain(shown), summary)


# -- images ----------------------------------------------------------------------------------


def image_sheet(
    data: str | Path | None = None, n_shown: int = N_SHOWN, seed: int = 0, n_bags: int | None = None
) -> "Figure":
    """Images of MSRC v2, or ``n_bags`` of them, with the predicted label of every region.

    Below them, for the first row again, what speaks for the rarest label that is predicted.
    """
    from matplotlib.figure import Figure

    from cfmgml.plots import plot_bag

    everything = load_msrc_v2(data, features="rich")
    model = CfMGML(NodeSum(), alpha=1e-5, dtype="float32")
    shown = held_out(everything[draw_bags(everything, n_bags, seed)], model, n_shown, seed)
    bags, scores, contributions, _ = shown
    n_rows = -(-bags.n_bags // N_ACROSS)
    figure = Figure(figsize=(4.6 * N_ACROSS, 4.2 * (n_rows + 1) + 0.6), dpi=DPI, layout="constrained")
    axes = figure.subplots(n_rows + 1, N_ACROSS, squeeze=False)
    for ax in axes.ravel():
        ax.set_axis_off()
    for bag, ax in zip(range(bags.n_bags), axes.ravel(), strict=False):
        plot_bag(bags, bag, scores=scores, show_graphs=False, ax=ax)
    for (bag, label), ax in zip(enumerate(rarest_predictions(shown)), axes[-1], strict=False):
        plot_bag(bags, bag, scores=scores, contributions=contributions, label=label, ax=ax)
    figure.suptitle(_heading(shown), fontsize=12)
    return figure


def rarest_predictions(shown: Shown) -> list[int]:
    """For each bag the predicted label that the fewest bags are predicted to have; its best one if there is none.

    Maps of labels that half the images have, such as grass, tell little.
    """
    scores = segment_max(shown.scores, shown.bags.bag_ptr)
    times = (scores > 0).sum(axis=0)
    rarest = np.where(scores > 0, times, times.max() + 1).argmin(axis=1)
    return np.where((scores > 0).any(axis=1), rarest, scores.argmax(axis=1)).tolist()


# -- texts -----------------------------------------------------------------------------------


def held_out_texts(
    data: str | Path | None = None, n_shown: int = N_SHOWN, seed: int = 0, n_bags: int | None = None
) -> tuple[Shown, dict[str, str]]:
    """Abstracts of Hallmarks, or ``n_bags`` of them, held out; and its sentences by graph name."""
    bags, texts = load_hallmarks(data, **KEYWORDS), load_hallmarks_texts(data)
    model = CfMGML(WeisfeilerLehman(n_iter=1, tfidf=True), alpha=1e-4)
    return held_out(bags[draw_bags(bags, n_bags, seed)], model, n_shown, seed), texts


def text_sheet(
    data: str | Path | None = None, n_shown: int = N_SHOWN, seed: int = 0, n_bags: int | None = None
) -> "Figure":
    """Abstracts of Hallmarks, or ``n_bags`` of them, with the predicted labels and the deciding words of sentences."""
    from matplotlib.figure import Figure

    from cfmgml.plots import plot_bag

    shown, texts = held_out_texts(data, n_shown, seed, n_bags)
    n_rows = -(-shown.bags.n_bags // 2)
    height = 7 * n_rows + 1.2
    figure = Figure(figsize=(26, height), dpi=DPI)
    axes = figure.subplots(n_rows, 2, squeeze=False)
    figure.subplots_adjust(left=0.01, right=0.99, bottom=0.2 / height, top=1 - 1.2 / height, wspace=0.03, hspace=0.08)
    for ax in axes.ravel():
        ax.set_axis_off()
    for bag, ax in zip(range(shown.bags.n_bags), axes.ravel(), strict=False):
        plot_bag(shown.bags, bag, texts=texts, scores=shown.scores, contributions=shown.contributions, ax=ax)
    figure.suptitle(_heading(shown), fontsize=14, y=1 - 0.2 / height)
    return figure


def _heading(shown: Shown) -> str:
    info = shown.bags.info
    return (
        f"{info['name']}. {shown.summary}. {info['licence']}\n"
        "Green: the best label is right; red: it is not, or none is true; a question mark or 'none': no score above 0."
        " Red parts speak for the label, blue ones against it."
    )


# -- the command -----------------------------------------------------------------------------

SHEETS: dict[str, Callable[..., "Figure"]] = {"images": image_sheet, "texts": text_sheet}


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw the sheets that are asked for, and print where they are."""
    parser = argparse.ArgumentParser(prog="python -m cfmgml.paper.contact_sheets", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--data", type=Path, help="folder with msrc_v2 and hoc_sentences (default: CFMGML_DATA)")
    parser.add_argument("--out", type=Path, default=Path("out/sheets"), help="folder to write to (%(default)s)")
    parser.add_argument("--kind", choices=list(SHEETS), help="draw this sheet only")
    parser.add_argument("--n-shown", type=int, default=N_SHOWN, help="bags on a sheet (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="which bags are held out (%(default)s)")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    for kind in [options.kind] if options.kind else SHEETS:
        print(f"{kind}: loading, training and drawing ...", file=sys.stderr)
        path = options.out / f"{kind}.png"
        SHEETS[kind](options.data, options.n_shown, options.seed).savefig(path)
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
