"""Models to look at without any data of one's own: handwritten digits, photos that come with other packages, texts.

The photos are those inside scikit-image and scikit-learn. There is one of each subject, so the photo model learns from
crops of the very photos that it is shown on: it shows what the page does, not how well the method works. The digits'
samples are digits that it has not seen.
"""

import io
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec

import numpy as np
from sklearn.datasets import load_digits, load_sample_images

from cfmgml.builders.pictures.builder import PictureBuilder
from cfmgml.builders.pictures.encoders.efficientnet_lite0 import WEIGHTS
from cfmgml.builders.pictures.image_files import ByteArray, import_pillow
from cfmgml.common.cache import CacheFolder, cached
from cfmgml.common.digests import digest_of
from cfmgml.data.bags import BagDataset
from cfmgml.data.builder import known_builder
from cfmgml.datasets import load_digit_bags
from cfmgml.datasets.digits import digit_numbers
from cfmgml.demo.letters import letters_exhibit
from cfmgml.kernels import NodeSum
from cfmgml.model.cfmgml import CfMGML
from cfmgml.model.files import versions
from cfmgml.web.exhibits import Exhibit, Sample

N_DIGIT_BAGS = 300
STRIP_LENGTHS = (4, 3, 5, 2)
SCALE = 16  # screen pixels a pixel of a digit
N_CROPS = 9  # of each photo
SAMPLE_SIDE = 480
CROP_SIDE = 224
LEAST_SHARE = 0.12  # of a crop that a subject must fill to be one of its labels
MOST_UNNAMED = 0.02  # that it may fill where it is none
ALPHA = 1e-4

Box = tuple[float, float, float, float]  # left, top, right, bottom, as shares of the photo


@dataclass(frozen=True)
class Subject:
    """What a photo shows, and where."""

    label: str
    boxes: tuple[Box, ...]

    def share(self, crop: Box) -> float:
        """How much of a crop it fills."""
        return sum(_overlap(box, crop) for box in self.boxes) / _overlap(crop, crop)


def _overlap(a: Box, b: Box) -> float:
    return max(0.0, min(a[2], b[2]) - max(a[0], b[0])) * max(0.0, min(a[3], b[3]) - max(a[1], b[1]))


SUBJECTS = {
    "coffee": (
        Subject("cup", ((0.13, 0.04, 0.80, 0.97),)),
        Subject("wood", ((0.0, 0.0, 0.13, 1.0), (0.80, 0.0, 1.0, 1.0), (0.13, 0.0, 0.28, 0.25))),
    ),
    "chelsea": (Subject("cat", ((0.0, 0.0, 0.80, 1.0),)),),
    "astronaut": (
        Subject("person", ((0.20, 0.05, 0.66, 1.0),)),
        Subject("flag", ((0.0, 0.0, 0.20, 0.75),)),
        Subject("wall", ((0.66, 0.0, 1.0, 0.60), (0.20, 0.0, 0.34, 0.45))),
    ),
    "rocket": (Subject("sky", ((0.0, 0.0, 1.0, 0.75),)), Subject("rocket", ((0.40, 0.28, 0.60, 0.97),))),
    "hubble": (Subject("stars", ((0.0, 0.0, 1.0, 1.0),)),),
    "china": (
        Subject("building", ((0.12, 0.05, 0.56, 0.90),)),
        Subject("sky", ((0.0, 0.0, 0.30, 0.25), (0.42, 0.0, 1.0, 0.45))),
        Subject("tree", ((0.50, 0.72, 1.0, 1.0), (0.0, 0.75, 0.40, 1.0), (0.88, 0.30, 1.0, 0.72))),
    ),
    "flower": (
        Subject("flower", ((0.27, 0.20, 0.70, 0.85),)),
        Subject("leaf", ((0.0, 0.0, 0.27, 1.0), (0.70, 0.0, 1.0, 0.9))),
    ),
}


def demo_exhibits(
    n_crops: int = N_CROPS, n_bags: int = N_DIGIT_BAGS, cache_dir: CacheFolder = None
) -> dict[str, Exhibit]:
    """All models, trained on so many crops a photo and so many bags of digits, with their samples; the second time
    they come from the folder where built bags are kept."""
    photos = load_photos()
    described = PictureBuilder(features=photo_features())
    seen = digest_of({name: np.ascontiguousarray(pixels) for name, pixels in photos.items()}, repr(SUBJECTS))
    key = {"versions": versions(described), "builder": described.told(), "alpha": ALPHA}
    return {
        "photos": Exhibit(
            cached(
                CfMGML,
                "demo_photos.cfmgml",
                {**key, "n_crops": n_crops, "photos": seen},
                lambda: train_photos(photos, n_crops),
                cache_dir,
            ),
            title="Photos",
            about="Learned from small crops of seven photos, and from the names of what is somewhere in a crop; nobody "
            "told it where. The samples are the same photos, whole: see what it does, not how good it is.",
            samples=tuple(Sample(name, data, "image/jpeg") for name, data in photo_files(photos).items()),
        ),
        "digits": Exhibit(
            cached(
                CfMGML,
                "demo_digits.cfmgml",
                {"versions": versions(), "alpha": ALPHA, "n_bags": n_bags},
                lambda: train_digits(n_bags),
                cache_dir,
            ),
            title="Digits",
            about=f"Learned from {n_bags} bags of 2 to 5 handwritten digits, and from which digits are in a bag. "
            "The samples are digits it has not seen. Your own: a row of digits in equal squares.",
            samples=digit_strips(),
        ),
        "texts": letters_exhibit(),
    }


