"""Made-up input as people have it: folders of pictures, texts and graphs, with tables of labels."""

import gzip
import json
from pathlib import Path

import networkx as nx
import numpy as np
from PIL import Image

from cfmgml import BagDataset, GraphBatch

COLOURS = {"grass": (70, 150, 60), "sand": (220, 190, 130), "sky": (120, 170, 230)}
WORDS = {
    "music": ["melody", "rhythm", "orchestra", "violin", "concert", "singer", "harmony"],
    "sport": ["goal", "match", "referee", "player", "season", "trainer", "league"],
    "cooking": ["recipe", "butter", "oven", "flour", "pepper", "kitchen", "dough"],
}


def draw_photo(rng, size=(48, 72)):
    """Two surfaces side by side, or one: pixels, mask (segments from 1), and the surfaces' names."""
    kinds = rng.choice(list(COLOURS), size=rng.integers(1, 3), replace=False).tolist()
    height, width = size
    border = width if len(kinds) == 1 else int(rng.integers(width // 3, 2 * width // 3))
    pixels, mask = np.empty((height, width, 3)), np.empty((height, width), dtype=np.uint8)
    for number, (kind, part) in enumerate(zip(kinds, (slice(0, border), slice(border, width)), strict=False), start=1):
        noise = rng.normal(0, {"grass": 25, "sand": 8, "sky": 2}[kind], pixels[:, part].shape[:2])
        pixels[:, part] = np.array(COLOURS[kind]) + noise[:, :, None]
        mask[:, part] = number
    return np.clip(pixels, 0, 255).astype(np.uint8), mask, kinds


def make_photos(folder, n_photos, masks=None, table=None, seed=0):
    """Photos in a folder; if asked for, their masks in another and their labels in a CSV."""
    rng = np.random.default_rng(seed)
    for made in (folder, masks):
        if made is not None:
            Path(made).mkdir(parents=True, exist_ok=True)
    lines = ["image,labels"]
    for k in range(n_photos):
        pixels, mask, kinds = draw_photo(rng)
        Image.fromarray(pixels).save(Path(folder) / f"p{k:02}.png")
        if masks is not None:
            Image.fromarray(mask).save(Path(masks) / f"p{k:02}.png")
        lines.append(f"p{k:02}.png,{';'.join(kinds)}")
    if table is not None:
        Path(table).write_text("\n".join(lines) + "\n")


def make_collection(folder, n_photos, seed=0, classes=tuple(COLOURS)):
    """Photos, masks and tables as MSRC v2 has them, with a class for every surface, whatever they are called."""
    rng, folder, surfaces = np.random.default_rng(seed), Path(folder), list(COLOURS)
    for part in ("images", "segments"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    lines = ["image,segment,class_id"]
    for k in range(n_photos):
        pixels, mask, kinds = draw_photo(rng)
        Image.fromarray(pixels).save(folder / "images" / f"p{k:02}.png")
        Image.fromarray(mask).save(folder / "segments" / f"p{k:02}.png")
        lines += [f"p{k:02},{number},{surfaces.index(kind) + 1}" for number, kind in enumerate(kinds, start=1)]
    (folder / "segments.csv").write_text("\n".join(lines) + "\n")
    rows = [f"{number},{name}" for number, name in enumerate(classes, start=1)]
    (folder / "classes.csv").write_text("\n".join(["id,name", *rows]) + "\n")


def write_up(rng, kinds):
    """A document with a sentence of each kind."""
    return " ".join(" ".join(rng.choice(WORDS[kind], 6).tolist()).capitalize() + "." for kind in kinds)


def make_texts(path, n_texts, labelled=True, seed=0):
    rng = np.random.default_rng(seed)
    with open(path, "w", encoding="utf-8") as stream:
        for k in range(n_texts):
            kinds = rng.choice(list(WORDS), size=rng.integers(1, 3), replace=False).tolist()
            row = {"id": f"d{k}", "text": write_up(rng, kinds), **({"labels": kinds} if labelled else {})}
            stream.write(json.dumps(row) + "\n")


def make_abstracts(folder):
    """Ten abstracts of three sentences each, as Hallmarks of Cancer has them."""
    sentences = {"death": "Apoptosis kills tumour cells.", "vessels": "Angiogenesis feeds tumour vessels."}
    folder.mkdir()
    with gzip.open(folder / "sentences.jsonl.gz", "wt", encoding="utf-8") as lines:
        for bag in range(10):
            label = list(sentences)[bag % 2]
            for sent, (text, labels) in enumerate([("Mice were fed.", []), (sentences[label], [label]), ("Done.", [])]):
                lines.write(json.dumps({"bag": str(bag), "sent": sent, "text": text, "labels": labels}) + "\n")


def make_letters(folder, table, n_texts, seed=0):
    rng = np.random.default_rng(seed)
    Path(folder).mkdir(parents=True, exist_ok=True)
    lines = ["file,music,sport,cooking"]
    for k in range(n_texts):
        kinds = rng.choice(list(WORDS), size=2, replace=False).tolist()
        (Path(folder) / f"l{k}.txt").write_text(write_up(rng, kinds), encoding="utf-8")
        lines.append(",".join([f"l{k}.txt", *(str(int(kind in kinds)) for kind in ("music", "sport", "cooking"))]))
    Path(table).write_text("\n".join(lines) + "\n")


def make_molecules(folder, table, n_bags, seed=0):
    """GraphML files: a folder a bag, rings and chains of labelled atoms with a charge."""
    rng = np.random.default_rng(seed)
    lines = ["bag,label"]
    for k in range(n_bags):
        kinds = rng.choice(["ring", "chain"], size=rng.integers(1, 3), replace=False).tolist()
        inside = Path(folder) / f"m{k}"
        inside.mkdir(parents=True, exist_ok=True)
        for number, kind in enumerate(kinds):
            graph = (nx.cycle_graph if kind == "ring" else nx.path_graph)(int(rng.integers(4, 7)))
            for node in graph:
                graph.nodes[node].update(label=str(rng.choice(["C", "N"])), charge=float(rng.normal()))
            nx.write_graphml(graph, inside / f"g{number}.graphml")
        lines += [f"m{k},{kind}" for kind in kinds]
    Path(table).write_text("\n".join(lines) + "\n")


def rings_and_chains(n_bags, seed=0):
    """Bags of a ring, a chain or both, and the same as JSON."""
    rng, graphs, sent, sizes, labels = np.random.default_rng(seed), [], [], [], []
    for _ in range(n_bags):
        kinds = rng.choice(["ring", "chain"], size=rng.integers(1, 3), replace=False).tolist()
        made = [(nx.cycle_graph if kind == "ring" else nx.path_graph)(int(rng.integers(4, 7))) for kind in kinds]
        for graph in made:
            nx.set_node_attributes(graph, {node: str(rng.choice(["C", "N"])) for node in graph}, "label")
        graphs += made
        sent.append({"graphs": [as_json(graph) for graph in made]})
        sizes.append(len(made))
        labels.append(["chain" in kinds, "ring" in kinds])
    ptr = np.concatenate([[0], np.cumsum(sizes)])
    return BagDataset(GraphBatch.from_networkx(graphs, "label"), ptr, labels, label_names=["chain", "ring"]), sent


def as_json(graph):
    return {
        "node_labels": [graph.nodes[node]["label"] for node in graph],
        "edges": [list(edge) for edge in graph.edges],
    }


def make_tudataset(folder, n_graphs=4, attributes=True):
    """Triangles (class 1) and single edges (class 2) in TUDataset's text files."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    name, edges, indicator, classes = folder.name, [], [], []
    for k in range(n_graphs):
        first, size = len(indicator) + 1, 3 if k % 2 == 0 else 2
        edges += [(a, b) for a in range(first, first + size) for b in range(first, first + size) if a != b]
        indicator += [k + 1] * size
        classes.append(1 if size == 3 else 2)
    (folder / f"{name}_A.txt").write_text("".join(f"{a}, {b}\n" for a, b in edges))
    (folder / f"{name}_graph_indicator.txt").write_text("".join(f"{k}\n" for k in indicator))
    (folder / f"{name}_graph_labels.txt").write_text("".join(f"{c}\n" for c in classes))
    (folder / f"{name}_node_labels.txt").write_text("".join(f"{k % 2}\n" for k in range(len(indicator))))
    if attributes:
        (folder / f"{name}_node_attributes.txt").write_text("".join(f"{k}, 0.5\n" for k in range(len(indicator))))


def make_world(folder):
    """Everything the examples of ``--help`` name that is not made by an earlier example."""
    folder = Path(folder)
    make_photos(folder / "photos", 4, masks=folder / "masks", table=folder / "labels.csv")
    make_photos(folder / "new", 2, seed=1)
    make_texts(folder / "papers.jsonl", 20)
    make_texts(folder / "new.jsonl", 3, labelled=False, seed=1)
    make_letters(folder / "letters", folder / "letters.csv", 6)
    make_molecules(folder / "molecules", folder / "molecules.csv", 6)
    make_tudataset(folder / "TOY")
