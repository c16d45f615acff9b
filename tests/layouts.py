"""All the data sets in small, made up, in the layouts of the real ones and with some of their labels.

What the reference shows of a loader is run on them as doctests (conftest.py of the repository), and is true of the real
data as well.
"""

import gzip
import json

import numpy as np
from scipy.io import savemat

from cfmgml.datasets.miml import MSRC_LABELS
from cfmgml.datasets.tox21 import ASSAYS
from made_up import make_collection

TOPICS = [f"Artificial_Intelligence/{name}" for name in ("Agents", "Data_Mining", "Expert_Systems")]
HALLMARKS = ["Activating invasion and metastasis", "Avoiding immune destruction", "Cellular energetics"]
SCENES = ["desert", "mountains", "sea", "sunset", "trees"]
SENTENCE = "Query trees join the index of a relation."


def cells(arrays):
    """As MATLAB has them."""
    out = np.empty((len(arrays), 1), dtype=object)
    out[:, 0] = arrays
    return out


def make_records(file, records):
    file.parent.mkdir()
    with gzip.open(file, "wt", encoding="utf-8") as lines:
        lines.writelines(json.dumps(record) + "\n" for record in records)


def papers():
    """Each cites all others, so that each is a bag with as many references as is asked for."""
    for number in range(6):
        others = [other for other in range(6) if other != number]
        yield {"id": number, "references": others, "links": [], "title": "Query trees", "abstract": SENTENCE}


def make_layouts(folder):
    """Write them into a folder, as ``CFMGML_DATA`` names one."""
    rng = np.random.default_rng(0)
    make_collection(folder / "msrc_v2", 4, classes=("building", "grass", "tree"))
    make_collection(folder / "voc2012_multi", 4, classes=("aeroplane", "bicycle", "bird"))
    for name in ("scene_miml", "msrc_v2_miml"):
        (folder / name).mkdir()
    savemat(
        folder / "scene_miml" / "scene_MIML.mat",
        {"bags": cells([rng.random((3, 15))] * 5), "labels": 2 * np.eye(5) - 1, "class_name": cells(SCENES)},
    )
    n = len(MSRC_LABELS)
    rows = {f"idx_{side}": np.array([[1]]) for side in ("train", "test")}
    vectors = {"data": cells([rng.random((48, 1))] * n), "targets": 2 * np.eye(n) - 1}
    classes = cells([np.array([[number]]) for number in range(1, n + 1)])
    savemat(folder / "msrc_v2_miml" / "MSRC_MIML.mat", {**vectors, "ins_targets": classes, **rows})
    terms = {"query": 0.5, "tree": 0.4}
    cora = ({**paper, "field": "AI", "label": TOPICS[paper["id"] % 3], "terms": terms} for paper in papers())
    make_records(folder / "cora_topics" / "papers.jsonl.gz", cora)
    dblp = ({**paper, "field": "DB", "venue": "vldb", "topics": ["query"]} for paper in papers())
    make_records(folder / "dblp_acm" / "papers.jsonl.gz", dblp)
    sentences = (
        {"bag": str(bag), "sent": 0, "text": "Apoptosis kills tumour cells.", "labels": [name]}
        for bag, name in enumerate(HALLMARKS)
    )
    make_records(folder / "hoc_sentences" / "sentences.jsonl.gz", sentences)
    (folder / "tox21").mkdir()
    rows = [[*ASSAYS, "smiles"], ["1"] * len(ASSAYS) + ["c1ccccc1O"], ["0"] * len(ASSAYS) + ["CCO"]]
    (folder / "tox21" / "tox21.csv").write_text("".join(",".join(row) + "\n" for row in rows))
