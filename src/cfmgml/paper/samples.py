"""Sample bags for the report: images with predicted regions as a picture, texts with predicted sentences as text.

They show other people's pictures and texts: pages with them are for looking at, not for publishing.
"""

import base64
import importlib.util
import io
from html import escape
from pathlib import Path

N_SHOWN = 4


def held_out_samples(data_sets: set[str], data_folder: Path | None, n_bags: int | None, seed: int = 0) -> str:
    """Figures for those of MSRC v2 and Hallmarks that were run, as HTML.

    A model learns from four fifths of the bags and is shown on others (`cfmgml.paper.contact_sheets`).
    """
    from cfmgml.paper.contact_sheets import held_out_texts, image_sheet
    from cfmgml.paper.marked_texts import marked_texts

    figures = ""
    if "msrc_v2-rich" in data_sets and importlib.util.find_spec("matplotlib") is not None:
        stream = io.BytesIO()
        image_sheet(data_folder, N_SHOWN, seed, n_bags).savefig(stream, format="jpg", dpi=80)
        caption = "Images with the best label of every region; below, what speaks for a label."
        source = f"data:image/jpeg;base64,{base64.b64encode(stream.getvalue()).decode()}"
        figures += sample_figure(caption, f'<img class=sample alt="{escape(caption)}" src="{source}">')
    if "hallmarks" in data_sets:
        caption = "Abstracts with the labels predicted for every sentence, and its deciding words."
        figures += sample_figure(caption, marked_texts(*held_out_texts(data_folder, N_SHOWN, seed, n_bags)))
    return figures


def sample_figure(caption: str, body: str) -> str:
    return f"<figure><figcaption>{escape(caption)}</figcaption>{body}</figure>"
