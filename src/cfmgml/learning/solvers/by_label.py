"""A round of `cccp` over a Gram matrix, label by label: for a loss without pairs, which is a sum over labels.

Each label's part is a problem of its own, with a memory, steps and an end of its own: the stiffest one does not make
the others go its way, which takes a third of the steps, and one that has ended costs no product any more. All labels
step at the same time, with one product for all that are under way. Vectors are those of `GramSpace`, one row a label.
"""

from collections.abc import Callable

import numpy as np

from cfmgml.common.compiled import compiled
from cfmgml.common.typing import BoolArray, FloatArray, IntArray
from cfmgml.learning.objective import Linearisation
from cfmgml.learning.solvers.cccp import NEAR, Problem, products_of_labels
from cfmgml.learning.solvers.lbfgs import ENOUGH_CURVATURE, AnyTrial, Search, searching

MEMORY = 20  # steps: with 10, HLK takes a tenth more
TINY = float(np.finfo(np.float64).tiny)


class LabelByLabel:
    """A round: where each label stands, and L-BFGS from there.

    ``problem`` has a Gram matrix as its rows, ``mixed``, ``bend`` and ``root`` are those of its `GramSpace`.
    """

    def __init__(
        self, problem: Problem, around: Linearisation, points: FloatArray, mixed: FloatArray, bend: float, root: float
    ) -> None:
        self.problem, self.mixed, self.bend, self.root = problem, mixed, bend, root
        self.around = Linearisation(*(np.ascontiguousarray(part.T) for part in around))
        n_labels, size = points.shape
        self.points = points
        self.values, self.gradients = self._evaluate(points, np.arange(n_labels))
        self._towards = np.zeros_like(points)
        self._memory = np.zeros((2, n_labels, MEMORY, size), dtype=points.dtype)  # steps; what they did to gradients
        self._curvatures = np.zeros((n_labels, MEMORY))  # of the function along steps; 0 where there is none
        self._newest = np.zeros(n_labels, dtype=np.int64)  # where the last step is in the memory

    def minimise(self, max_iter: int, enough: float, look_every: int) -> tuple[int, float]:
        """Until the norm of all true gradients together is ``enough``: the most steps of a label, and that norm.

        As in `minimise_bound`, a norm is looked at now and then, and wherever it may be enough.
        """
        n_labels = len(self.points)
        norms = self._steepness(self.gradients)
        ratios, steps = norms / self._lengths(self.gradients), np.zeros(n_labels, dtype=np.int64)
        searches, tried = dict[int, Search](), np.zeros(n_labels)
        n_trials, moved = 0, np.flatnonzero((norms > enough / np.sqrt(n_labels)) & (max_iter > 0))
        while True:
            for label, slope, first, noise in self._set_out(moved):
                searches[label] = searching(self.values[label], slope, first, noise)
                tried[label] = next(searches[label])
            if not searches:
                break
            ended = np.delete(norms, list(searches))  # what they fall short of is left to the others
            left = max(enough**2 - float(ended @ ended), enough**2 * len(searches) / n_labels)
            enough_of_one = np.sqrt(left / len(searches))
            n_trials += 1
            labels = np.array(sorted(searches))
            there = self.points[labels] + tried[labels, None].astype(self.points.dtype) * self._towards[labels]
            values, gradients = self._evaluate(there, labels)
            slopes, taken = self._dots(self._towards[labels], gradients), dict[int, AnyTrial]()
            for row, label in enumerate(labels.tolist()):
                here: AnyTrial = values[row], slopes[row], _arrival(there[row], gradients[row])
                try:
                    tried[label] = searches[label].send(here)
                except StopIteration as end:
                    del searches[label]
                    if end.value is not None:
                        taken[label] = end.value
            moved = np.array(list(taken), dtype=np.int64)
            if not taken:
                continue
            self._move(moved, list(taken.values()))
            steps[moved] += 1
            lengths, is_last = self._lengths(self.gradients[moved]), steps[moved] >= max_iter
            look = is_last | (n_trials % look_every == 0) | (ratios[moved] * lengths <= NEAR * enough_of_one)
            if look.any():
                norms[moved[look]] = self._steepness(self.gradients[moved[look]])
                ratios[moved[look]] = norms[moved[look]] / lengths[look]
            moved = moved[~(is_last | (look & (norms[moved] <= enough_of_one)))]
        return int(steps.max()), float(np.linalg.norm(self._steepness(self.gradients)))

    # -- the function ------------------------------------------------------------------------

    def _evaluate(self, points: FloatArray, labels: IntArray) -> tuple[FloatArray, FloatArray]:
        n, alpha = len(self.mixed), self.problem.alpha
        scores, along = points[:, n:-1], points[:, -1:] / self.root
        coef = (points[:, :n] - self.bend * scores) / alpha
        values, slopes = self.problem.loss.values_and_gradients_by_label(scores + along, labels, self.around)
        squares = np.einsum("ij,ij->i", coef, scores)
        gradients = np.empty_like(points)
        gradients[:, :n] = slopes + alpha * coef
        gradients[:, n:-1] = products_of_labels(gradients[:, :n], self.mixed)
        gradients[:, -1] = slopes.sum(axis=1) * (self.problem.fit_intercept / self.root)
        # negative where rounding has parted A and K A: no place to go to
        return np.where(squares >= 0, values + alpha / 2 * squares, np.inf), gradients

    def _steepness(self, gradients: FloatArray) -> FloatArray:
        n = len(self.mixed)
        rows, along = gradients[:, :n], gradients[:, -1].astype(np.float64) * self.root
        squares = np.einsum("ij,ij->i", rows, products_of_labels(rows, np.asarray(self.problem.rows)))
        return np.sqrt(np.maximum(squares + along**2, 0.0))

    def _dots(self, steps: FloatArray, gradients: FloatArray) -> FloatArray:
        n = len(self.mixed)
        of_scores = np.einsum("ij,ij->i", steps[:, :n], gradients[:, n:-1])
        return np.asarray(of_scores + steps[:, -1] * gradients[:, -1], dtype=np.float64)

    def _lengths(self, vectors: FloatArray) -> FloatArray:
        return np.sqrt(np.maximum(self._dots(vectors, vectors), TINY))

    # -- steps -------------------------------------------------------------------------------

    def _move(self, labels: IntArray, taken: list[AnyTrial]) -> None:
        points, gradients = (np.stack(parts) for parts in zip(*(arrive() for *_, arrive in taken), strict=True))
        steps, changes = points - self.points[labels], gradients - self.gradients[labels]
        self.points[labels], self.gradients[labels] = points, gradients
        self.values[labels] = [value for value, *_ in taken]
        curvatures = self._dots(steps, changes)
        kept = curvatures > ENOUGH_CURVATURE * self._lengths(steps) * self._lengths(changes)
        labels = labels[kept]
        self._newest[labels] = (self._newest[labels] + 1) % MEMORY
        places = labels, self._newest[labels]
        self._memory[0][places], self._memory[1][places] = steps[kept], changes[kept]
        self._curvatures[places] = curvatures[kept]

    def _set_out(self, labels: IntArray) -> list[tuple[int, float, float, float]]:
        """New directions; each label that has somewhere to go, the slope there, a length to try first, and rounding."""
        slopes = self._turn(labels)
        lost = (slopes >= 0) & self._remembers(labels)  # rounding has spoilt the memory: forget it
        if lost.any():
            self._curvatures[labels[lost]] = 0
            slopes[lost] = self._turn(labels[lost])
        firsts = np.where(self._remembers(labels), 1.0, np.minimum(1.0, 1.0 / self._lengths(self._towards[labels])))
        noises = 4 * float(np.finfo(self.points.dtype).eps) * np.abs(self.values[labels])
        going = slopes < 0
        parts = labels[going], slopes[going], firsts[going], noises[going]
        return list(zip(*(part.tolist() for part in parts), strict=True))

    def _remembers(self, labels: IntArray) -> BoolArray:
        return np.asarray(self._curvatures[labels].any(axis=1))

    def _turn(self, labels: IntArray) -> FloatArray:
        """New directions, and the slopes along them."""
        slopes = np.zeros(len(labels))
        _turn((labels, self.gradients, self._curvatures, self._newest), self._memory, self._towards, slopes)
        return slopes


