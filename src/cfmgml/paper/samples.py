"""Sample bags for the report: images with predicted regions, texts with predicted sentences, as pictures in the page.

They show other people's pictures and texts: pages with them are for looking at, not for publishing.
"""

import base64
import importlib.util
import io
from pathlib import Path

N_SHOWN = 4


def sample_pictures(data_sets: set[str], data_folder: Path | None, n_bags: int | None, seed: int = 0) -> dict[str, str]:
    """Captions and pictures (data URLs) for those of MSRC v2 and Hallmarks that were run.

    A model learns from four fifths of the bags and is shown on others (`cfmgml.paper.contact_sheets`).
    """
    if importlib.util.find_spec("matplotlib") is None:
        return {}
    from cfmgml.paper.contact_sheets import image_sheet, text_sheet

    sheets = {
        "msrc_v2-rich": ("Images with the best label of every region; below, what speaks for a label.", image_sheet),
        "hallmarks": ("Abstracts with the labels predicted for every sentence, and its deciding words.", text_sheet),
    }
    pictures = {}
    for key, (caption, sheet) in sheets.items():
        if key in data_sets:
            stream = io.BytesIO()
            sheet(data_folder, N_SHOWN, seed, n_bags).savefig(stream, format="jpg", dpi=80)
            pictures[caption] = f"data:image/jpeg;base64,{base64.b64encode(stream.getvalue()).decode()}"
    return pictures
