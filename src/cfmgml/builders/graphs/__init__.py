"""Graphs that people have in files, as bags."""
