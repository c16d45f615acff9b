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
    with progress("Building graphs of texts", 2 * len(different), running.verbose) as done:
        readings = list(_in_chunks(builder.words_of, different, running, done))
        known = _counts(readings, builder, vocabulary) if builder.counted else None
        graphs = list(_in_chunks(builder.graph_of, readings, running, done, known))
    return dict(zip(different, graphs, strict=True)), known


def _counts(readings: list[Reading], builder: "TextBuilder", given: Mapping[str, Any] | None) -> Vocabulary:
    known = Vocabulary.count(readings, builder.window) if given is None else Vocabulary.from_json(given)
    return known.without_weak_pairs(builder.threshold)  # they make no edge, and would take most of the room


def _each(work: Callable[..., Result], items: Sequence[Any], *given: Any) -> list[Result]:
    return [work(item, *given) for item in items]


def _in_chunks(
    work: Callable[..., Result], items: Sequence[Any], running: Running, done: Callable[[int], None], *given: Any
) -> Iterator[Result]:
    """What ``work`` makes of each item, in their order."""
    workers = effective_n_jobs(1 if running.n_jobs is None else running.n_jobs)
    size = CHUNK if workers == 1 else max(CHUNK, -(-len(items) // (CHUNKS_A_WORKER * workers)))
    chunks = [items[start : start + size] for start in range(0, len(items), size)]
    todo = (delayed(_each)(work, chunk, *given) for chunk in chunks)
    results = Parallel(n_jobs=workers if len(chunks) > 1 else 1, return_as="generator")(todo)
    for result in results:
        done(len(result))
        yield from result
