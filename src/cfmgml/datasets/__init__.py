"""Bags of graphs to learn from: loaders and builders."""

from cfmgml.builders.molecules.molecules import bags_from_molecules
from cfmgml.builders.pictures.images import bags_from_images
from cfmgml.builders.texts.texts import bags_from_texts
from cfmgml.data.overlap import seen_graphs, shared_graph_groups
from cfmgml.datasets.cora import load_cora_topics
from cfmgml.datasets.dblp import load_dblp
from cfmgml.datasets.digits import load_digit_bags
from cfmgml.datasets.hallmarks import load_hallmarks
from cfmgml.datasets.miml import load_msrc_v2_miml, load_scene
from cfmgml.datasets.mixtures import load_mixtures
from cfmgml.datasets.msrc import load_msrc_v2
from cfmgml.datasets.tox21 import load_tox21
from cfmgml.datasets.voc import load_voc2012

__all__ = [
    "bags_from_images", "bags_from_molecules", "bags_from_texts", "load_cora_topics", "load_dblp", "load_digit_bags",
    "load_hallmarks", "load_mixtures", "load_msrc_v2", "load_msrc_v2_miml", "load_scene", "load_tox21", "load_voc2012",
    "seen_graphs", "shared_graph_groups",
]  # fmt: skip
