"""A kernel by a short name, and the kernels that are worth trying on some bags."""

from collections.abc import Mapping

from cfmgml.data.bags import BagDataset
from cfmgml.data.builder import known_builder
from cfmgml.data.graphs import GraphBatch
from cfmgml.kernels import NAMED_KERNELS, Kernel, NodeSum, SumKernel, WeisfeilerLehman


def kernel_named(
    name: str,
    bags: BagDataset,
    *,
    gamma: float | None = None,
    n_iter: int | None = None,
    edge_labels: bool | str | None = None,
) -> Kernel:
    """A kernel that suits these bags, by a short name.

    Parameters
    ----------
    name
        ``"nodes"`` (`NodeSum`), ``"hopper"`` (`GraphHopper`), ``"both"`` (their sum), ``"wl"`` (`WeisfeilerLehman`),
        ``"minmax"`` (`MinMaxWL`), or ``"auto"``: nodes where there are attributes, wl where there are labels, their sum
        for both. Others are registered in `cfmgml.kernels`.
    bags
        What will be learned from: nodes with attributes are compared by the rbf kernel, others by their labels; for
        texts, wl weighs words by tf-idf.
    gamma
        Of the rbf kernel; by default the builder's (``bags.builder.gamma``), or the kernel's own choice.
    n_iter
        Refinements of wl and minmax; by default 0 for texts whose pairs of words are nodes, 1 for other texts, else 5.
    edge_labels
        Whether wl and minmax compare them: False (the default), True or ``"directed"``.

    Examples
    --------
    >>> from cfmgml.datasets import load_digit_bags
    >>> kernel_named("both", load_digit_bags(n_bags=2), gamma=1.0)
    SumKernel(kernels=[GraphHopper(gamma=1.0), NodeSum(gamma=1.0)])
    """
    if name not in NAMED_KERNELS:
        raise ValueError(f"kernel must be one of {', '.join(NAMED_KERNELS)}, got {name!r}.")
    return NAMED_KERNELS[name](bags.graphs, _settings(bags, gamma=gamma, n_iter=n_iter, edge_labels=edge_labels))


def candidate_kernels(
    bags: BagDataset,
    *,
    gamma: float | None = None,
    n_iter: int | None = None,
    edge_labels: bool | str | None = None,
) -> dict[str, Kernel]:
    """The kernels that ``cfmgml train --kernel auto`` tries, by name: whichever of these the graphs have enough for.

    Nodes by their attributes (`NodeSum`), labels and neighbourhoods (`WeisfeilerLehman`, with edge labels where there
    are some, unless ``edge_labels`` is False), and their sum. The parameters are those of `kernel_named`.

    >>> from cfmgml.datasets import load_digit_bags
    >>> list(candidate_kernels(load_digit_bags(n_bags=2)))
    ['nodes', 'wl', 'nodes + wl']
    """
    graphs = bags.graphs
    seen = _edge_labels_of(graphs) if edge_labels is None else edge_labels
    settings = _settings(bags, gamma=gamma, n_iter=n_iter)
    plain = WeisfeilerLehman.suited_to(graphs, settings)
    found: dict[str, Kernel] = {}
    if graphs.node_attributes is not None:
        found["nodes"] = NodeSum.suited_to(graphs, settings)
    elif graphs.node_labels is not None and (seen is False or edge_labels is None):
        found["wl"] = plain
    if graphs.node_labels is not None and (seen or (found.keys() == {"nodes"} and graphs.n_edges)):
        name = "wl with edge labels" if seen else "wl"
        found[name] = WeisfeilerLehman.suited_to(graphs, {**settings, "edge_labels": seen})
        if "nodes" in found:
            found[f"nodes + {name}"] = SumKernel([found["nodes"], found[name]])
    return found


def _settings(bags: BagDataset, **given: object) -> dict[str, object]:
    """Parameters of kernels, by name: what suits the builder, and before that what was given."""
    builder = known_builder(bags.builder)
    settings: dict[str, object] = dict(builder.suited_kernel)
    return settings | _there({"gamma": builder.gamma}) | _there(given)


def _there(given: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in given.items() if value is not None}


def _edge_labels_of(graphs: GraphBatch) -> bool | str:
    """How the labels of edges can be compared: with directions only where the two of an edge differ."""
    if graphs.edge_labels is None or not graphs.n_edges:
        return False
    try:
        graphs.labelled_arcs  # noqa: B018 - refused where directions differ
    except ValueError:
        return "directed"
    return True
