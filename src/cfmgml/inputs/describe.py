"""What is in a file of bags or of a model, or in a store: `describe_file`."""

from pathlib import Path

import numpy as np

from cfmgml.common.files import read_header
from cfmgml.common.segments import lengths
from cfmgml.common.typing import IntArray, JsonView, NameArray
from cfmgml.data.bags import BagDataset
from cfmgml.data.builder import BagBuilder, known_builder
from cfmgml.data.graphs import GraphBatch
from cfmgml.data.overlap import overlap_summary
from cfmgml.learning.scoring import DualScorer
from cfmgml.model.cfmgml import CfMGML
from cfmgml.reading.contents import same_graphs
from cfmgml.reading.remarks import label_remarks
from cfmgml.stores import BagStore

Description = dict[str, object]


def describe_file(path: str | Path) -> Description:
    """What a file holds, in words and numbers that JSON can hold; the whole file is read, so its hash is checked.

    Of a store, a folder, every partition's footer and the labels are read, and no graph.

    >>> from tempfile import TemporaryDirectory
    >>> from cfmgml.datasets import load_digit_bags
    >>> with TemporaryDirectory() as folder:
    ...     load_digit_bags(n_bags=2).save(f"{folder}/digits.bags")
    ...     about = describe_file(f"{folder}/digits.bags")
    >>> about["file"]["holds"], about["sizes"]["bags"]
    ('data set', 2)
    """
    if Path(path).is_dir():
        return _describe_store(BagStore(path))
    header = read_header(path)
    kinds = {"BagDataset": ("data set", _describe_bags), "CfMGML": ("model", _describe_model)}
    if header["kind"] not in kinds:
        raise ValueError(f"{path} holds a {header['kind']}, neither bags nor a model.")
    noun, describe = kinds[header["kind"]]
    about = {
        "holds": noun,
        "bytes": Path(path).stat().st_size,
        "file version": header["version"],
        "written by": header.get("written_by", "cfmgml 0.1.0"),
        "sha256 of content": header["digest"],
    }
    return {"file": about, **describe(Path(path), header["meta"])}


def _describe_bags(path: Path, meta: JsonView) -> Description:
    bags = BagDataset.load(path)
    sizes = {"bags": bags.n_bags, **_sizes(bags.graphs), "graphs a bag": _spread(lengths(bags.bag_ptr))}
    return {
        "built": _built(bags.builder, bags.info),
        "sizes": sizes,
        "repeated": _repeated(overlap_summary(same_graphs(bags), bags.bag_ptr)),
        "labels": _labels(bags),
        "fingerprint": bags.fingerprint(),
    }


def _describe_store(store: BagStore) -> Description:
    partitions: Description = {"partitions": store.n_partitions}
    if store.n_partitions > 1:
        partitions["graphs a partition"] = _spread(np.array([part.n_graphs for part in store.partitions]))
    manifest = "none: written by an older cfmgml, and a missing partition cannot be noticed"
    if store.has_manifest:
        manifest = f"{store.n_partitions} partitions, with digests"
    return {
        "folder": {"holds": "store", "bytes": store.n_bytes, **partitions, "manifest": manifest},
        "built": _built(store.builder, store.info),
        "sizes": {
            "bags": store.n_bags,
            "graphs": store.n_graphs,
            "nodes": store.n_nodes,
            "edges": store.n_edges,
            "nodes have labels": "graphs.nodes.label" in store.columns,
            "node attributes": store.n_attributes,
            "edges have labels": "graphs.edges.label" in store.columns,
        },
        "repeated": _repeated(store.info.get("overlap")),
        "labels": _store_labels(store),
        "fingerprint": store.fingerprint(),
    }


