"""Exact tiles of a kernel that sums exp(-gamma |x - y|^2) over pairs of nodes, near the speed of a matrix product.

A tile is one matrix product, whose entries are the exponents; its exponentials, in place; and one pass that weighs and
sums them. In float32 the rest is one pass with an exponential of its own, and with up to `FEW` columns that pass makes
the products too: nothing as large as a tile is ever held. At most `RUN` weighted terms are added in float32 before the
sum goes on in float64. Columns that are mostly 0, the bins of histograms, are left out of the product and added entry
by entry: of 873 columns of pictures' nodes, 714 are filled to 2 %.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from cfmgml.common.compiled import compiled
from cfmgml.common.segments import lengths, take_segments
from cfmgml.common.typing import BoolArray, DType, FloatArray, IntArray
from cfmgml.kernels.base import Operand
from cfmgml.kernels.path_counts import NodeWeights

CANCELLATION_LIMIT = 30.0  # above it, float32 distances lose too many digits to |x|^2 + |y|^2 - 2<x, y>
RUN = 64  # most terms that are added in the precision of the tile
THIN, FEWEST_THIN = 0.2, 64  # a column with fewer entries than this share is thin, where there are so many of them
SAMPLE = 5000  # nodes that are looked at for that
ROWS = 512  # nodes prepared at a time: few enough to stay in the cache
FEW, AT_ONCE = 32, 4  # columns whose products a float32 tile makes in its one pass, and how many of them at a time
LINE, PAD = 1024, 16  # nodes on the right that the pass meets with four on the left; lines do not start a page apart
# exp(x) = 2^k exp(f), |f| <= log(2) / 2, and for exp(f) the polynomial of the least relative error (8e-8; with all that
# float32 rounds, 5e-7). Where float32 has no normal numbers, below `LOWEST`, it is 0.
E = 1.00000007, 0.99999969, 0.49998895, 0.16667575, 0.04191538, 0.00829766
E0, E1, E2, E3, E4, E5 = (np.float32(number) for number in E)
LOG2_E, LOG_2, LOWEST = np.float32(1 / np.log(2)), np.float32(np.log(2)), np.float32(-87.33)
HALF, ZERO = np.float32(0.5), np.float32(0)


@dataclass(frozen=True)
class NodeSpace:
    """How attributes become points whose distances are exponents: -|x - y|^2 / 2 = -gamma |a - b|^2."""

    attributes: FloatArray  # (n_nodes, n_attributes)
    centre: FloatArray  # (n_attributes,): the kernel does not mind where nodes lie, rounding does
    scale: float  # sqrt(2 gamma)
    kept: BoolArray  # (n_attributes,): what varies
    thin: BoolArray  # (n_attributes,): what is mostly 0, and stays 0: it is not centred

    def points(self, rows: IntArray | slice, dtype: DTypeLike) -> FloatArray:
        """(n_rows, n_columns) of what varies and is not thin."""
        chosen, points = self.kept & ~self.thin, self.attributes[rows]
        if not chosen.all():
            points = points[:, chosen]
        points = (points - self.centre[chosen]) * self.scale
        return points.astype(dtype, copy=False)

    def thin_points(self, rows: IntArray | slice, dtype: DTypeLike) -> FloatArray:
        """(n_rows, n_columns) of what varies and is thin."""
        points = np.multiply(self.attributes[rows][:, self.kept & self.thin], self.scale, dtype=np.float64)
        return points.astype(dtype, copy=False)

    def largest_square(self) -> float:
        """Half the largest squared length."""
        runs = (slice(start, start + ROWS) for start in range(0, len(self.attributes), ROWS))
        wide = np.float64
        squares = (half_squares(self.points(r, wide)) + half_squares(self.thin_points(r, wide)) for r in runs)
        return max((float(part.max()) for part in squares), default=0.0)


def half_squares(points: FloatArray) -> FloatArray:
    return np.einsum("ij,ij->i", points, points, dtype=np.float64) / 2


@dataclass(frozen=True)
class NodeOperand(Operand):
    """Nodes and their weights. Points are made when a tile needs them: only attributes and tiles take memory."""

    space: NodeSpace
    rows: IntArray  # the nodes, as rows of `space`
    weights: NodeWeights
    dtype: DType

    @property
    def sizes(self) -> IntArray:
        return lengths(self.weights.node_ptr)

    @property
    def order(self) -> IntArray | None:
        widths = self.weights.widths
        return None if (widths == widths[:1]).all() else np.argsort(widths, kind="stable")

    def take(self, graphs: IntArray) -> "NodeOperand":
        nodes, _ = take_segments(self.weights.node_ptr, graphs)
        return NodeOperand(self.space, self.rows[nodes], self.weights.take(graphs), self.dtype)

    @cached_property
    def points(self) -> FloatArray:
        return self.space.points(self.rows, self.dtype)

    @cached_property
    def filled_points(self) -> FloatArray:
        """Points with columns of 0 up to a multiple of `AT_ONCE`."""
        return np.pad(self.points, ((0, 0), (0, -self.points.shape[1] % AT_ONCE)))

    @cached_property
    def lying_points(self) -> FloatArray:
        """The same, (n_columns, n_nodes)."""
        return np.ascontiguousarray(self.filled_points.T)

    @cached_property
    def thin_table(self) -> FloatArray:
        """Thin columns, (n_columns, n_nodes)."""
        return np.ascontiguousarray(self.space.thin_points(self.rows, self.dtype).T)

    @cached_property
    def thin_entries(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Thin columns as offsets of nodes, columns and values that are not 0."""
        return entries_of(self.thin_table.T)

    @cached_property
    def squares(self) -> FloatArray:
        """Of the rounded points, so that a node is as close to itself as can be."""
        squares = half_squares(self.points) + half_squares(self.thin_table.T)
        return squares.astype(self.dtype)

    @cached_property
    def left_weights(self) -> FloatArray:
        """(n_nodes, width), as wide as the widest graph's."""
        return self.weights.dense(int(self.weights.widths.max(initial=1)))

    @cached_property
    def right_weights(self) -> FloatArray:
        """(width, n_nodes)."""
        return np.ascontiguousarray(self.left_weights.T)


