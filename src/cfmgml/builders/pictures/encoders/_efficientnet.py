"""EfficientNet-Lite (Tan & Le, ICML 2019; the Lite variants are Google's) as a stack of convolutions in torch.

Written from the shapes of the published weights: a block whose output has other channels than its input opens a stage,
and the stages' strides are the same in all Lite variants. Batch normalisation is folded into the convolutions.
"""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

STAGE_STRIDES = (1, 2, 2, 2, 1, 2, 1)
BN_EPSILON = 1e-3
Weights = Mapping[str, Tensor]


class Convolution(nn.Module):
    """A convolution with the batch normalisation that follows it, padded as TensorFlow pads even sizes.

    Its state is what was published; what is folded from that differs in its last bits between processors.
    """

    kernel: Tensor
    bias: Tensor

    def __init__(self, weights: Weights, convolution: str, norm: str, stride: int = 1, active: bool = True) -> None:
        super().__init__()
        kernel = weights[f"{convolution}.weight"]
        published = [weights[f"{norm}.{name}"] for name in ("weight", "bias", "running_mean", "running_var")]
        for name, values in zip(("given", "scale", "shift", "mean", "variance"), [kernel, *published], strict=True):
            self.register_buffer(name, values)
        weight, shift, mean, variance = published
        scale = weight / torch.sqrt(variance + BN_EPSILON)
        self.register_buffer("kernel", kernel * scale[:, None, None, None], persistent=False)
        self.register_buffer("bias", shift - mean * scale, persistent=False)
        self.groups = 1 if kernel.shape[1] > 1 or kernel.shape[0] == 1 else kernel.shape[0]
        self.stride, self.active = stride, active
        total = kernel.shape[-1] - stride  # of padding along an axis
        self.padding = (total // 2, total - total // 2)

    def forward(self, x: Tensor) -> Tensor:
        if self.padding[0] == self.padding[1]:
            y = functional.conv2d(x, self.kernel, self.bias, self.stride, self.padding[0], groups=self.groups)
        else:
            padded = functional.pad(x, self.padding * 2)
            y = functional.conv2d(padded, self.kernel, self.bias, self.stride, groups=self.groups)
        return functional.relu6(y) if self.active else y


class Block(nn.Module):
    """An inverted bottleneck: widen, filter each channel, narrow; the input is added where it fits."""

    def __init__(self, weights: Weights, prefix: str, stride: int, adds_input: bool) -> None:
        super().__init__()
        names = ["_depthwise_conv", "_project_conv"]
        if f"{prefix}._expand_conv.weight" in weights:
            names.insert(0, "_expand_conv")
        norms = [f"_bn{k}" for k in range(3 - len(names), 3)]
        self.layers = nn.Sequential(
            *(
                Convolution(
                    weights,
                    f"{prefix}.{name}",
                    f"{prefix}.{norm}",
                    stride if name == "_depthwise_conv" else 1,
                    active=name != "_project_conv",
                )
                for name, norm in zip(names, norms, strict=True)
            )
        )
        self.adds_input = adds_input

    def forward(self, x: Tensor) -> Tensor:
        y = self.layers(x)
        return x + y if self.adds_input else y


class EfficientNetLite(nn.Module):
    """The last maps of these strides, and that of the last layer."""

    def __init__(self, weights: Weights, strides: Sequence[int] = (16, 32)) -> None:
        super().__init__()
        self.stem = Convolution(weights, "_conv_stem", "_bn0", stride=2)
        self.blocks = nn.ModuleList()
        channels, stage, stride, of_block = weights["_conv_stem.weight"].shape[0], -1, 2, []
        while f"_blocks.{len(self.blocks)}._project_conv.weight" in weights:
            prefix = f"_blocks.{len(self.blocks)}"
            narrow = weights[f"{prefix}._project_conv.weight"].shape[0]
            opens = narrow != channels
            stage += opens
            step = STAGE_STRIDES[stage] if opens else 1
            self.blocks.append(Block(weights, prefix, step, not opens))
            channels, stride = narrow, stride * step
            of_block.append(stride)
        self.head = Convolution(weights, "_conv_head", "_bn1")
        self.last = {max(k for k, has in enumerate(of_block) if has == wanted) for wanted in strides}

    def forward(self, pixels: Tensor) -> list[Tensor]:
        """Maps of pictures (n, 3, height, width), scaled to about -1 to 1, whose sides are multiples of 32."""
        x = self.stem(pixels)
        maps = []
        for number, block in enumerate(self.blocks):
            x = block(x)
            if number in self.last:
                maps.append(x)
        return [*maps, self.head(x)]
