"""Sample bags for the report: images with predicted regions, texts with predicted sentences, as pictures in the page.

They show other people's pictures and texts: pages with them are for looking at, not for publishing.
"""

import base64
import importlib.util
import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from cfmgml.evaluation.data_sets import draw_bags

if TYPE_CHECKING:
    from matplotlib.figure import Figure

N_SHOWN = 4


def sample_pictures(data_sets: set[str], data_folder: Path | None, n_bags: int | None, seed: int = 0) -> dict[str, str]:
    """Captions and pictures (data URLs) for those of MSRC v2 and Hallmarks that were run.

    A model learns from four fifths of the bags and is shown on others (`cfmgml.paper.contact_sheets`).
    """
    if importlib.util.find_spec("matplotlib") is None:
        return {}
    makers: dict[str, tuple[str, Callable[..., Figure]]] = {
        "msrc_v2-rich": ("Images with the best label of every region; below, what speaks for a label.", _images),
        "hallmarks": ("Abstracts with the labels predicted for every sentence, and its deciding words.", _texts),
    }
    return {
        caption: _data_url(make(data_folder, n_bags, seed))
        for key, (caption, make) in makers.items()
        if key in data_sets
    }


def _images(data_folder: Path | None, n_bags: int | None, seed: int) -> "Figure":
    from cfmgml.datasets import load_msrc_v2
    from cfmgml.kernels import NodeSum
    from cfmgml.model.cfmgml import CfMGML
    from cfmgml.paper.contact_sheets import draw_images, held_out

    bags = load_msrc_v2(data_folder)
    model = CfMGML(NodeSum(), alpha=1e-5, dtype="float32")
    return draw_images(held_out(bags[draw_bags(bags, n_bags, seed)], model, N_SHOWN, seed))


def _texts(data_folder: Path | None, n_bags: int | None, seed: int) -> "Figure":
    from cfmgml.datasets import load_hallmarks
    from cfmgml.datasets.hallmarks import load_hallmarks_texts
    from cfmgml.kernels import WeisfeilerLehman
    from cfmgml.model.cfmgml import CfMGML
    from cfmgml.paper.contact_sheets import draw_texts, held_out

    bags = load_hallmarks(data_folder)
    model = CfMGML(WeisfeilerLehman(n_iter=1, tfidf=True), alpha=1e-4)
    shown = held_out(bags[draw_bags(bags, n_bags, seed)], model, N_SHOWN, seed)
    return draw_texts(shown, load_hallmarks_texts(data_folder))


def _data_url(figure: "Figure") -> str:
    stream = io.BytesIO()
    figure.savefig(stream, format="jpg", dpi=80)
    return f"data:image/jpeg;base64,{base64.b64encode(stream.getvalue()).decode()}"
