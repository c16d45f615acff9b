"""`CfMGML`, and its file."""

from cfmgml.model.cfmgml import CfMGML

__all__ = ["CfMGML"]
