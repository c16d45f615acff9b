"""What knows a kind of input: `BagBuilder`, and where kinds are registered.

A builder's parameters are its fields, and it belongs to the bags that it built (`BagDataset.builder`). So whoever has
bags or a model can build new input the same way, draw it, and say how it was made, without knowing which kind it is:

>>> from cfmgml.datasets import bags_from_texts
>>> train = bags_from_texts(["Gene expression changes. Gene expression again.", "A tumour grows fast."], pairs=False)
>>> train.builder.rebuild(["Tumour gene expression."]).graphs.node_names.tolist()
['tumour', 'gene', 'expression']

Files name a kind. Only registered kinds are looked up: those of this package (`BUILT_IN`), those of installed packages
(entry points of the group ``cfmgml.builders``), and those of `register`. Nothing is imported by a name that a file
holds.
"""

import functools
import inspect
import json
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from importlib import import_module
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, NoReturn, Self, TypeVar

from cfmgml.common.digests import digest_of
from cfmgml.common.typing import BoolArray, FloatArray, NumberArray
from cfmgml.data.questions import Form, InputLimits, Question, Reply

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cfmgml.data.bags import BagDataset
    from cfmgml.data.graphs import GraphBatch
    from cfmgml.data.streams import BagStream

GROUP = "cfmgml.builders"
BUILT_IN = {
    "images": "cfmgml.builders.pictures.builder:PictureBuilder",
    "texts": "cfmgml.builders.texts.builder:TextBuilder",
    "digits": "cfmgml.builders.digits:DigitBuilder",
    "graphs": "cfmgml.builders.graphs.builder:GraphBuilder",
    "molecules": "cfmgml.builders.molecules.builder:MoleculeBuilder",
    "vectors": "cfmgml.builders.vectors:VectorBuilder",
}
KIND, PARAMETERS, VERSION, PACKAGE = "builder", "parameters", "recipe_version", "builder_package"  # entries of info
Sources = Sequence[Any]  # what a kind's builder builds from: pictures, texts, ...
Paths = Sequence[str | Path]
DRAWN = ("scores", "label", "ax")  # what every drawing may be given
MOST_SHOWN = 8  # entries of a parameter that is a list
Value = TypeVar("Value")


def parameter(
    default: Value,
    help: str = "",
    *,
    least: float | None = None,
    most: float | None = None,
    shown: str | None = None,
    choices: Callable[[], Sequence[str]] | None = None,
    free: bool = False,
) -> Value:
    """A field of a builder that is an option of ``cfmgml build``, if it has ``help``.

    Parameters
    ----------
    least, most
        Bounds of a number.
    shown
        What the command's help says of the default.
    choices
        What there is to choose from.
    free
        Whether bags that differ in it are still built the same way.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Options(FileOptions):
    ...     width: int = parameter(8, "How wide a piece is.", least=1)
    >>> Options().width, options_of(Options)[0].metadata["help"]
    (8, 'How wide a piece is.')
    """
    told = {"help": help, "least": least, "most": most, "shown": shown, "choices": choices, "free": free}
    made: Any = field(default=default, metadata=told)
    return made


def state(key: str) -> Any:
    """A field that building fills in, such as a vocabulary: no parameter, but as much part of how bags are built."""
    return field(default=None, repr=False, metadata={"state": key})


@dataclass(frozen=True)
class FileOptions:
    """Options of reading a kind's files that do not change what is built of each; a subclass has them as fields.

    >>> @dataclass(frozen=True)
    ... class TableOptions(FileOptions):
    ...     separator: str = parameter(",", "What stands between columns.")
    >>> TableOptions()
    TableOptions(separator=',')
    """


class FileInput(NamedTuple):
    """Files as they lie on disk, their labels, and how to read them."""

    paths: Paths
    labels: str | Path | Literal[False] | None = None  # a table; None: those that come with the files; False: none
    label_names: Sequence[str] | None = None  # the order of labels, as a model has them; others are refused
    options: FileOptions | None = None


