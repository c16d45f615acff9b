"""A torch module as an encoder: `TorchEncoder`."""

import copy
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from cfmgml.builders.pictures.encoders import Maps
from cfmgml.builders.pictures.image_files import ByteArray, import_pillow
from cfmgml.common.compute import ON_NUMPY, torch_device
from cfmgml.common.digests import digest_of

if TYPE_CHECKING:
    import torch

IMAGENET_MEAN, IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
MOST_THREADS = 8  # that scale pictures for a card and copy what it found
Prepared: TypeAlias = "tuple[torch.Tensor, Callable[[], object]]"  # what waits until it is there
Encoded: TypeAlias = "tuple[list[torch.Tensor], Callable[[], object]]"
Thing = TypeVar("Thing")


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
    >>> encoder = TorchEncoder(torch.nn.Conv2d(3, 5, 32, stride=32), "patches")
    >>> [one.shape for one in encoder.maps([np.zeros((60, 90, 3), dtype=np.uint8)])[0]]
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
        """The maps of pictures of any size; on a card many at a time, the next ones made ready meanwhile.

        On a card numbers are the same for the same pictures, and within rounding those of the CPU.
        """
        import torch

        place = torch.device("cpu") if device == ON_NUMPY else torch_device(device)
        alike = self._alike(pictures, 1 if place.type == "cpu" else self._batch_size)
        found: list[Maps] = [[] for _ in pictures]
        with ThreadPoolExecutor(1 if place.type == "cpu" else min(MOST_THREADS, os.cpu_count() or 1)) as threads:
            prepared = (self._begin([pictures[k] for k in numbers], place, threads) for numbers in alike)
            encoded = self._encode(_one_ahead(prepared), place)
            numbers = iter(number for some in alike for number in some)
            for maps, is_done in _one_ahead(encoded):
                is_done()
                for own in threads.map(
                    lambda k, maps=maps: [one[k].numpy().copy() for one in maps], range(len(maps[0]))
                ):
                    found[next(numbers)] = own
        return found

    # -- making ready ------------------------------------------------------------------------

    def _size(self, pixels: ByteArray) -> tuple[int, int]:
        """Height and width at which the module sees a picture."""
        height, width = pixels.shape[:2]
        scale = min(self._side / max(height, width), self._enlarge)
        height, width = (max(1, round(side * scale / self._multiple)) * self._multiple for side in (height, width))
        return height, width

    def _alike(self, pictures: Sequence[ByteArray], at_once: int) -> list[list[int]]:
        """Numbers of pictures that are alike in size, some at a time."""
        by_size: dict[tuple[int, int], list[int]] = {}
        for number, pixels in enumerate(pictures):
            by_size.setdefault(self._size(pixels), []).append(number)
        return [some[k : k + at_once] for some in by_size.values() for k in range(0, len(some), at_once)]

    def _begin(self, pictures: list[ByteArray], place: "torch.device", threads: ThreadPoolExecutor) -> Prepared:
        """Pictures scaled to the same size, in threads; the function that comes with them waits until they are."""
        import torch

        height, width = self._size(pictures[0])
        rows = torch.empty((len(pictures), height, width, 3), dtype=torch.uint8, pin_memory=place.type == "cuda")
        begun = threads.map(self._scale_into, pictures, rows.numpy())
        return rows, lambda: deque(begun, maxlen=0)

    def _scale_into(self, pixels: ByteArray, row: ByteArray) -> None:
        image_module = import_pillow()
        scaled = image_module.fromarray(pixels).resize(row.shape[1::-1], image_module.Resampling.BILINEAR)
        row[:] = np.asarray(scaled)

    # -- looking -----------------------------------------------------------------------------

    def _encode(self, prepared: Iterable[Prepared], place: "torch.device") -> Iterator[Encoded]:
        """Maps on their way back from a device, in fewer parts or more as its memory suffices."""
        import torch

        size = self._batch_size
        for pixels, wait in prepared:
            wait()
            start = 0
            while start < len(pixels):
                try:
                    part = self._forward(pixels[start : start + size], place)
                except torch.OutOfMemoryError as error:
                    if size == 1:
                        height, width = pixels.shape[1:3]
                        reason = (
                            f"{self.name} on {place} has no memory for a single picture of {width} x {height} pixels"
                        )
                        raise MemoryError(f"{reason}: use a smaller max_side, or device='cpu'.") from error
                    part = None
                if part is None:  # what the failed one held is free again only now
                    torch.cuda.empty_cache()
                    size = max(1, min(size, len(pixels)) // 2)
                    continue
                yield part
                start += size

    def _forward(self, pixels: "torch.Tensor", place: "torch.device") -> Encoded:
        """Maps (n, rows, columns, channels) of pictures that fit together into a device's memory."""
        import torch

        with torch.inference_mode(), torch.backends.cudnn.flags(deterministic=True, allow_tf32=False):
            given = pixels.to(place, non_blocking=True).float()
            given = (given / 255 - torch.from_numpy(self._mean).to(place)) / torch.from_numpy(self._std).to(place)
            given = given.permute(0, 3, 1, 2)
            if place.type == "cuda":  # where channels are filtered one by one, it is quicker with planes of channels
                given = given.contiguous()
            maps: Any = self._module_on(place)(given)
            maps = [maps] if isinstance(maps, torch.Tensor) else list(maps)
            for one in maps:
                if one.ndim != 4 or len(one) != len(pixels):
                    raise ValueError(
                        f"{self.name} must give maps of shape (n, channels, rows, columns), got {tuple(one.shape)}; a "
                        "transformer's tokens must be laid out as a map first."
                    )
            maps = [one.permute(0, 2, 3, 1).float().contiguous() for one in maps]
            if place.type != "cuda":
                return maps, lambda: None
            back = [torch.empty(one.shape, pin_memory=True).copy_(one, non_blocking=True) for one in maps]
            copied = torch.cuda.current_stream(place).record_event()
            return back, copied.synchronize

    def _module_on(self, place: "torch.device") -> "torch.nn.Module":
        if str(place) not in self._on:
            self._on[str(place)] = self.module if place.type == "cpu" else copy.deepcopy(self.module).to(place)
        return self._on[str(place)]


def _one_ahead(things: Iterable[Thing]) -> Iterator[Thing]:
    """The same things, each when the next one is begun."""
    begun = iter(things)
    former = next(begun, None)
    if former is not None:
        for thing in begun:
            yield former
            former = thing
        yield former
