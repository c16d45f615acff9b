"""Methods to compare with, each with the contract of an estimator."""

from cfmgml.baselines.activation_maps import ActivationMaps
from cfmgml.baselines.dummy import Dummy
from cfmgml.baselines.gin_attention import GINAttention
from cfmgml.baselines.hlk import HLK
from cfmgml.baselines.m3miml import M3MIML
from cfmgml.baselines.mgml_ent import MGMLent
from cfmgml.baselines.mi_svm import MISVM
from cfmgml.baselines.miml_fast import MIMLfast
from cfmgml.baselines.pooled import Pooled
from cfmgml.baselines.sgsl_svm import SgslSVM
from cfmgml.baselines.tf_idf import TfIdf
from cfmgml.learning.estimator import BagEstimator

# In the order of tables. What `cfmgml evaluate` can compare is in this list: a baseline's grids are in its own file.
BASELINES: tuple[type[BagEstimator], ...] = (
    HLK, M3MIML, MISVM, MIMLfast, MGMLent, GINAttention, ActivationMaps, TfIdf, Pooled, SgslSVM, Dummy,
)  # fmt: skip

__all__ = [
    "BASELINES", "HLK", "M3MIML", "MISVM", "ActivationMaps", "Dummy", "GINAttention", "MGMLent", "MIMLfast", "Pooled",
    "SgslSVM", "TfIdf",
]  # fmt: skip
