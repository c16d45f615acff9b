"""Methods to compare with, each with the contract of an estimator."""

from cfmgml.baselines.dummy import Dummy
from cfmgml.baselines.gin_attention import GINAttention
from cfmgml.baselines.hlk import HLK
from cfmgml.baselines.m3miml import M3MIML
from cfmgml.baselines.mgml_ent import MGMLent
from cfmgml.baselines.mi_svm import MISVM
from cfmgml.baselines.miml_fast import MIMLfast
from cfmgml.baselines.sgsl_svm import SgslSVM

__all__ = ["HLK", "M3MIML", "MISVM", "Dummy", "GINAttention", "MGMLent", "MIMLfast", "SgslSVM"]
