"""New input built as a data set or a model's training data were: `bags_like`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Literal

from cfmgml.builders.base import with_label_names
from cfmgml.common.files import read_header
from cfmgml.data.bags import BagDataset
from cfmgml.data.builder import BagBuilder, FileInput, FileOptions, Paths, known_builder
from cfmgml.model.cfmgml import CfMGML
from cfmgml.stores import BagStore, is_store


@dataclass(frozen=True)
class Pattern:
    """What to build new input like: a builder, and the labels that there are.

    >>> from cfmgml.datasets import load_digit_bags
    >>> Pattern.of(load_digit_bags(n_bags=2)).label_names[:3]
    ['0', '1', '2']
    """

    builder: BagBuilder
    label_names: list[str] | None

    @classmethod
    def of(cls, bags: BagDataset | BagStore) -> "Pattern":
        return cls(known_builder(bags.builder), None if bags.label_names is None else bags.label_names.tolist())

    @classmethod
    def of_model(cls, model: CfMGML) -> "Pattern":
        return cls(known_builder(model.builder_), model.label_names_.tolist())

    def knows(self, option: str) -> bool:
        """Whether reading its files has such an option."""
        return option in {field.name for field in fields(self.builder.file_options)}

    def adjusted(self, given: Mapping[str, object]) -> "tuple[Pattern, FileOptions]":
        """With the options given, by name: those of reading its files, and parameters that may differ from training."""
        known = {field.name for field in fields(self.builder.file_options)}
        free = {field.name for field in fields(self.builder) if field.metadata.get("free")}
        for name in given:
            if name not in known | free:
                option = name.replace("_", "-")
                raise ValueError(f"--{option} is for other input: this model reads {self.builder.nouns}.")
        changed = replace(self.builder, **{name: value for name, value in given.items() if name in free})
        if changed.version != self.builder.version:  # a copy is of this cfmgml's version
            changed = self.builder
        make: Callable[..., FileOptions] = self.builder.file_options
        return replace(self, builder=changed), make(**{name: given[name] for name in given if name in known})


def read_pattern(path: str | Path) -> Pattern:
    """The pattern that a file of bags or of a model is, or a store.

    >>> from tempfile import TemporaryDirectory
    >>> from cfmgml.datasets import load_digit_bags
    >>> with TemporaryDirectory() as folder:
    ...     load_digit_bags(n_bags=2).save(f"{folder}/digits.bags")
    ...     read_pattern(f"{folder}/digits.bags").builder
    DigitBuilder()
    """
    if is_store(path):
        return Pattern.of(BagStore(path))
    if read_header(path)["kind"] == "CfMGML":
        return Pattern.of_model(CfMGML.load(path))
    return Pattern.of(BagDataset.load(path))


def bags_like(
    pattern: Pattern,
    sources: Paths,
    *,
    labels: str | Path | Literal[False] | None = None,
    options: FileOptions | None = None,
) -> BagDataset:
    """Bags from raw input, built as the pattern was; or from a file of bags, refused if they were built another way.

    ``labels`` is a table, None for those that come with the input, or False for none; ``options`` are the builder's
    ``file_options``.

    >>> from tempfile import TemporaryDirectory
    >>> from cfmgml.datasets import bags_from_texts
    >>> known = Pattern.of(bags_from_texts(["A violin plays."], [[1]], label_names=["music"]))
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "note.txt").write_text("Drums play. A violin, too.")
    ...     bags_like(known, [f"{folder}/note.txt"])
    BagDataset(1 bags, 2 graphs, 1 labels; no Y)
    """
    if not sources:
        raise ValueError("no input was named.")
    if is_file_of_bags(sources):
        bags = BagDataset.load(sources[0])
        pattern.builder.check_same(bags.builder)
        return bags
    given = FileInput(sources, labels, pattern.label_names, options)
    return with_label_names(pattern.builder.from_files(given), pattern.label_names)


def is_file_of_bags(sources: Paths) -> bool:
    return len(sources) == 1 and str(sources[0]).endswith(".bags")
