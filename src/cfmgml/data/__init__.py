"""Graphs, bags of graphs, how they are selected and how they are kept on disk."""
