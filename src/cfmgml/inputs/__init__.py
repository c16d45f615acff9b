"""Raw input as people have it, built like a model's training data, and what a model says of it, as tables."""

from cfmgml.common.tables import read_table, write_table
from cfmgml.inputs.describe import describe_file
from cfmgml.inputs.patterns import Pattern, bags_like, read_pattern
from cfmgml.learning.predictions import prediction_rows

__all__ = ["Pattern", "bags_like", "describe_file", "prediction_rows", "read_pattern", "read_table", "write_table"]
