"""EfficientNet-Lite2, for ``features="deep_lite2"``: 6.1 million parameters, slower than Lite0."""

from cfmgml.builders.pictures.encoders.efficientnet_lite import efficientnet_lite
from cfmgml.builders.pictures.encoders.torch_encoder import TorchEncoder


def efficientnet_lite2() -> TorchEncoder:
    return efficientnet_lite(2, "deep_lite2")
