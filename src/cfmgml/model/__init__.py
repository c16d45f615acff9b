"""`CfMGML`, its file, and the mean of several."""

from cfmgml.model.cfmgml import CfMGML
from cfmgml.model.mean import mean_model

__all__ = ["CfMGML", "mean_model"]
