"""Pictures as a stream of bags, for stores: what `PictureBuilder.from_files` builds, a few at a time."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from cfmgml.builders.base import with_label_names
from cfmgml.builders.pictures.files import image_build
from cfmgml.data.builder import FileInput
from cfmgml.data.streams import BagStream, Piece
from cfmgml.reading.paths import file_state
from cfmgml.reading.remarks import RepeatedGraphs, remark_labels

if TYPE_CHECKING:
    from cfmgml.builders.pictures.builder import PictureBuilder


class PictureStream(BagStream):
    """Pictures as bags, some pictures at a time."""

    def __init__(self, builder: "PictureBuilder", given: FileInput) -> None:
        self._build, matched = image_build(builder, given)
        self._label_names, self._repeated = given.label_names, RepeatedGraphs()
        known = self._build.known
        self._label_remarks = remark_labels(given.label_names if known is None else known.label_names, matched)
        self._tables = [given.labels, getattr(given.options, "segment_labels", None)]

    @property
    def key(self) -> Any:
        build, known = self._build, self._build.known
        files = [file for task in build.tasks for file in task.files if file is not None]
        names = None if known is None else known.label_names.tolist()
        return [build.builder.told(), build.on_error, names, *map(file_state, [*self._tables, *files])]

    def pieces(self, start: int) -> Iterator[Piece]:
        for bags, inputs in self._build.pieces(start):
            self._repeated.add(bags, inputs)
            yield with_label_names(bags, self._label_names), inputs

    def report(self, start: int, stop: int) -> Any:
        return [self._build.report(start, stop), self._repeated.report(start, stop)]

    def recall(self, report: Any, n_bags: int) -> None:
        self._build.recall(report[0], n_bags)
        self._repeated.recall(report[1])

    def info(self) -> Mapping[str, Any]:
        told = {**self._build.info(), **self._build.builder.told()}  # raises if there is nothing
        return {**told, "overlap": self._repeated.summary(), **self._label_remarks}