@dataclass(frozen=True)
class BagBuilder(ABC):
    """How raw input of one kind becomes bags, and how such bags are drawn. `cfmgml.builders.Builder` has defaults."""

    kind: ClassVar[str] = ""
    version: ClassVar[int] = 1  # raise it when the same input and parameters give other graphs
    command: ClassVar[str] = ""  # of ``cfmgml build``; by default the kind
    nouns: ClassVar[str] = ""  # what it reads; by default the kind
    part: ClassVar[str] = "graph"  # what a graph is to a reader: a region, a sentence
    help: ClassVar[str] = ""  # of ``cfmgml build``
    reads_files: ClassVar[bool] = True
    form: ClassVar[Form]
    file_options: ClassVar[type[FileOptions]] = FileOptions
    libraries: ClassVar[tuple[str, ...]] = ()  # on whose versions the graphs depend
    graphs_per_partition: ClassVar[int] = 10_000  # of a store
    words: ClassVar[bool] = False  # nodes are words
    context_scale: ClassVar[str] = "mean"  # of `CfMGML`, that suits its bags
    drawn_with: ClassVar[Mapping[str, Any]] = {}  # what `show` is given where a prediction is drawn on its input

    def __init_subclass__(cls) -> None:
        """Bags remember who built them, whether or not the author of a kind thought of it."""
        cls.nouns = cls.nouns or cls.kind
        if "build" in cls.__dict__:
            cls.build = _signed(cls.__dict__["build"])  # type: ignore[method-assign]
        if "show" in cls.__dict__:
            cls.show = _as_asked(cls.__dict__["show"])  # type: ignore[method-assign]

    # -- building ----------------------------------------------------------------------------

    @abstractmethod
    def build(self, sources: Any, labels: Any = None, **options: Any) -> "BagDataset":
        """Bags from input, one a source; the bags remember their builder."""

    def rebuild(self, sources: Any, **options: Any) -> "BagDataset":
        """New bags, built the same way as those that have this builder."""
        self.check_version()
        return self.build(sources, **options)

    @abstractmethod
    def from_files(self, given: FileInput) -> "BagDataset":
        """Bags from files as they lie on disk."""

    @abstractmethod
    def stream(self, given: FileInput) -> "BagStream":
        """What `from_files` builds, a few bags at a time."""

    @property
    def gamma(self) -> float | None:
        """A good width of an rbf kernel between nodes; None: not known."""
        return None

    @property
    def suited_kernel(self) -> Mapping[str, Any]:
        """Parameters of kernels that suit its graphs, by name."""
        return {}

    @property
    def advice(self) -> str:
        """What whoever builds such bags might like to know, in a line; empty: nothing."""
        return ""

    @property
    def most_parts(self) -> int | None:
        """Into how many parts an input is cut at most, where who asks may choose; None: nobody chooses."""
        return None

    def blank(self, graphs: "GraphBatch") -> BoolArray | None:
        """Which graphs have nothing in them, so that two of them are not the same thing twice; None: none."""
        return None

    # -- showing -----------------------------------------------------------------------------

    def positions(self, graphs: "GraphBatch") -> FloatArray | None:
        """Where nodes lie, (n_nodes, 2), the second upwards; None: nowhere in particular."""
        return None

    @abstractmethod
    def show(
        self,
        bags: "BagDataset",
        k: int = 0,
        contributions: FloatArray | None = None,
        *,
        scores: FloatArray | None = None,
        label: int | str | None = None,
        thresholds: FloatArray | None = None,
        ax: "Axes | None" = None,
        **content: Any,
    ) -> "Axes":
        """Draw one bag; `cfmgml.plots.plot_bag` says what the parameters are."""

    def svg(self, bag: "BagDataset", contributions: FloatArray | None, scores: FloatArray | None) -> str | None:
        """One bag as an SVG of the kind's own making, for a page; None: as `show` draws it."""
        return None

    def node_map(self, bags: "BagDataset", k: int = 0, **content: Any) -> NumberArray:
        """The node, counted within its bag, that each pixel of what one bag was built from belongs to; -1: none."""
        raise ValueError(f"only bags built from pictures have nodes with a place; these were built from {self.nouns}.")

    def write_regions(self, bags: "BagDataset", into: Path, **content: Any) -> None:
        """Write where the regions of each bag lie, into a folder."""
        raise ValueError(
            f"only bags built from pictures have regions with a place; these were built from {self.nouns}."
        )

    def describe(self) -> str:
        """How bags are built, in words."""
        told = ", ".join(f"{name}={_shown(value)}" for name, value in sorted(self.parameters.items()))
        return f"{self.nouns}, with {told}" if told else self.nouns

    # -- answering ---------------------------------------------------------------------------

    @abstractmethod
    def ask(self, sent: Question, limits: InputLimits) -> Reply:
        """One bag from what somebody sent to a server, and where on it the nodes lie."""

    def example(self) -> Question | None:
        """Something to ask, so that a worker has imported and compiled what the first request needs; None: nothing."""
        return None

    # -- identity ----------------------------------------------------------------------------

    @property
    def parameters(self) -> dict[str, Any]:
        """As JSON can hold them."""
        return {one.name: _plain(getattr(self, one.name)) for one in fields(self) if "state" not in one.metadata}

    @property
    def settled(self) -> dict[str, Any]:
        """The parameters that bags must share to be built the same way, unless they are ``free``."""
        return self.parameters

    def told(self) -> dict[str, Any]:
        """What ``info`` says of it, and so what a file writes and what is hashed."""
        return dict(self._told)

    @functools.cached_property
    def _told(self) -> dict[str, Any]:
        states = {one.metadata["state"]: getattr(self, one.name) for one in fields(self) if "state" in one.metadata}
        settled = {key: value for key, value in states.items() if value is not None}
        package = {} if (name := _package_of(self.kind)) is None else {PACKAGE: name}
        return {KIND: self.kind, PARAMETERS: self.parameters, VERSION: self.version, **settled, **package}

    def digest(self) -> str:
        """Equal builders, equal digest."""
        return digest_of({}, self.told())

    @classmethod
    def from_told(cls, info: Mapping[str, Any]) -> Self:
        """The builder that ``info`` tells of; what it leaves out has its default."""
        named = info.get(PARAMETERS, {})
        if not isinstance(named, Mapping):
            raise ValueError(f"a builder's parameters must be a mapping, got {type(named).__name__}.")
        strange = sorted(
            {str(name) for name in named} - {one.name for one in fields(cls) if "state" not in one.metadata}
        )
        if strange:
            raise ValueError(f"{cls.kind} have no parameter {strange[0]!r}: they were built by another cfmgml.")
        states = {one.name: info.get(one.metadata["state"]) for one in fields(cls) if "state" in one.metadata}
        try:
            builder = cls(**{name: _frozen(value) for name, value in named.items()}, **states)
        except TypeError as error:
            raise ValueError(f"the builder's parameters of {cls.kind} cannot be used: {error}") from error
        if info.get(VERSION, cls.version) != cls.version:
            object.__setattr__(builder, "version", info[VERSION])
        return builder

    def check_version(self) -> None:
        """Raise if bags were built by another version of this kind, which cannot be followed here."""
        if self.version != type(self).version:
            raise ValueError(
                f"these {self.nouns} were built by version {self.version} of the recipe, and this cfmgml has version "
                f"{type(self).version}: use the cfmgml that trained the model (cfmgml inspect MODEL names it), or "
                "train anew."
            )

    def check_same(self, other: "BagBuilder | None") -> None:
        """Raise unless bags of the other builder were built as this one builds; what is ``free`` may differ.

        >>> from cfmgml.builders.digits import DigitBuilder
        >>> from cfmgml.builders.vectors import VectorBuilder
        >>> DigitBuilder().check_same(DigitBuilder())
        >>> DigitBuilder().check_same(VectorBuilder())
        Traceback (most recent call last):
        ValueError: the model learned from handwritten digits and this input was built from vectors. Build it the same
        way (cfmgml build digits INPUT --like MODEL -o new.bags), or in Python: model.builder_.rebuild(...).
        """
        if other is None:
            return
        if self.kind != other.kind:
            self._refuse(f"the model learned from {self.nouns} and this input was built from {other.nouns}.")
        free = {one.name for one in fields(self) if one.metadata.get("free")}
        ours, theirs = ({**one.settled, VERSION: one.version} for one in (self, other))
        names = sorted(name for name in ours.keys() & theirs.keys() - free if ours[name] != theirs[name])
        if names:
            told = [", ".join(f"{name}={_shown(named[name])}" for name in names) for named in (theirs, ours)]
            self._refuse(
                f"this input was built from {self.nouns} with {told[0]}, the model's training data with {told[1]}."
            )
        unnamed = [one.name for one in fields(self) if "state" in one.metadata and one.name not in ours]
        if any(getattr(self, name) != getattr(other, name) for name in unnamed):
            self._refuse(
                "this input was built with the word counts of other texts than the model's training data, so its "
                "keywords and edges mean something else."
            )

    def _refuse(self, reason: str) -> NoReturn:
        command = f"cfmgml build {self.command or self.kind} INPUT --like MODEL -o new.bags"
        raise ValueError(f"{reason} Build it the same way ({command}), or in Python: model.builder_.rebuild(...).")