def _describe_model(path: Path, meta: JsonView) -> Description:
    model = CfMGML.load(path)
    parameters = {name: value for name, value in model.get_params(deep=False).items() if name != "kernel"}
    trained: Description = {
        "rounds": len(model.objective_),
        "steps": model.n_iter_,
        "objective": float(model.objective_[-1]),
        "fingerprint of the training data": model.fingerprint_,
    }
    if len(model.representatives_):  # none are kept of a store
        trained["training bags"] = len(model.representatives_)
    if isinstance(model.scorer_, DualScorer):
        trained |= {f"kept {name}": value for name, value in _sizes(model.scorer_.landmarks).items()}
    return {
        "built": _built(model.builder_, model.info_),
        "kernel": repr(model.kernel_),
        "explains nodes": model.kernel_.is_additive,
        "compares edge labels": not model.kernel_.ignores_edge_labels,
        "probabilities": model.calibration_ is not None,
        "parameters": {name: value for name, value in parameters.items() if value is not None},
        "training": trained,
        "labels": {"names": model.label_names_.tolist()},
        "versions": dict(meta["versions"]),
    }


def _built(builder: BagBuilder | None, info: JsonView) -> Description:
    known = known_builder(builder)
    told = {name: info[name] for name in ("name", "description", "source", "licence") if name in info}
    skipped, scaled, remarks = info.get("skipped") or {}, info.get("scaled") or {}, label_remarks(info)
    return (
        {"from": known.kind, **told, "how": known.describe(), "version": known.version, "parameters": known.parameters}
        | ({"left out": dict(skipped)} if skipped else {})
        | ({"scaled down": [str(name) for name in scaled]} if scaled else {})
        | ({"remarks": remarks} if remarks else {})
    )


def _repeated(overlap: JsonView | None) -> Description:
    """Graphs that are the same, by content; of a store, when it was built."""
    if overlap is None:
        return {"known": "not looked for"}
    return {
        "graphs": overlap["n_graphs"],
        "different graphs": overlap["n_distinct_graphs"],
        "graphs in several bags": overlap["n_shared_graphs"],
    }


def _sizes(graphs: GraphBatch) -> Description:
    sizes: Description = {"graphs": graphs.n_graphs, "nodes": graphs.n_nodes, "edges": int(graphs.edges.shape[1])}
    if graphs.n_graphs:
        sizes["nodes a graph"] = _spread(lengths(graphs.node_ptr))
    sizes["node labels"] = 0 if graphs.node_labels is None else len(np.unique(graphs.node_labels))
    sizes["node attributes"] = graphs.n_attributes
    sizes["edge labels"] = 0 if graphs.edge_labels is None else len(np.unique(graphs.edge_labels))
    return sizes


def _spread(counts: IntArray) -> str:
    return f"{counts.min()} to {counts.max()}, mean {counts.mean():.1f}"


def _store_labels(store: BagStore) -> Description:
    if "Y" not in store.columns or store.label_names is None:
        return {"known": "no labels"}
    counts, known = store.label_counts()
    return _counted(store.label_names, counts, store.n_bags, known.sum() / (store.n_bags * store.n_labels))


def _labels(bags: BagDataset) -> Description:
    if bags.Y is None or bags.label_names is None:
        return {"known": "no labels"}
    known = 1.0 if bags.Y_known is None else float(bags.Y_known.mean())
    told = _counted(bags.label_names, bags.Y.sum(axis=0), bags.n_bags, known)
    named = np.arange(bags.n_bags).astype(np.str_) if bags.bag_names is None else bags.bag_names
    none_known = np.zeros(bags.n_bags, dtype=bool) if bags.Y_known is None else ~bags.Y_known.any(axis=1)
    for what, chosen in (("without any", ~bags.Y.any(axis=1) & ~none_known), ("not labelled", none_known)):
        if chosen.any():
            told[what] = [str(name) for name in named[chosen]]
    if bags.graph_Y is not None:
        told["graphs"] = dict(zip(bags.label_names.tolist(), bags.graph_Y.sum(axis=0).tolist(), strict=True))
    return told


def _counted(names: NameArray, counts: IntArray, n_bags: int, known: float) -> Description:
    of_label = dict(zip(names.tolist(), counts.tolist(), strict=True))
    return {"known": f"{known:.0%}", "a bag": round(float(counts.sum() / n_bags), 2), "bags": of_label}
