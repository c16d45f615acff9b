"""Methods to compare with, each with the contract of an estimator."""

from cfmgml.baselines.dummy import Dummy
from cfmgml.baselines.hlk import HLK
from cfmgml.baselines.sgsl_svm import SgslSVM

__all__ = ["HLK", "Dummy", "SgslSVM"]
