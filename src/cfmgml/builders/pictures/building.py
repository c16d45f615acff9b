"""Pictures become bags, all at once or a few at a time: `PictureBuild`."""

import contextlib
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from cfmgml.builders.pictures.image_files import ImageError
from cfmgml.builders.pictures.labels import PictureLabels
from cfmgml.builders.pictures.layout import Layout, PictureGraphs, graphs_of, lay_out
from cfmgml.builders.pictures.source_files import common_folder, source_info
from cfmgml.builders.pictures.tasks import Task
from cfmgml.common.processes import Processes
from cfmgml.common.progress import progress
from cfmgml.common.segments import offsets
from cfmgml.common.typing import IntArray
from cfmgml.data.bags import BagDataset
from cfmgml.data.graphs import GraphBatch

if TYPE_CHECKING:
    from cfmgml.builders.pictures.builder import PictureBuilder

FEW = 4  # pictures that are built sooner than worker processes start
AT_ONCE = 64  # pictures of a piece
TOGETHER = 16  # pictures that are described together, where that is not done in workers
AHEAD = 2 * TOGETHER  # pictures that workers may have done before they are asked for: meanwhile others are described
LOST = "its worker process was killed twice; it may need more memory than there is, or crash what decodes it."
DOING = "Building graphs of images"
DESCRIPTION = "Pictures as bags: each region is a graph of touching superpixels."
Report = dict[str, dict[str, Any]]
OfPicture = PictureGraphs | Layout | ImageError


@dataclass
class PictureBuild:
    """Pictures to build, with their labels; what could not be built as it was is noted on the way, by number."""

    tasks: list[Task]
    known: PictureLabels | None
    builder: "PictureBuilder"
    on_error: str
    n_jobs: int | None
    verbose: bool | None
    further: Mapping[str, Any]  # entries of info
    device: str = "cpu"  # of a network that describes nodes
    left_out: Mapping[str, str] = field(default_factory=dict)  # pictures that are no task, and why
    n_built: int = 0
    scaled: dict[int, list[int]] = field(default_factory=dict)
    dropped: dict[int, list[int]] = field(default_factory=dict)
    skipped: dict[int, str] = field(default_factory=dict)

    def load(self) -> BagDataset:
        """All bags at once."""
        with progress(DOING, len(self.tasks), self.verbose) as done, self._results(0) as results:
            built = self._build(results, done)
        return self._assemble(built, self.info(stacklevel=4))

    def pieces(self, start: int = 0) -> Iterator[tuple[BagDataset, IntArray]]:
        """The bags of some pictures at a time, from this one on, with the numbers of their pictures."""
        about = self._about()
        with progress(DOING, len(self.tasks) - start, self.verbose) as done, self._results(start) as results:
            for _ in range(start, len(self.tasks), AT_ONCE):
                built = self._build(islice(results, AT_ONCE), done)
                if built:
                    yield self._assemble(built, about), np.array(list(built))

    # -- building ----------------------------------------------------------------------------

    @contextlib.contextmanager
    def _results(self, start: int) -> Iterator[Iterator[tuple[int, OfPicture]]]:
        """What becomes of each picture, from this one on, with its number; in worker processes, which end with it."""
        describe = self.builder.description is None or self.builder.description.in_workers
        work = partial(_build_one, builder=self.builder, describe=describe)
        n_jobs = 1 if len(self.tasks) <= FEW else -1 if self.n_jobs is None else self.n_jobs
        with Processes(n_jobs) as workers:
            todo = (task if workers.n_workers == 1 else task.from_anywhere for task in self.tasks[start:])
            yield enumerate(workers.map(work, todo, ahead=AHEAD, lost=ImageError(LOST)), start)

    def _build(self, results: Iterator[tuple[int, OfPicture]], done: Callable[[int], None]) -> dict[int, PictureGraphs]:
        """The graphs of every usable picture among these, by its number."""
        built: dict[int, PictureGraphs] = {}
        laid_out: dict[int, Layout] = {}
        for number, result in results:
            if isinstance(result, Layout):
                laid_out[number] = result
            else:
                self._keep(number, result, built)
                done(1)
            if len(laid_out) == TOGETHER:  # while the workers go on
                self._describe(laid_out, built, done)
            if self.skipped and self.on_error == "raise":
                break
        self._describe(laid_out, built, done)
        if self.skipped and self.on_error == "raise":
            raise ImageError(f"image {self._first_skipped()}")
        self.n_built += len(built)
        self.scaled |= {k: list(part.original_size) for k, part in built.items() if part.original_size is not None}
        self.dropped |= {k: part.dropped for k, part in built.items() if part.dropped}
        return built

    def _describe(
        self, laid_out: dict[int, Layout], built: dict[int, PictureGraphs], done: Callable[[int], None]
    ) -> None:
        """Make the graphs of pictures whose nodes are described here, and forget their layouts."""
        graphs = graphs_of_layouts(list(laid_out.values()), self.builder, self.device)
        for number, of_picture in zip(laid_out, graphs, strict=True):
            self._keep(number, of_picture, built)
        done(len(laid_out))
        laid_out.clear()

    def _first_skipped(self) -> str:
        number, reason = next(iter(self.skipped.items()))
        return f"{self.tasks[number].name}: {reason}"

    def _keep(self, number: int, result: PictureGraphs | ImageError, built: dict[int, PictureGraphs]) -> None:
        """Take a picture's graphs over, or note why not: it could not be read, or labels of regions do not fit it."""
        try:
            if isinstance(result, ImageError):
                raise result
            if self.known is not None and self.known.regions is not None and not self.builder.single_graph:
                self.known.of_regions(number, result.regions, result.dropped)  # raises where they do not fit
            built[number] = result
        except ImageError as error:
            self.skipped[number] = str(error)

    # -- putting it together -----------------------------------------------------------------

    def _assemble(self, built: dict[int, PictureGraphs], about: Mapping[str, Any]) -> BagDataset:
        bags = join_pictures({self.tasks[number].name: part for number, part in built.items()}, self.builder)
        labels = {} if self.known is None else _label_arrays(built, self.known, self.builder.single_graph)
        return replace(bags, info=about, **labels)

    def _about(self) -> dict[str, Any]:
        files = {task.name: task.files for task in self.tasks if task.files[0] is not None}
        folder = common_folder(file for row in files.values() for file in row if file is not None)
        return {"description": DESCRIPTION, **source_info(files, folder)}

    def report(self, start: int, stop: int) -> Report:
        """What did not become a graph as it was, of these pictures."""
        kinds = {kind: getattr(self, kind).items() for kind in ("scaled", "dropped", "skipped")}
        return {kind: {str(k): value for k, value in noted if start <= k < stop} for kind, noted in kinds.items()}

    def recall(self, report: Report, n_built: int) -> None:
        """Take over what an earlier build has noted of pictures that need not be built again."""
        self.n_built += n_built
        for kind, noted in report.items():
            getattr(self, kind).update({int(k): value for k, value in noted.items()})

    def info(self, stacklevel: int = 3) -> dict[str, Any]:
        """When all are built: how, from which files, and what did not become a graph as it was, with a warning."""
        if not self.n_built:
            raise ImageError(f"none of the {len(self.tasks)} images can be used; image {self._first_skipped()}")
        about, total = self._about(), len(self.tasks)
        if self.scaled:
            number, (height, width) = next(iter(self.scaled.items()))
            what = f"{len(self.scaled)} of {total} images were scaled down to max_side pixels, such as "
            what += f"{self.tasks[number].name}, which had {width} x {height}; cfmgml inspect lists all of them."
            warnings.warn(what, stacklevel=stacklevel)
        if self.skipped:
            what = f"{len(self.skipped)} of {total} images were skipped, such as {self._first_skipped()}"
            warnings.warn(f"{what} cfmgml inspect lists all of them.", stacklevel=stacklevel)
        folder = f"{about['folder'].path}{os.sep}"
        skipped = {self.tasks[k].name: reason.replace(folder, "") for k, reason in self.skipped.items()}
        return {
            **about,
            "scaled": {self.tasks[k].name: size for k, size in self.scaled.items()},
            "dropped": {self.tasks[k].name: numbers for k, numbers in self.dropped.items()},
            "n_dropped": sum(map(len, self.dropped.values())),
            "skipped": {**self.left_out, **skipped},
            **self.further,
        }


