"""A torch module as an encoder: `TorchEncoder`."""

import copy
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from cfmgml.builders.pictures.encoders import Maps
from cfmgml.builders.pictures.image_files import ByteArray, import_pillow
from cfmgml.common.compute import ON_NUMPY, torch_device
from cfmgml.common.digests import digest_of
from cfmgml.common.typing import FloatArray

if TYPE_CHECKING:
    import torch

IMAGENET_MEAN, IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


class TorchEncoder:
    """A torch module that gives maps of pictures, ready to describe nodes with.

    Parameters
    ----------
    module
        Called with pictures (n, 3, height, width) it gives one map (n, channels, rows, columns), or a list of them.
    name
        What bags and models call it.
    map_names
        One a map; ``map_0``, ``map_1``, ... if left out.
    mean, std
        Of the pixels 0 to 1 that it was trained with; by default ImageNet's.
    side, enlarge
        A picture is scaled so that its longest side has ``side`` pixels, but enlarged no more than ``enlarge`` times.
    multiple
        Sides are rounded to multiples of it, which is the module's largest stride.
    batch_size
        Pictures of one size that a card is given at a time; fewer where its memory does not suffice. On a CPU it is
        one at a time, which is as quick, and so the numbers do not depend on what else is built.

    Examples
    --------
    >>> import torch
    >>> encoder = TorchEncoder(torch.nn.Conv2d(3, 5, 32, stride=32), "patches")  # doctest: +SKIP
    >>> [one.shape for one in encoder.maps([np.zeros((60, 90, 3), dtype=np.uint8)])[0]]  # doctest: +SKIP
    [(4, 6, 5)]
    """

    def __init__(
        self,
        module: "torch.nn.Module",
        name: str,
        *,
        map_names: Sequence[str] | None = None,
        mean: Sequence[float] = IMAGENET_MEAN,
        std: Sequence[float] = IMAGENET_STD,
        side: int = 640,
        enlarge: float = 2.0,
        multiple: int = 32,
        batch_size: int = 32,
    ) -> None:
        self.module = module.eval()
        self.name = name
        self._map_names = map_names
        self._mean, self._std = (np.asarray(values, dtype=np.float32) for values in (mean, std))
        self._side, self._enlarge, self._multiple, self._batch_size = side, enlarge, multiple, batch_size
        self._on: dict[str, torch.nn.Module] = {}

    @cached_property
    def digest(self) -> str:
        weights = {name: values.detach().cpu().numpy() for name, values in self.module.state_dict().items()}
        prepared = [self._mean.tolist(), self._std.tolist(), self._side, self._enlarge, self._multiple]
        return digest_of(weights, prepared)

    @cached_property
    def widths(self) -> Mapping[str, int]:
        (maps,) = self.maps([np.zeros((64, 64, 3), dtype=np.uint8)])
        names = [f"map_{k}" for k in range(len(maps))] if self._map_names is None else self._map_names
        return {name: one.shape[2] for name, one in zip(names, maps, strict=True)}

    def maps(self, pictures: Sequence[ByteArray], device: str = "cpu") -> list[Maps]:
        """The maps of pictures of any size; on a card many at a time."""
        prepared = [self._prepare(pixels) for pixels in pictures]
        by_size: dict[tuple[int, ...], list[int]] = {}
        for number, one in enumerate(prepared):
            by_size.setdefault(one.shape, []).append(number)
        found: list[Maps] = [[] for _ in pictures]
        for numbers in by_size.values():
            size = 1 if device in (ON_NUMPY, "torch:cpu") else self._batch_size
            for number, maps in zip(numbers, self._encode([prepared[k] for k in numbers], device, size), strict=True):
                found[number] = maps
        return found

    # -- one size at a time ------------------------------------------------------------------

    def _prepare(self, pixels: ByteArray) -> ByteArray:
        """A picture at the size at which the module sees it."""
        height, width = pixels.shape[:2]
        scale = min(self._side / max(height, width), self._enlarge)
        size = [max(1, round(side * scale / self._multiple)) * self._multiple for side in (width, height)]
        image_module = import_pillow()
        return np.asarray(image_module.fromarray(pixels).resize(size, image_module.Resampling.BILINEAR))

    def _encode(self, pictures: list[ByteArray], device: str, size: int) -> Iterator[Maps]:
        """Maps of pictures that are alike in size, some at a time; fewer where a card's memory does not suffice."""
        import torch

        place = torch.device("cpu") if device == ON_NUMPY else torch_device(device)
        start = 0
        while start < len(pictures):
            try:
                batch = self._forward(np.stack(pictures[start : start + size]), place)
            except torch.OutOfMemoryError as error:
                if size == 1:
                    height, width = pictures[start].shape[:2]
                    reason = f"{self.name} on {device} has no memory for a single picture of {width} x {height} pixels"
                    raise MemoryError(f"{reason}: use a smaller max_side, or device='cpu'.") from error
                torch.cuda.empty_cache()
                size = max(1, size // 2)
                continue
            for k in range(len(batch[0])):
                yield [one[k] for one in batch]
            start += size

    def _forward(self, pixels: ByteArray, place: "torch.device") -> list[FloatArray]:
        """Maps (n, rows, columns, channels) of pictures that fit together into a device's memory."""
        import torch

        with torch.inference_mode(), torch.backends.cudnn.flags(deterministic=True, allow_tf32=False):
            given = torch.from_numpy(pixels).to(place).float()
            given = (given / 255 - torch.from_numpy(self._mean).to(place)) / torch.from_numpy(self._std).to(place)
            maps: Any = self._module_on(place)(given.permute(0, 3, 1, 2))  # channels stay last in memory
            maps = [maps] if isinstance(maps, torch.Tensor) else list(maps)
            for one in maps:
                if one.ndim != 4 or len(one) != len(pixels):
                    raise ValueError(
                        f"{self.name} must give maps of shape (n, channels, rows, columns), got {tuple(one.shape)}; a "
                        "transformer's tokens must be laid out as a map first."
                    )
            return [one.permute(0, 2, 3, 1).float().cpu().contiguous().numpy() for one in maps]

    def _module_on(self, place: "torch.device") -> "torch.nn.Module":
        if str(place) not in self._on:
            self._on[str(place)] = self.module if place.type == "cpu" else copy.deepcopy(self.module).to(place)
        return self._on[str(place)]
