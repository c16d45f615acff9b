"""Raw input as people have it (folders, globs, tables, graph files) as bags: what the command line calls."""

from cfmgml.common.tables import read_table, write_table
from cfmgml.inputs.describe import describe_file
from cfmgml.inputs.graphs import graph_bags
from cfmgml.inputs.images import image_bags
from cfmgml.inputs.like import Pattern, bags_like, read_pattern
from cfmgml.inputs.texts import text_bags
from cfmgml.learning.predictions import prediction_rows

__all__ = [
    "Pattern",
    "bags_like",
    "describe_file",
    "graph_bags",
    "image_bags",
    "prediction_rows",
    "read_pattern",
    "read_table",
    "text_bags",
    "write_table",
]