def join_pictures(pictures: Mapping[str, PictureGraphs], builder: "PictureBuilder") -> BagDataset:
    """Bags of pictures by name."""
    parts = list(pictures.values())
    graphs = GraphBatch.concatenate([part.graphs for part in parts])
    graph_names = [
        name if builder.single_graph else f"{name}#{region}"
        for name, part in pictures.items()
        for region in part.regions.tolist()
    ]
    ptr, names = offsets(np.array([len(part.regions) for part in parts])), np.array(list(pictures))
    return BagDataset(graphs, ptr, bag_names=names, graph_names=np.array(graph_names), builder=builder)


def graphs_of_layouts(layouts: Sequence[Layout], builder: "PictureBuilder", device: str = "cpu") -> list[PictureGraphs]:
    """The graphs of pictures that were laid out, their nodes described together."""
    described: Sequence[Any] = [None] * len(layouts)
    if builder.description is not None:
        described = builder.description.describe([layout.nodes for layout in layouts], device)
    return [graphs_of(layout, builder, rows) for layout, rows in zip(layouts, described, strict=True)]


def _build_one(task: Task, builder: "PictureBuilder", describe: bool) -> OfPicture:
    """One picture's graphs; or only its layout, if its nodes are described elsewhere."""
    try:
        layout = lay_out(task.image, task.segments, builder)
        return graphs_of_layouts([layout], builder)[0] if describe else layout
    except ImageError as error:
        return error
    except Exception as error:
        error.add_note(f"This was image {task.name}.")
        raise


def _label_arrays(built: dict[int, PictureGraphs], known: PictureLabels, single_graph: bool) -> dict[str, Any]:
    """Y and, where it is known, graph_Y; a single graph has all labels of its picture."""
    kept = list(built)
    arrays: dict[str, Any] = {"label_names": known.label_names}
    if known.Y is not None:
        arrays["Y"] = known.Y[kept]
    if known.Y_known is not None:
        arrays["Y_known"] = known.Y_known[kept]
    if single_graph:
        if known.regions is not None:
            names = [[name for row in known.regions[number].values() for name in row] for number in kept]
            arrays.setdefault("Y", np.array([np.isin(known.label_names, row) for row in names]))
        return arrays | ({"graph_Y": arrays["Y"]} if known.Y_known is None else {})
    if known.regions is not None:
        of_regions = [known.of_regions(number, part.regions, part.dropped) for number, part in built.items()]
        arrays["graph_Y"] = np.concatenate(of_regions)
        # a label whose only segment was dropped is in no graph, so it is not in the bag
        arrays.setdefault("Y", np.array([labels.any(axis=0) for labels in of_regions]))
    return arrays
