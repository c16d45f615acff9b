"""A kind of input in one file: `Builder` does all that `BagBuilder` asks for, but ``build``."""

import codecs
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from cfmgml.common.typing import FloatArray, NameArray
from cfmgml.data.bags import BagDataset
from cfmgml.data.builder import BagBuilder, FileInput
from cfmgml.data.questions import Form, InputLimits, Question, Refused, Reply, nodes_as_words
from cfmgml.data.streams import BagStream, Piece
from cfmgml.plots.graphs import plot_graph_bag
from cfmgml.reading.labels import read_labels
from cfmgml.reading.matching import RowMatch, match_files
from cfmgml.reading.paths import file_names, list_files
from cfmgml.reading.remarks import with_remarks


@dataclass(frozen=True)
class Builder(BagBuilder):
    """How files of one kind become bags: a file is a bag, unless a kind reads its files otherwise.

    A kind has at least ``kind`` and ``build``; its parameters are its fields. Registered by an entry point of the group
    ``cfmgml.builders``, it goes through every command, the page, plots, caches and files:

    >>> from cfmgml import BagDataset, GraphBatch
    >>> @dataclass(frozen=True)
    ... class LetterBuilder(Builder):
    ...     kind = "letters"
    ...     nouns = "words"
    ...
    ...     def build(self, sources, labels=None):
    ...         sizes = [len(word) for word in sources]
    ...         letters = [ord(letter) for word in sources for letter in word]
    ...         ends = np.cumsum([0, *sizes])
    ...         none = np.zeros(len(sizes) + 1, dtype=int)
    ...         return BagDataset(GraphBatch(ends, none, [[], []], letters), np.arange(len(sizes) + 1))
    >>> bags = LetterBuilder().build(["cow", "sky"])
    >>> bags.builder
    LetterBuilder()
    >>> bags.builder.rebuild(["grass"]).graphs.n_nodes
    5
    """

    suffixes: ClassVar[tuple[str, ...]] = (".txt",)  # of the files that a folder stands for
    form = Form("text", "Your input")

    @property
    def settled(self) -> dict[str, Any]:
        version = getattr(self, "features_version", None)
        return self.parameters if version is None else {**self.parameters, "features_version": version}

    def check_version(self) -> None:
        super().check_version()
        here = getattr(getattr(self, "description", None), "version", None)
        given = getattr(self, "features_version", here)
        if here is not None and given != here:
            raise ValueError(
                f"these {self.nouns} were described by version {given} of {getattr(self, 'features', '')!r}, and this "
                f"cfmgml has version {here}: use the cfmgml that trained the model, or train anew."
            )

    def read(self, file: Path) -> Any:
        """What to build of one file: its text."""
        return read_text(file)

    def receive(self, content: bytes | str | list[str]) -> Any:
        """What to build of something sent: its text."""
        return content.decode() if isinstance(content, bytes) else content

    def from_files(self, given: FileInput) -> BagDataset:
        self.check_version()
        files = list_files(given.paths, self.suffixes, self.nouns)
        bags = self.build([self.read(file) for file in files])
        if bags.n_bags != len(files):
            raise ValueError(f"{type(self).__name__}.build must give one bag a source: {bags.n_bags} of {len(files)}.")
        return self.labelled(bags, files, given)

    def labelled(self, bags: BagDataset, files: Sequence[Path], given: FileInput) -> BagDataset:
        """Bags, one a file, with the names of their files and the labels that a table gives these."""
        arrays: dict[str, Any] = {"bag_names": np.array(file_names(files))}
        matched = RowMatch()
        if given.labels:
            table = read_labels(given.labels).in_order(given.label_names)
            matched = match_files(table.rows, files, self.suffixes, table.source)
            arrays["Y"] = table.matrix(matched.complete([file.name for file in files], self.nouns))
            arrays["label_names"] = np.array(table.label_names)
        return with_remarks(replace(bags, **arrays), matched)

    def stream(self, given: FileInput) -> BagStream:
        return BuiltStream(self.from_files(given))

    def show(self, bags: BagDataset, k: int = 0, contributions: FloatArray | None = None, **shown: Any) -> Any:
        content = shown.keys() - {"scores", "label", "thresholds", "ax", "positions"}
        if content:
            raise TypeError(f"bags of {self.nouns} are drawn without {', '.join(sorted(content))}.")
        shown.setdefault("positions", self.positions(bags.graphs))
        return plot_graph_bag(bags, k, contributions=contributions, **shown)

    def ask(self, sent: Question, limits: InputLimits) -> Reply:
        parts = sent.content if isinstance(sent.content, list) else [sent.content]
        if sum(map(len, parts)) > limits.characters:
            raise Refused(413, "text_too_long", f"The input has more than {limits.characters:,} characters.")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                bag = self.rebuild([self.receive(sent.content)])
        except ValueError as error:
            raise Refused(422, "unusable_input", str(error)) from error
        return Reply(bag, part_names(bag, self.part), {"texts": nodes_as_words(bag)}, drawn=True)


class BuiltStream(BagStream):
    """Bags that were built at once, because their kind cannot build them a few at a time."""

    def __init__(self, bags: BagDataset) -> None:
        self._bags = bags

    @property
    def key(self) -> Any:
        return [self._bags.fingerprint(), None if self._bags.builder is None else self._bags.builder.told()]

    def pieces(self, start: int) -> Iterator[Piece]:
        if start < self._bags.n_bags:
            yield self._bags[start:], np.arange(start, self._bags.n_bags)

    def info(self) -> Mapping[str, Any]:
        return self._bags.info


def part_names(bag: BagDataset, part: str) -> list[dict[str, Any]]:
    """An entry a graph: its name, or its number."""
    return [{"name": f"{part} {number + 1}"} for number in range(bag.n_graphs)]


def with_label_names(bags: BagDataset, names: Sequence[str] | NameArray | None) -> BagDataset:
    """With the labels that can be predicted, where none are known."""
    return bags if bags.label_names is not None or names is None else replace(bags, label_names=np.array(names))


def read_text(file: Path) -> str:
    """A file's text: UTF-8, or UTF-16 where its first two bytes say so."""
    with file.open("rb") as stream:
        encoding = "utf-16" if stream.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8-sig"
    try:
        return file.read_text(encoding)
    except UnicodeDecodeError as error:
        raise ValueError(f"{file.name} is not {error.encoding.upper()} ({error}); save it as UTF-8.") from error
