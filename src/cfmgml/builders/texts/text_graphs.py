"""All texts of a collection become graphs: read each, count over all, build each; in worker processes if asked."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from joblib import Parallel, delayed, effective_n_jobs

from cfmgml.builders.texts.cooccurrence import Vocabulary
from cfmgml.builders.texts.keyword_graphs import KeywordGraph
from cfmgml.builders.texts.keywords import Reading
from cfmgml.common.progress import progress

if TYPE_CHECKING:
    from cfmgml.builders.texts.builder import TextBuilder

CHUNK = 500  # least number of texts that travel to a worker together, and a step of the progress bar
CHUNKS_A_WORKER = 2  # few, since the counts travel with each
Item = TypeVar("Item")
Result = TypeVar("Result")


class Running(NamedTuple):
    """How to work; what is built does not depend on it."""

    n_jobs: int | None = None
    verbose: bool | None = None


def text_graphs(
    texts: Iterable[str], builder: "TextBuilder", vocabulary: Mapping[str, Any] | None, running: Running
) -> tuple[dict[str, KeywordGraph], Vocabulary]:
    """The graph of every different text, and the counts used: those given, or else these texts' own.

    Pairs that weigh less than the builder's threshold are no longer among the counts.
    """
    different = list(dict.fromkeys(texts))
    with progress("Building graphs of texts", 2 * len(different), running.verbose) as done:
        readings = list(_in_chunks(_words, different, running, done, builder))
        known = Vocabulary.count(readings, builder.window) if vocabulary is None else Vocabulary.from_json(vocabulary)
        known = known.without_weak_pairs(builder.threshold)  # they make no edge, and would take most of the room
        graphs = list(_in_chunks(_graphs, readings, running, done, builder, known))
    return dict(zip(different, graphs, strict=True)), known


def _words(texts: Sequence[str], builder: "TextBuilder") -> list[Reading]:
    return [builder.words_of(text) for text in texts]


def _graphs(readings: Sequence[Reading], builder: "TextBuilder", vocabulary: Vocabulary) -> list[KeywordGraph]:
    return [builder.graph_of(reading, vocabulary) for reading in readings]


def _in_chunks(
    work: Callable[..., list[Result]], items: Sequence[Item], running: Running, done: Callable[[int], None], *given: Any
) -> Iterator[Result]:
    """What ``work`` makes of the items, in their order."""
    workers = effective_n_jobs(1 if running.n_jobs is None else running.n_jobs)
    size = CHUNK if workers == 1 else max(CHUNK, -(-len(items) // (CHUNKS_A_WORKER * workers)))
    chunks = [items[start : start + size] for start in range(0, len(items), size)]
    results: Iterable[list[Result]] = (work(chunk, *given) for chunk in chunks)
    if min(workers, len(chunks)) > 1:
        results = Parallel(n_jobs=workers, return_as="generator")(delayed(work)(chunk, *given) for chunk in chunks)
    for result in results:
        done(len(result))
        yield from result
