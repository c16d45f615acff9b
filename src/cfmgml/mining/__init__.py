"""Frequent connected subgraphs of labelled graphs (gSpan), and how much they say about labels."""

from cfmgml.mining.entropy import label_entropy
from cfmgml.mining.gspan import mine_subgraphs
from cfmgml.mining.patterns import SubgraphPatterns

__all__ = ["SubgraphPatterns", "label_entropy", "mine_subgraphs"]