def _signed(build: Callable[..., "BagDataset"]) -> Callable[..., "BagDataset"]:
    @functools.wraps(build)
    def signed(self: BagBuilder, *sources: Any, **options: Any) -> "BagDataset":
        bags = build(self, *sources, **options)
        return bags if bags.builder is not None else replace(bags, builder=self)

    return signed


def _as_asked(show: Callable[..., "Axes"]) -> Callable[..., "Axes"]:
    """A drawing that does not take scores, a label or axes is made without them."""
    known = inspect.signature(show).parameters
    if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in known.values()):
        return show

    @functools.wraps(show)
    def asked(self: BagBuilder, *bags: Any, **shown: Any) -> "Axes":
        return show(self, *bags, **{name: shown[name] for name in shown if name in known or name not in DRAWN})

    return asked


def options_of(builder: type[BagBuilder] | type[FileOptions]) -> list[Field[Any]]:
    """The fields that ``cfmgml build`` has options for."""
    return [one for one in fields(builder) if one.metadata.get("help") and one.default is not MISSING]


def _plain(value: Any) -> Any:
    """As it comes back from a file: tuples and sets as lists."""
    return json.loads(json.dumps(value, default=lambda items: sorted(items)))


def _shown(value: Any) -> str:
    """As Python writes it; of a long list, such as a language's stop words, its beginning and how many it has.

    >>> _shown(["a"] * 200)
    "['a', 'a', 'a', and 197 more]"
    """
    if isinstance(value, list) and len(value) > MOST_SHOWN:
        return f"[{', '.join(map(repr, value[:3]))}, and {len(value) - 3} more]"
    return repr(value)


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


