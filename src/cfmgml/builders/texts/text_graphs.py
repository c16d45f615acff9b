"""All texts of a collection become graphs: read each, count over all, build each; in worker processes if asked."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from cfmgml.builders.texts.cooccurrence import Vocabulary
from cfmgml.builders.texts.keyword_graphs import KeywordGraph
from cfmgml.builders.texts.keywords import Reading
from cfmgml.common.processes import Processes
from cfmgml.common.progress import progress

if TYPE_CHECKING:
    from cfmgml.builders.texts.builder import TextBuilder

CHUNK = 500  # least number of texts that travel to a worker together, and a step of the progress bar
CHUNKS_A_WORKER = 2  # few, since each is a message there and one back
Item = TypeVar("Item")
Result = TypeVar("Result")


class Running(NamedTuple):
    """How to work; what is built does not depend on it."""

    n_jobs: int | None = None
    verbose: bool | None = None


def text_graphs(
    texts: Iterable[str], builder: "TextBuilder", vocabulary: Mapping[str, Any] | None, running: Running
) -> tuple[dict[str, KeywordGraph], Vocabulary | None]:
    """The graph of every different text, and the counts used, if any: those given, or else these texts' own.

    Pairs that weigh less than the builder's threshold are no longer among the counts.
    """
    different = list(dict.fromkeys(texts))
    n_jobs = 1 if running.n_jobs is None or len(different) <= CHUNK else running.n_jobs
    bar = progress("Building graphs of texts", 2 * len(different), running.verbose)
    with bar as done, Processes(n_jobs) as workers:
        readings = list(_in_chunks(builder.words_of, different, workers, done))
        known = _counts(readings, builder, vocabulary) if builder.counted else None
        graphs = list(_in_chunks(partial(builder.graph_of, vocabulary=known), readings, workers, done))
    return dict(zip(different, graphs, strict=True)), known


def _counts(readings: list[Reading], builder: "TextBuilder", given: Mapping[str, Any] | None) -> Vocabulary:
    known = Vocabulary.count(readings, builder.window) if given is None else Vocabulary.from_json(given)
    return known.without_weak_pairs(builder.threshold)  # they make no edge, and would take most of the room


def _each(work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    return [work(item) for item in items]


def _in_chunks(
    work: Callable[[Item], Result], items: Sequence[Item], workers: Processes, done: Callable[[int], None]
) -> Iterator[Result]:
    """What ``work`` makes of each item, in their order."""
    n_workers = workers.n_workers
    size = CHUNK if n_workers == 1 else max(CHUNK, -(-len(items) // (CHUNKS_A_WORKER * n_workers)))
    chunks = [items[start : start + size] for start in range(0, len(items), size)]
    for result in workers.map(partial(_each, work), chunks):
        done(len(result))
        yield from result
