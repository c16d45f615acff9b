"""Pictures become bags, all at once or a few at a time: `PictureBuild`."""

import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed

from cfmgml.builders.pictures.image_files import ImageError
from cfmgml.builders.pictures.node_features import Features, columns
from cfmgml.builders.pictures.picture_graphs import (
    MAX_NODES,
    MAX_NODES_WHOLE,
    RECIPE_VERSION,
    PictureGraphs,
    Recipe,
    picture_graphs,
)
from cfmgml.builders.pictures.picture_labels import PictureLabels, RegionLabels, check_labels
from cfmgml.builders.pictures.picture_tasks import Task, list_tasks
from cfmgml.builders.pictures.source_files import common_folder, source_info
from cfmgml.common.progress import progress
from cfmgml.common.segments import offsets
from cfmgml.common.typing import IntArray
from cfmgml.data.bags import BagDataset
from cfmgml.data.graphs import GraphBatch

GAMMA = {"paper": 1.0, "hellinger": 1.0, "rich": 0.7}  # of exp(-gamma |x - y|^2) between nodes; chosen on MSRC v2
FEW = 4  # pictures that are built sooner than worker processes start
AT_ONCE = 64  # pictures of a piece
DESCRIPTION = "Pictures as bags: each region is a graph of touching superpixels."
Report = dict[str, dict[str, Any]]


@dataclass
class PictureBuild:
    """Pictures to build, with their labels; what could not be built as it was is noted on the way, by number."""

    tasks: list[Task]
    known: PictureLabels | None
    recipe: Recipe
    on_error: str
    n_jobs: int | None
    verbose: bool | None
    further: Mapping[str, Any]  # entries of info
    n_built: int = 0
    scaled: dict[int, list[int]] = field(default_factory=dict)
    dropped: dict[int, list[int]] = field(default_factory=dict)
    skipped: dict[int, str] = field(default_factory=dict)

    @classmethod
    def checked(
        cls,
        images: Any,
        segments: Any = None,
        *,
        labels: Any = None,
        label_names: Sequence[str] | None = None,
        segment_labels: Sequence[RegionLabels] | None = None,
        names: Sequence[str] | None = None,
        on_error: str = "raise",
        n_jobs: int | None = None,
        verbose: bool | None = None,
        info: Mapping[str, Any] | None = None,
        **parameters: Any,
    ) -> Self:
        """From what `bags_from_images` takes, once all of it was looked at but the pictures themselves."""
        recipe = make_recipe(**parameters)
        if on_error not in ("raise", "skip"):
            raise ValueError(f"on_error must be 'raise' or 'skip', got {on_error!r}.")
        if segment_labels is not None and segments is None:
            raise ValueError("segment_labels need segments: without a mask there is no segment to name.")
        tasks = list_tasks(images, segments, names)
        known = check_labels(labels, label_names, segment_labels, len(tasks))
        return cls(tasks, known, recipe, on_error, n_jobs, verbose, info or {})

    def load(self) -> BagDataset:
        """All bags at once."""
        with self._progress(len(self.tasks)) as done:
            built = self._build(range(len(self.tasks)), done)
        about = self.info(stacklevel=4)
        return BagDataset(**self._assemble(built), info=about)

    def pieces(self, start: int = 0) -> Iterator[tuple[BagDataset, IntArray]]:
        """The bags of some pictures at a time, from this one on, with the numbers of their pictures."""
        about = self._about()
        with self._progress(len(self.tasks) - start) as done:
            for first in range(start, len(self.tasks), AT_ONCE):
                built = self._build(range(first, min(first + AT_ONCE, len(self.tasks))), done)
                if built:
                    yield BagDataset(**self._assemble(built), info=about), np.array(list(built))

    def _progress(self, total: int) -> Any:
        return progress(
            "Building graphs of images", total, sys.stderr.isatty() if self.verbose is None else self.verbose
        )

    # -- building ----------------------------------------------------------------------------

    def _build(self, numbers: range, done: Callable[[int], None]) -> dict[int, PictureGraphs]:
        """The graphs of every usable picture among these, by its number."""
        built: dict[int, PictureGraphs] = {}
        workers = 1 if len(self.tasks) <= FEW else -1 if self.n_jobs is None else self.n_jobs

        def todo() -> Iterator[Any]:
            """Tasks until one has failed: stopping the supply lets the workers end in good order."""
            for number in numbers:
                if self.skipped and self.on_error == "raise":
                    return
                task = self.tasks[number]
                yield delayed(_build_one)(task if workers == 1 else task.from_anywhere, self.recipe)

        for number, result in zip(numbers, Parallel(n_jobs=workers, return_as="generator")(todo()), strict=False):
            done(1)
            try:
                built[number] = self._checked(number, result)
            except ImageError as error:
                self.skipped[number] = str(error)
        if self.skipped and self.on_error == "raise":
            raise ImageError(f"image {self._first_skipped()}")
        self.n_built += len(built)
        self.scaled |= {k: list(part.original_size) for k, part in built.items() if part.original_size is not None}
        self.dropped |= {k: part.dropped for k, part in built.items() if part.dropped}
        return built

    def _first_skipped(self) -> str:
        number, reason = next(iter(self.skipped.items()))
        return f"{self.tasks[number].name}: {reason}"

    def _checked(self, number: int, result: PictureGraphs | ImageError) -> PictureGraphs:
        if isinstance(result, ImageError):
            raise result
        if self.known is not None and self.known.regions is not None and not self.recipe.single_graph:
            self.known.of_regions(number, result.regions, result.dropped)  # raises where they do not fit
        return result

    # -- putting it together -----------------------------------------------------------------

    def _assemble(self, built: dict[int, PictureGraphs]) -> dict[str, Any]:
        parts = list(built.values())
        fields = ("node_ptr", "edge_ptr", "edges", "node_labels", "node_attributes", "node_names")
        batches = [GraphBatch(**{name: getattr(part, name) for name in fields}) for part in parts]
        graphs = GraphBatch.concatenate(batches)
        names = [self.tasks[number].name for number in built]
        graph_names = [
            name if self.recipe.single_graph else f"{name}#{region}"
            for name, part in zip(names, parts, strict=True)
            for region in part.regions.tolist()
        ]
        ptr = offsets(np.array([len(part.regions) for part in parts]))
        own = {"graphs": graphs, "bag_ptr": ptr, "bag_names": names, "graph_names": graph_names}
        return own if self.known is None else own | _label_arrays(built, self.known, self.recipe.single_graph)

    def _about(self) -> dict[str, Any]:
        files = {task.name: task.files for task in self.tasks if task.files[0] is not None}
        folder = common_folder(file for row in files.values() for file in row if file is not None)
        return {
            "builder": "images",
            "description": DESCRIPTION,
            "parameters": self.recipe.to_json(),
            "recipe_version": RECIPE_VERSION,
            **({} if self.recipe.nodes == "labels" else _about_attributes(self.recipe.features)),
            **source_info(files, folder),
        }

    def report(self, start: int, stop: int) -> Report:
        """What did not become a graph as it was, of these pictures."""
        kinds: dict[str, dict[int, Any]] = {"scaled": self.scaled, "dropped": self.dropped, "skipped": self.skipped}
        return {kind: {str(k): noted[k] for k in noted if start <= k < stop} for kind, noted in kinds.items()}

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
            what += f"{self.tasks[number].name}, which had {width} x {height}; see info['scaled']."
            warnings.warn(what, stacklevel=stacklevel)
        if self.skipped:
            what = f"{len(self.skipped)} of {total} images were skipped, such as {self._first_skipped()}"
            warnings.warn(f"{what} See info['skipped'].", stacklevel=stacklevel)
        return {**about, **self._noted(about["folder"].path), **self.further}

    def _noted(self, folder: Path) -> dict[str, Any]:
        named = [{self.tasks[k].name: value for k, value in noted.items()} for noted in (self.scaled, self.dropped)]
        reasons = {self.tasks[k].name: text.replace(f"{folder}{os.sep}", "") for k, text in self.skipped.items()}
        n_dropped = sum(map(len, self.dropped.values()))
        return {"scaled": named[0], "dropped": named[1], "n_dropped": n_dropped, "skipped": reasons}