def _arrival(point: FloatArray, gradient: FloatArray) -> Callable[[], tuple[FloatArray, FloatArray]]:
    return lambda: (point, gradient)


@compiled
def _turn(where, memory, towards, slopes):  # type: ignore[no-untyped-def]
    # Nocedal's two loops, a label at a time
    labels, gradients, curvatures, newest = where
    n_kept, size = memory.shape[2], gradients.shape[1]
    n = size // 2
    shares = np.zeros(n_kept)
    for place in range(len(labels)):
        label = labels[place]
        gradient, along = gradients[label], towards[label]
        for j in range(size):
            along[j] = -gradient[j]
        scale = 0.0
        for back in range(n_kept):
            k = (newest[label] - back) % n_kept
            curvature = curvatures[label, k]
            if curvature == 0.0:
                break
            step, change = memory[0, label, k], memory[1, label, k]
            dot = step[size - 1] * along[size - 1]
            for j in range(n):
                dot += step[j] * along[n + j]
            share = dot / curvature
            shares[back] = share
            for j in range(size):
                along[j] -= share * change[j]
            if back == 0:
                square = change[size - 1] * change[size - 1]
                for j in range(n):
                    square += change[j] * change[n + j]
                scale = curvature / square
        if scale != 0.0:
            for j in range(size):
                along[j] *= scale
        for back in range(n_kept - 1, -1, -1):
            k = (newest[label] - back) % n_kept
            curvature = curvatures[label, k]
            if curvature == 0.0:
                continue
            step, change = memory[0, label, k], memory[1, label, k]
            dot = along[size - 1] * change[size - 1]
            for j in range(n):
                dot += along[j] * change[n + j]
            share = shares[back] - dot / curvature
            for j in range(size):
                along[j] += share * step[j]
        slope = along[size - 1] * gradient[size - 1]
        for j in range(n):
            slope += along[j] * gradient[n + j]
        slopes[place] = slope
