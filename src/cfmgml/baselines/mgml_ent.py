"""MGMLent: informative subgraphs turn graphs into vectors, MIML-ELM labels the bags."""

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from cfmgml.baselines._miml_elm import ExtremeLearningMachines, choose_medoids, hausdorff_distances
from cfmgml.baselines.instances import bag_contents, canonical_order
from cfmgml.baselines.method import Method
from cfmgml.common.memory import check_pairwise_size
from cfmgml.common.numbers import check_number
from cfmgml.common.segments import take_segments
from cfmgml.common.typing import ArrayLike, BoolArray, FloatArray, IntArray, Seed
from cfmgml.data.bags import BagDataset
from cfmgml.learning.estimator import BagEstimator, unchanged_on_error
from cfmgml.mining import SubgraphPatterns, label_entropy, mine_subgraphs


@dataclass(eq=False, repr=False)
class MGMLent(BagEstimator):
    """Multi-graph multi-label learning based on entropy (Zhu & Zhao, Entropy 2018). Labels bags only.

    Frequent subgraphs of the training graphs are mined by gSpan. Those that say most about the labels, by
    `cfmgml.mining.label_entropy`, are kept, and a graph is described by which of them it contains. Bags are described
    by their Hausdorff distances to medoid bags, and an extreme learning machine a label scores them (MIML-ELM).

    Graphs need ``node_labels``. We keep patterns of low entropy, as the article's text says; its Algorithm 2 prints
    the inequality the other way round. Neither says how k-medoids is started, how Akaike's criterion is put (see
    `cfmgml.baselines._miml_elm`) or whether a bag with a pattern in several graphs counts once (here it does). An
    unknown entry of Y leaves the bag out of that label's machine, and counts as not a label when patterns are chosen.

    Parameters
    ----------
    min_support
        Graphs that a pattern must be in; theirs is 3.
    max_edges
        Edges of the largest patterns. The article sets no bound; without one, superpixel graphs have millions.
    max_entropy
        Patterns with at most this entropy are kept; theirs is .25. Where none is as low, the lowest tenth is kept.
    n_clusters
        Medoids; None chooses by Akaike's criterion.
    n_hidden
        Hidden nodes of a machine; theirs are 50 to 200.
    ridge
        Penalty on the output weights; 0 is plain least squares, as published.
    max_seconds, max_gib
        Limits of the search for patterns; when one is reached, it warns and goes on with what was found.
    random_state
        Seed of the first medoids and of the machines. The order of bags does not matter.
    verbose
        Show progress on stderr.

    Attributes
    ----------
    patterns_, entropies_
        The patterns kept, and their entropies. ``patterns_.save(path, entropies_)`` writes them.
    n_mined_
        How many patterns were found.
    medoids_
        Rows of the training bags that are medoids.
    label_names_, classes_
        The labels.

    Examples
    --------
    >>> from cfmgml import GraphBatch
    >>> graphs = GraphBatch(node_ptr=[0, 2, 4, 6, 8], edge_ptr=[0, 1, 2, 3, 4], edges=[[0, 2, 4, 6], [1, 3, 5, 7]],
    ...                     node_labels=[1, 1, 1, 2, 1, 1, 1, 2])
    >>> bags = BagDataset(graphs, bag_ptr=[0, 1, 2, 3, 4], Y=[[1, 0], [0, 1], [1, 0], [0, 1]])
    >>> model = MGMLent(min_support=2, n_clusters=2, random_state=0).fit(bags)
    >>> model.predict(bags).astype(int).tolist()
    [[1, 0], [0, 1], [1, 0], [0, 1]]
    """

    compared = (Method(
        "mgmlent", "MGMLent", "on node labels: frequent subgraphs and MIML-ELM", "labels", {"n_hidden": (50, 100, 200)},
        options={"max_seconds": None}, levels=("bag",),  # a limit in seconds would make results depend on load
        quick={"n_hidden": (50,)}, short={"n_hidden": (100,)}, cost=1.5,
    ),)  # fmt: skip

    levels: ClassVar[tuple[str, ...]] = ("bag",)

    min_support: float = 3
    max_edges: int | None = 3
    max_entropy: float = 0.25
    n_clusters: int | None = None
    n_hidden: int = 100
    ridge: float = 0.0
    max_seconds: float | None = 600.0
    max_gib: float = 2.0
    random_state: Seed = None
    verbose: bool = False

    # -- learning ----------------------------------------------------------------------------

    @unchanged_on_error
    def fit(self, X: BagDataset, Y: ArrayLike | None = None) -> Self:
        """Learn from bags; ``Y`` (n_bags, n_labels) takes the place of ``X.Y``."""
        bags, labels, known = self._begin_fit(X, Y)
        self._check_params()
        check_pairwise_size("MGMLent", bags.n_bags, "bags", 3, "use fewer")
        mined = mine_subgraphs(
            bags.graphs, self.min_support, self.max_edges,
            max_seconds=self.max_seconds, max_gib=self.max_gib, verbose=self.verbose,
        )  # fmt: skip
        self.n_mined_ = len(mined)
        self._keep_informative(mined, bags.bag_ids, labels & known)
        rows = self.patterns_.mined_matrix().astype(np.float64)
        contents = [rows.indices[start:stop].tobytes() + b"|" for start, stop in pairwise(rows.indptr)]
        order = canonical_order(bag_contents(contents, labels & known, bags.bag_ptr))
        graph_rows, ptr = take_segments(bags.bag_ptr, order)
        self._fit_bags(rows[graph_rows], ptr, order, labels[order], known[order])
        return self

    def _check_params(self) -> None:
        if self.n_clusters is not None:
            check_number(self.n_clusters, "n_clusters", at_least=1, whole=True)
        check_number(self.n_hidden, "n_hidden", at_least=1, whole=True)
        check_number(self.ridge, "ridge", at_least=0)

    def _keep_informative(self, mined: SubgraphPatterns, bag_ids: IntArray, labels: BoolArray) -> None:
        entropies = label_entropy(mined.mined_matrix(), bag_ids, labels)
        keep = np.flatnonzero(entropies <= self.max_entropy)
        if not len(keep):
            keep = np.sort(np.argsort(entropies, kind="stable")[: -(-len(mined) // 10)])
        self.patterns_, self.entropies_ = mined[keep], entropies[keep]

    def _fit_bags(
        self, rows: sparse.csr_array, ptr: IntArray, order: IntArray, labels: BoolArray, known: BoolArray
    ) -> None:
        """Medoids and machines, on bags in their canonical order; ``rows`` are their graphs' vectors."""
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        distances = hausdorff_distances(rows, ptr, rows, ptr)
        medoids = choose_medoids(distances, self.n_clusters, rng)
        self.medoids_ = order[medoids]
        chosen, self.medoid_ptr_ = take_segments(ptr, medoids)
        self.medoid_rows_ = rows[chosen]
        self.scale_ = float(distances[:, medoids].max()) or 1.0
        inputs = distances[:, medoids] / self.scale_
        self.machines_ = ExtremeLearningMachines.fit(inputs, labels, known, self.n_hidden, self.ridge, rng)

    # -- predicting --------------------------------------------------------------------------

    def decision_function(self, X: BagDataset) -> FloatArray:
        """Scores of shape (n_bags, n_labels); above 0 means that the bag has the label."""
        bags = self._check_predict(X, "bag")
        rows = sparse.csr_array(self.patterns_.contained_in(bags.graphs).astype(np.float64))
        distances = hausdorff_distances(rows, bags.bag_ptr, self.medoid_rows_, self.medoid_ptr_)
        return self.machines_.scores(distances / self.scale_)