def node_operands(spaces: list[NodeSpace], weights: list[NodeWeights], dtype: DTypeLike) -> list[NodeOperand]:
    """Operands of nodes and weights; in float64 where float32 would cancel too many digits of distances."""
    of_points = np.dtype(dtype)
    if of_points != np.float64 and max(space.largest_square() for space in spaces) > CANCELLATION_LIMIT:
        of_points = np.dtype(np.float64)
    return [
        NodeOperand(space, np.arange(len(space.attributes)), w.astype(dtype), of_points)
        for space, w in zip(spaces, weights, strict=True)
    ]


def entries_of(points: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Offsets of rows, and columns and values of what is not 0."""
    row, column = np.nonzero(points)
    return np.searchsorted(row, np.arange(len(points) + 1)), column, points[row, column]


def varying_columns(sides: list[FloatArray]) -> BoolArray:
    """Columns that are not the same number in all rows of all sides: no other column adds to a distance.

    >>> varying_columns([np.array([[1., 2.], [1., 3.]]), np.array([[1., 2.]])])
    array([False,  True])
    """
    varies = np.zeros(sides[0].shape[1], dtype=bool)
    first = next((side[0] for side in sides if len(side)), None)
    for side in sides:
        for start in range(0, len(side), ROWS):
            if varies.all():
                return varies
            varies |= (side[start : start + ROWS] != first).any(axis=0)
    return varies


def thin_columns(attributes: FloatArray) -> BoolArray:
    """Columns that are mostly 0, as bins of histograms are, if there are enough of them to be worth it.

    >>> thin_columns(np.ones((3, 2)))
    array([False, False])
    """
    step = max(1, len(attributes) // SAMPLE)
    thin = (attributes[::step] != 0).mean(axis=0) < THIN
    return thin & (thin.sum() >= FEWEST_THIN)


def products(left: NodeOperand, right: NodeOperand) -> FloatArray:
    """<x, y> of the points of all pairs of nodes, (n_left, n_right)."""
    made = left.points @ right.points.T
    if len(right.thin_table):
        add_thin(made, *left.thin_entries, right.thin_table)
    return made


def similarities(left: NodeOperand, right: NodeOperand) -> FloatArray:
    """exp(-gamma |x - y|^2) for all pairs of nodes, (n_left, n_right)."""
    exponents = products(left, right)
    subtract_squares(exponents, left.squares, right.squares)
    return np.exp(exponents, out=exponents)


def node_tile(left: NodeOperand, right: NodeOperand, by_node: bool = False) -> FloatArray:
    """Kernel values of graphs, (n_left, n_right); ``by_node``, what each node on the left adds to them."""
    left_ptr = np.arange(len(left.rows) + 1) if by_node else left.weights.node_ptr
    out = np.zeros((len(left_ptr) - 1, len(right.sizes)))
    weights = left.left_weights, left_ptr, right.right_weights, right.weights.node_ptr
    if left.dtype == right.dtype == np.float32:
        few = len(right.thin_table) == 0 and right.points.shape[1] <= FEW
        made = left.points[:0] if few else products(left, right)
        points = (left.filled_points, right.lying_points) if few else (left.points[:, :0], right.lying_points[:0])
        _sum_exponentials(made, points, (left.squares, right.squares), weights, RUN, out)
    else:
        _sum_pairs(similarities(left, right), *weights, RUN, out)
    return out


@compiled
def add_thin(exponents, ptr, columns, values, table):  # type: ignore[no-untyped-def]
    """Add the products of rows, as `entries_of` has them, with the columns of a table."""
    # A few hundred columns at a time, so that the table's part stays in the cache; four entries at a time, so that what
    # is added to is read and written a quarter as often.
    n_columns = exponents.shape[1]
    for start in range(0, n_columns, 256):
        stop = min(start + 256, n_columns)
        for row in range(len(ptr) - 1):
            sums = exponents[row, start:stop]
            k, last = ptr[row], ptr[row + 1]
            while k + 4 <= last:
                v0, v1, v2, v3 = values[k], values[k + 1], values[k + 2], values[k + 3]
                t0, t1 = table[columns[k], start:stop], table[columns[k + 1], start:stop]
                t2, t3 = table[columns[k + 2], start:stop], table[columns[k + 3], start:stop]
                for c in range(len(sums)):
                    sums[c] += v0 * t0[c] + v1 * t1[c] + v2 * t2[c] + v3 * t3[c]
                k += 4
            while k < last:
                value, added = values[k], table[columns[k], start:stop]
                for c in range(len(sums)):
                    sums[c] += value * added[c]
                k += 1


@compiled
def subtract_squares(exponents, left, right):  # type: ignore[no-untyped-def]
    """From products of points to exponents, in place, given half their squared lengths."""
    zero = exponents.dtype.type(0)
    for row in range(len(left)):
        values, own = exponents[row], left[row]
        for c in range(len(right)):
            value = values[c] - own - right[c]
            values[c] = value if value < zero else zero  # rounding can put it above


@compiled
def _sum_exponentials(products, points, squares, weights, run, out):  # type: ignore[no-untyped-def]
    # As `_sum_pairs`, of four rows and a line of columns at a time, which stay in a core's own caches from products to
    # sums. Columns of left (n_left, K) and right (K, n_right) are added to products, unless there are none of these.
    # Loops over c have no branch, so that sixteen numbers run at a time. 2^k is made by adding to a number's exponent.
    def exponential(x: Any) -> Any:
        inside = min(max(x, LOWEST), ZERO)  # rounding can put it above 0
        k = np.floor(inside * LOG2_E + HALF)
        f = inside - k * LOG_2
        value = ((((E5 * f + E4) * f + E3) * f + E2) * f + E1) * f + E0
        bits = np.int32(np.float32(value).view(np.int32) + (np.int32(k) << np.int32(23)))
        return bits.view(np.float32) if x > LOWEST else ZERO

    (left, right), (left_squares, right_squares) = points, squares
    left_weights, left_ptr, right_weights, right_ptr = weights
    n_rows, n_columns = len(left_squares), len(right_squares)
    width = min(left_weights.shape[1], right_weights.shape[0])
    sums, totals = np.zeros((width, LINE), dtype=np.float32), np.empty(LINE)
    values = np.empty((4, LINE + PAD), dtype=np.float32)
    block = np.empty((left.shape[1], LINE + PAD), dtype=np.float32)
    v0, v1, v2, v3 = values[0], values[1], values[2], values[3]
    segment = 0
    for start in range(0, n_columns, LINE):
        n = min(LINE, n_columns - start)
        own = right_squares[start : start + n]
        block[:, :n] = right[:, start : start + n]
        while right_ptr[segment + 1] <= start:
            segment += 1
        graph, n_added = 0, 0
        for row in range(0, n_rows, 4):
            last = min(4, n_rows - row)  # rows that are there; the others repeat the last of them and are not added
            r0, r1, r2, r3 = row, row + min(1, last - 1), row + min(2, last - 1), row + last - 1
            s0, s1, s2, s3 = left_squares[r0], left_squares[r1], left_squares[r2], left_squares[r3]
            if len(products):
                p0, p1 = products[r0, start : start + n], products[r1, start : start + n]
                p2, p3 = products[r2, start : start + n], products[r3, start : start + n]
                for c in range(n):
                    s = own[c]
                    v0[c], v1[c], v2[c], v3[c] = p0[c] - s - s0, p1[c] - s - s1, p2[c] - s - s2, p3[c] - s - s3
            else:
                for c in range(n):
                    s = own[c]
                    v0[c], v1[c], v2[c], v3[c] = -s - s0, -s - s1, -s - s2, -s - s3
            for k in range(0, left.shape[1], 4):
                x0, x1, x2, x3 = block[k, :n], block[k + 1, :n], block[k + 2, :n], block[k + 3, :n]
                a0, a1, a2, a3 = left[r0, k], left[r0, k + 1], left[r0, k + 2], left[r0, k + 3]
                b0, b1, b2, b3 = left[r1, k], left[r1, k + 1], left[r1, k + 2], left[r1, k + 3]
                c0, c1, c2, c3 = left[r2, k], left[r2, k + 1], left[r2, k + 2], left[r2, k + 3]
                d0, d1, d2, d3 = left[r3, k], left[r3, k + 1], left[r3, k + 2], left[r3, k + 3]
                for c in range(n):
                    y0, y1, y2, y3 = x0[c], x1[c], x2[c], x3[c]
                    v0[c] += a0 * y0 + a1 * y1 + a2 * y2 + a3 * y3
                    v1[c] += b0 * y0 + b1 * y1 + b2 * y2 + b3 * y3
                    v2[c] += c0 * y0 + c1 * y1 + c2 * y2 + c3 * y3
                    v3[c] += d0 * y0 + d1 * y1 + d2 * y2 + d3 * y3
            while left_ptr[graph + 1] <= row:
                graph += 1
            straight = width == 1 and row + 4 <= left_ptr[graph + 1]
            if straight:  # all of one graph: exponentials go into sums at once
                w0, w1, w2, w3 = left_weights[r0, 0], left_weights[r1, 0], left_weights[r2, 0], left_weights[r3, 0]
                added = sums[0]
                for c in range(n):
                    upper = w0 * exponential(v0[c]) + w1 * exponential(v1[c])
                    added[c] += upper + (w2 * exponential(v2[c]) + w3 * exponential(v3[c]))
            else:
                for c in range(n):
                    v0[c], v1[c] = exponential(v0[c]), exponential(v1[c])
                    v2[c], v3[c] = exponential(v2[c]), exponential(v3[c])
            done = 0
            while done < last:
                while left_ptr[graph + 1] <= row + done:
                    graph += 1
                end = min(left_ptr[graph + 1] - row, last)
                for a in range(0 if straight else width):
                    w0 = left_weights[r0, a] if done == 0 else ZERO  # rows of other graphs, and rows that are not there
                    w1 = left_weights[r1, a] if done <= 1 < end else ZERO
                    w2 = left_weights[r2, a] if done <= 2 < end else ZERO
                    w3 = left_weights[r3, a] if end == 4 else ZERO
                    if w0 != 0 or w1 != 0 or w2 != 0 or w3 != 0:
                        added = sums[a]
                        for c in range(n):
                            added[c] += (w0 * v0[c] + w1 * v1[c]) + (w2 * v2[c] + w3 * v3[c])
                n_added += end - done
                done = end
                if row + done == left_ptr[graph + 1] or n_added > run - 4:
                    totals[:] = 0.0
                    for a in range(width):
                        added, times = sums[a], right_weights[a, start : start + n]
                        for c in range(n):
                            totals[c] += added[c] * times[c]
                    at, c = segment, 0
                    while c < n:
                        stop = min(right_ptr[at + 1] - start, n)
                        total = 0.0
                        while c < stop:
                            total += totals[c]
                            c += 1
                        out[graph, at] += total
                        at += 1
                    sums[:] = 0
                    n_added = 0


@compiled
def _sum_pairs(similarity, left, left_ptr, right, right_ptr, run, out):  # type: ignore[no-untyped-def]
    # For a run of rows of one graph: sums[a, c] = sum over rows of left[row, a] * similarity[row, c], a line of columns
    # at a time; then the weights of the columns, and their sums by graph, once a run and not once a row.
    line = 256
    n_columns = similarity.shape[1]
    width = min(left.shape[1], right.shape[0])
    sums = np.empty((width, line), dtype=similarity.dtype)
    totals = np.empty(line)
    segment = 0
    for start in range(0, n_columns, line):
        n = min(line, n_columns - start)
        while right_ptr[segment + 1] <= start:
            segment += 1
        for graph in range(len(left_ptr) - 1):
            for top in range(left_ptr[graph], left_ptr[graph + 1], run):
                sums[:] = 0
                for row in range(top, min(top + run, left_ptr[graph + 1])):
                    values = similarity[row, start : start + n]
                    for a in range(width):
                        weight = left[row, a]
                        if weight != 0:
                            added = sums[a]
                            for c in range(len(values)):
                                added[c] += weight * values[c]
                totals[:] = 0.0
                for a in range(width):
                    added, weights = sums[a], right[a, start : start + n]
                    for c in range(len(weights)):
                        totals[c] += added[c] * weights[c]
                at, c = segment, 0
                while c < n:
                    stop = min(right_ptr[at + 1] - start, n)
                    total = 0.0
                    while c < stop:
                        total += totals[c]
                        c += 1
                    out[graph, at] += total
                    at += 1