def make_recipe(**parameters: Any) -> Recipe:
    """The recipe of these parameters, as `bags_from_images` takes them; those not given have their defaults."""
    void = parameters.get("void", 0)
    parameters["void"] = (void,) if isinstance(void, int) else tuple(sorted(int(number) for number in void))
    if parameters.get("max_nodes") is None:
        parameters["max_nodes"] = MAX_NODES_WHOLE if parameters.get("single_graph") else MAX_NODES
    return Recipe(**parameters)


def _build_one(task: Task, recipe: Recipe) -> PictureGraphs | ImageError:
    try:
        return picture_graphs(task.image, task.segments, recipe)
    except ImageError as error:
        return error


def _label_arrays(built: dict[int, PictureGraphs], known: PictureLabels, single_graph: bool) -> dict[str, Any]:
    """Y and, where it is known, graph_Y; a single graph has all labels of its picture."""
    kept = list(built)
    Y = np.array([known.of_image(number) for number in kept])
    arrays: dict[str, Any] = {"label_names": known.label_names, "Y": Y}
    if known.Y_known is not None:
        arrays["Y_known"] = known.Y_known[kept]
    if single_graph:
        return arrays | ({"graph_Y": Y} if known.Y_known is None else {})
    if known.regions is None:
        return arrays
    of_regions = [known.of_regions(number, part.regions, part.dropped) for number, part in built.items()]
    if known.Y is None:  # a label whose only segment was dropped is in no graph, so it is not in the bag
        arrays["Y"] = np.array([labels.any(axis=0) for labels in of_regions])
    return arrays | {"graph_Y": np.concatenate(of_regions)}


def _about_attributes(features: Features) -> dict[str, Any]:
    return {"columns": {name: list(span) for name, span in columns(features).items()}, "gamma": GAMMA[features]}
