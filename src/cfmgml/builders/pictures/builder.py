"""The kind ``images``: `PictureBuilder`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, get_args

from cfmgml.builders.base import Builder
from cfmgml.builders.pictures.answering import answer_photo, noise_file
from cfmgml.builders.pictures.building import PictureBuild
from cfmgml.builders.pictures.descriptions import (
    NodeDescription,
    description_names,
    find_description,
    register_description,
)
from cfmgml.builders.pictures.drawing import plot_image_bag
from cfmgml.builders.pictures.files import image_build
from cfmgml.builders.pictures.labels import RegionLabels, check_labels
from cfmgml.builders.pictures.masks import node_map, write_region_masks
from cfmgml.builders.pictures.stream import PictureStream
from cfmgml.builders.pictures.tasks import list_tasks
from cfmgml.common.extras import install_command
from cfmgml.common.typing import FloatArray, NumberArray
from cfmgml.data.bags import BagDataset
from cfmgml.data.builder import PARAMETERS, FileInput, FileOptions, parameter, state
from cfmgml.data.questions import Form, InputLimits, Question, Reply
from cfmgml.data.streams import BagStream
from cfmgml.reading.remarks import with_remarks

Nodes = Literal["attributes", "labels", "both"]
Regions = Literal["merged", "felzenszwalb"]
FORMER_REGIONS = "felzenszwalb"  # of bags and models that do not say
MAX_NODES, MAX_NODES_WHOLE = 30, 200


@dataclass(frozen=True)
class PictureFiles(FileOptions):
    """How to read a folder of pictures."""

    segments: Path | None = parameter(None, "Folder of masks, called like the pictures.")
    segment_labels: Path | None = parameter(None, "Table of image, segment and label.")
    on_error: Literal["stop", "skip"] = parameter("stop", "Stop at pictures that cannot be used, or skip them.")
    n_jobs: int | None = parameter(None, "Worker processes; by default one a core.")
    device: str = parameter("cpu", "Where a network that describes nodes runs: cpu, or cuda for a card.", shown="cpu")


@dataclass(frozen=True)
class PictureBuilder(Builder):
    """Photos as bags of regions, each a graph of superpixels; `bags_from_images` says what the parameters mean."""

    kind = "images"
    nouns = "pictures"
    part = "region"
    form = Form("image", "A picture")
    file_options: ClassVar[type[FileOptions]] = PictureFiles
    libraries = ("scikit-image", "pillow")
    graphs_per_partition = 1_000  # a node has 900 numbers
    drawn_with: ClassVar[Mapping[str, Any]] = {"show_graphs": False}
    help = (
        "Pictures: each becomes a bag, and each of its regions a graph of superpixels.\n\n"
        "INPUT is a folder, a glob, picture files, or a table with a column image. --labels names a table (CSV, JSONL "
        "or Parquet) with a column image and one of: labels ('cow;grass'), label (a row each), or a column of 0 and 1 "
        "for each label.\n\n\b\nExamples:\n"
        "  cfmgml build images photos --labels labels.csv -o photos.bags\n"
        "  cfmgml build images photos --labels labels.csv --segments masks -o masked.bags\n"
        "  cfmgml build images 'photos/*.png' --features hellinger -o unlabelled.bags\n"
        "  cfmgml build images new --like photos.bags -o new.bags"
    )

    features: str = parameter("rich", "What nodes know of their pixels.", shown="rich", choices=description_names)
    nodes: Nodes = "both"
    single_graph: bool = parameter(False, "One graph a picture.")
    void: tuple[int, ...] = parameter((0,), free=True)
    pixels_per_node: float = 400
    min_nodes: int = 2
    max_nodes: int | None = None
    min_pixels: int = parameter(1, free=True)
    max_regions: int = parameter(8, "Most regions found in a picture without mask.", least=1, shown="8", free=True)
    max_side: int | None = parameter(640, "Larger pictures are scaled down to it.", least=16, shown="640")
    regions: Regions = parameter("merged", free=True)  # how they are found in a picture without mask
    features_version: int | None = state("features_version")  # this and what follows are the description's
    columns: Mapping[str, list[int]] | None = state("columns")
    gamma: float | None = state("gamma")
    encoder: str | None = state("encoder")

    def __post_init__(self) -> None:
        put = object.__setattr__
        given: Any = self.features
        if not isinstance(given, str):
            put(self, "features", register_description(given, getattr(given, "name", "")))
        void: int | Iterable[int] = self.void
        put(self, "void", (void,) if isinstance(void, int) else tuple(sorted(int(number) for number in void)))
        if self.max_nodes is None:
            put(self, "max_nodes", MAX_NODES_WHOLE if self.single_graph else MAX_NODES)
        if self.nodes not in get_args(Nodes):
            raise ValueError(f"nodes must be one of {', '.join(get_args(Nodes))}, got {self.nodes!r}.")
        if self.regions not in get_args(Regions):
            raise ValueError(f"regions must be one of {', '.join(get_args(Regions))}, got {self.regions!r}.")
        for name in ("pixels_per_node", "min_nodes", "min_pixels", "max_regions"):
            if not getattr(self, name) >= 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}.")
        if self.max_nodes is not None and self.max_nodes < self.min_nodes:
            raise ValueError(f"max_nodes must be at least min_nodes, {self.min_nodes}, got {self.max_nodes}.")
        if self.max_side is not None and self.max_side < 16:
            raise ValueError(f"max_side must be at least 16, or None for no limit, got {self.max_side}.")
        if self.features_version is None or (self.columns is None and self.nodes != "labels"):
            self._settle_description()

    def _settle_description(self) -> None:
        """Note what nodes are described by; a file has noted it, and is read where the description is not known."""
        description = find_description(self.features)
        noted: dict[str, Any] = {"features_version": description.version}
        if self.nodes != "labels":
            columns = {name: list(span) for name, span in description.columns.items()}
            noted |= {"columns": columns, "gamma": description.gamma, "encoder": description.identity}
        for name, value in noted.items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, value)

    @property
    def description(self) -> NodeDescription | None:
        """What the attributes of nodes are; None if they have none."""
        return None if self.nodes == "labels" else find_description(self.features)

    @property
    def advice(self) -> str:
        if self.encoder is not None or self.nodes == "labels":
            return ""
        return (
            f"--features deep lets a pretrained network describe the nodes ({install_command('cfmgml[deep]')}): slower "
            "to build, and far more accurate on photos of everyday things."
        )

    @property
    def most_parts(self) -> int | None:
        return None if self.single_graph else self.max_regions

    @property
    def parameters(self) -> dict[str, Any]:
        """As JSON can hold them; those of older bags and models as they were written."""
        named = super().parameters
        if self.regions == FORMER_REGIONS:
            del named["regions"]
        return named

    @classmethod
    def from_told(cls, info: Mapping[str, Any]) -> Self:
        named = info.get(PARAMETERS, {})
        known = {"regions": FORMER_REGIONS, **named} if isinstance(named, Mapping) else named
        return super().from_told({**info, PARAMETERS: known})

    @property
    def settled(self) -> dict[str, Any]:
        return super().settled if self.encoder is None else {**super().settled, "encoder": self.encoder}

    def check_version(self) -> None:
        super().check_version()
        here = None if self.description is None else self.description.identity
        if here != self.encoder:
            raise ValueError(
                f"these pictures were described by {self.encoder or 'no network'}, and here features={self.features!r} "
                f"is {here or 'no network'}: use the encoder and weights that trained the model, or train anew."
            )

    # -- building ----------------------------------------------------------------------------

    def build(self, sources: Any, labels: Any = None, **options: Any) -> BagDataset:
        """Bags from pictures; ``options`` are those of `prepare`."""
        return self.prepare(sources, labels=labels, **options).load()

    def prepare(
        self,
        images: str | Path | Sequence[Any],
        segments: str | Path | Sequence[Any] | None = None,
        *,
        labels: Any = None,
        label_names: Sequence[str] | None = None,
        segment_labels: Sequence[RegionLabels] | None = None,
        names: Sequence[str] | None = None,
        on_error: str = "raise",
        n_jobs: int | None = None,
        verbose: bool | None = None,
        info: Mapping[str, Any] | None = None,
        device: str = "cpu",
    ) -> PictureBuild:
        """What to build, once all of it was looked at but the pictures themselves; as `bags_from_images` takes it."""
        if on_error not in ("raise", "skip"):
            raise ValueError(f"on_error must be 'raise' or 'skip', got {on_error!r}.")
        if segment_labels is not None and segments is None:
            raise ValueError("segment_labels need segments: without a mask there is no segment to name.")
        self.check_version()
        if device != "cpu" and (self.description is None or self.description.in_workers):
            raise ValueError(f"features={self.features!r} are computed on the CPU: leave device={device!r} out.")
        tasks = list_tasks(images, segments, names)
        known = check_labels(labels, label_names, segment_labels, len(tasks))
        return PictureBuild(tasks, known, self, on_error, n_jobs, verbose, info or {}, device)

    def from_files(self, given: FileInput) -> BagDataset:
        build, matched = image_build(self, given)
        return with_remarks(build.load(), matched)

    def stream(self, given: FileInput) -> BagStream:
        return PictureStream(self, given)

    # -- showing and answering ---------------------------------------------------------------

    def show(self, bags: BagDataset, k: int = 0, contributions: FloatArray | None = None, **shown: Any) -> Any:
        return plot_image_bag(bags, k, contributions=contributions, **shown)

    def node_map(self, bags: BagDataset, k: int = 0, **content: Any) -> NumberArray:
        return node_map(bags, k, **content)

    def write_regions(self, bags: BagDataset, into: Path, **content: Any) -> None:
        write_region_masks(bags, into, **content)

    def ask(self, sent: Question, limits: InputLimits) -> Reply:
        assert isinstance(sent.content, bytes)
        most = min(self.max_regions if sent.regions is None else sent.regions, limits.regions)
        return answer_photo(sent.content, replace(self, max_regions=most), limits)

    def example(self) -> Question | None:
        return Question(noise_file(96))