# -- kinds -----------------------------------------------------------------------------------

_registered: dict[str, type[BagBuilder]] = {}


def register(builder: type[BagBuilder]) -> type[BagBuilder]:
    """Make a kind known in this process; a package does it for everybody, by an entry point.

    >>> from cfmgml.builders.vectors import VectorBuilder
    >>> register(VectorBuilder).kind  # a class decorator; this one was known before
    'vectors'
    """
    _check_kind(builder, builder.kind)
    _registered[builder.kind] = builder
    return builder


def all_kinds() -> dict[str, type[BagBuilder]]:
    """Every kind that is known here; one that another package breaks is left out, with a warning."""
    kinds = {}
    for name in dict.fromkeys([*BUILT_IN, *_entries(), *_registered]):
        try:
            kinds[name] = find_kind(name)
        except Exception as error:  # whatever the package raises
            if name in BUILT_IN:
                raise
            warnings.warn(f"the kind {name!r} of {_package_of(name)} cannot be used: {error}", stacklevel=2)
    return kinds


def find_kind(kind: object, package: object = None) -> type[BagBuilder]:
    """The builder of a kind; ``package`` is what a file says is needed for it.

    >>> find_kind("texts").part  # what a graph is
    'sentence'
    """
    if isinstance(kind, str):
        if kind in _registered:
            return _registered[kind]
        if kind in BUILT_IN:
            module, _, name = BUILT_IN[kind].partition(":")
            return register(getattr(import_module(module), name))
        if kind in _entries():
            return register(_check_kind(_entries()[kind].load(), kind))
    known = ", ".join([*BUILT_IN, *_entries(), *_registered])
    needed = f"the package {package!r}" if isinstance(package, str) else "the package that it comes from"
    raise ValueError(f"there is no kind of input called {kind!r} here (there are {known}): install {needed}.")


@functools.cache
def _entries() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUP) if entry.name not in BUILT_IN}


def _check_kind(builder: Any, kind: str) -> type[BagBuilder]:
    if not (isinstance(builder, type) and issubclass(builder, BagBuilder)):
        raise TypeError(f"the kind {kind!r} must be a class made from cfmgml.builders.Builder, got {builder!r}.")
    if not kind or builder.kind != kind:
        raise ValueError(f"{builder.__name__} must be registered by its own kind, {builder.kind!r}, got {kind!r}.")
    return builder


def _package_of(kind: str) -> str | None:
    entry = _entries().get(kind)
    return None if entry is None or entry.dist is None else entry.dist.name


def library_versions(builder: BagBuilder | None) -> dict[str, str]:
    """Versions of what its graphs depend on, where it is installed."""
    versions = {}
    for name in () if builder is None else builder.libraries:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions


def builder_of(info: Mapping[str, Any]) -> BagBuilder | None:
    """The builder that ``info`` tells of; None if it tells of none."""
    return None if info.get(KIND) is None else find_kind(info[KIND], info.get(PACKAGE)).from_told(info)


def known_builder(builder: BagBuilder | None) -> BagBuilder:
    """This builder, or that of graphs which somebody else made, for bags that have none."""
    return find_kind("graphs")() if builder is None else builder
