"""Bags of graphs to learn from: loaders and builders."""

from cfmgml.datasets.digits import load_digit_bags

__all__ = ["load_digit_bags"]
