"""Painted pictures: label maps, and files of them (indexed masks with a legend, GeoJSON, COCO), for any kind of input
that says where its nodes lie."""

from cfmgml.builders.painted.maps import label_map
from cfmgml.builders.painted.patches import Outline, outlines
from cfmgml.builders.painted.writing import write_painting

__all__ = ["Outline", "label_map", "outlines", "write_painting"]