# -- digits ----------------------------------------------------------------------------------


def train_digits(n_bags: int = N_DIGIT_BAGS) -> CfMGML:
    """A model of handwritten digits, as in ``cfmgml demo``."""
    return CfMGML(NodeSum(), alpha=ALPHA).fit(load_digit_bags("train", n_bags))


def digit_strips() -> tuple[Sample, ...]:
    """Rows of digits from the test set, as images."""
    digits, ends = load_digits(), np.cumsum(STRIP_LENGTHS)
    strips = []
    for chosen in np.split(digit_numbers()[::-1][: ends[-1]], ends[:-1]):
        row = np.concatenate(list(digits.images[chosen]), axis=1)
        pixels = (255 - 15 * row).astype(np.uint8).repeat(SCALE, axis=0).repeat(SCALE, axis=1)
        truth = tuple(map(str, digits.target[chosen].tolist()))
        strips.append(Sample(" ".join(truth), _file(np.stack([pixels] * 3, axis=2), "PNG"), "image/png", truth))
    return tuple(strips)


# -- photos ----------------------------------------------------------------------------------


def load_photos() -> dict[str, ByteArray]:
    """The photos by name, from the packages that hold them; nothing is fetched."""
    data = import_module("skimage.data")
    china, flower = load_sample_images().images
    return {
        "chelsea": data.chelsea(),
        "coffee": data.coffee(),
        "china": china,
        "flower": flower,
        "astronaut": data.astronaut(),
        "rocket": data.rocket(),
        "hubble": data.hubble_deep_field()[:600, :800],
    }


def photo_files(photos: dict[str, ByteArray]) -> dict[str, bytes]:
    """The photos as JPEG files."""
    return {name: _file(pixels, "JPEG") for name, pixels in photos.items()}


def train_photos(
    photos: dict[str, ByteArray], n_crops: int = N_CROPS, seed: int = 0, features: str | None = None
) -> CfMGML:
    """A small model of the photos' subjects, from crops; by default with the best nodes that can be had here."""
    bags = photo_bags(photos, n_crops, seed, features or photo_features())
    return CfMGML(NodeSum(gamma=known_builder(bags.builder).gamma), alpha=ALPHA).fit(bags)


def photo_features() -> str:
    """``deep`` where the extra is installed, else the best that needs no network."""
    return "deep" if all(find_spec(name) for name in ("torch", WEIGHTS)) else "rich"


def photo_bags(photos: dict[str, ByteArray], n_crops: int, seed: int, features: str = "rich") -> BagDataset:
    """Random crops of each photo, labelled with the subjects in them; what shows none says what is no subject."""
    rng = np.random.default_rng(seed)
    images, labels, names = [], [], []
    for name, pixels in photos.items():
        for number in range(n_crops):
            crop = _draw_crop(name, rng)
            images.append(_scaled(pixels, crop))
            labels.append([subject.label for subject in SUBJECTS[name] if subject.share(crop) >= LEAST_SHARE])
            names.append(f"{name} {number}")
    about = {"description": "crops of photos that come with scikit-image and scikit-learn"}
    builder = PictureBuilder(features=features)
    return builder.build(images, labels, names=names, info=about, n_jobs=1, verbose=False)


def _draw_crop(name: str, rng: np.random.Generator) -> Box:
    """A part of a photo in which each subject fills enough to be named, or next to nothing."""
    while True:
        width, height = rng.uniform(0.2, 0.8, 2)
        left, top = rng.uniform(0, 1 - width), rng.uniform(0, 1 - height)
        crop = (left, top, left + width, top + height)
        shares = [subject.share(crop) for subject in SUBJECTS[name]]
        if all(share >= LEAST_SHARE or share <= MOST_UNNAMED for share in shares):
            return crop


def _scaled(pixels: ByteArray, crop: Box) -> ByteArray:
    image_module = import_pillow()
    height, width = pixels.shape[:2]
    box = round(crop[0] * width), round(crop[1] * height), round(crop[2] * width), round(crop[3] * height)
    image = image_module.fromarray(pixels).crop(box)
    image.thumbnail((CROP_SIDE, CROP_SIDE))
    return np.asarray(image, dtype=np.uint8)


def _file(pixels: ByteArray, kind: str) -> bytes:
    stream = io.BytesIO()
    image = import_pillow().fromarray(pixels)
    if kind == "JPEG":
        image.thumbnail((SAMPLE_SIDE, SAMPLE_SIDE))
    image.save(stream, kind, quality=90)
    return stream.getvalue()
