"""How often each graph has each colour: 64-bit codes become column numbers and counts, without sorting.

Codes are hashes already, so their low bits are as good a place in a table as any.
"""

import numpy as np
from scipy import sparse

from cfmgml.common.compiled import compiled
from cfmgml.common.typing import HashArray, IntArray, NumberArray

MOST_IN_BUCKET = 64  # codes that are sorted by insertion


def number_codes(codes: HashArray) -> tuple[NumberArray, HashArray]:
    """A number for every code, in the order of first sight, and the different codes in that order.

    >>> number_codes(np.array([7, 3, 7], dtype=np.uint64))
    (array([0, 1, 0], dtype=int32), array([7, 3], dtype=uint64))
    """
    table = np.full(1 << max(4, int(2 * codes.size).bit_length()), -1, dtype=np.int32)
    numbers, values = np.empty(codes.size, dtype=np.int32), np.empty(codes.size, dtype=np.uint64)
    n = int(_number(np.ascontiguousarray(codes).reshape(-1), table, numbers, values))
    return numbers.reshape(codes.shape), values[:n].copy()


def order_of_codes(codes: HashArray) -> IntArray:
    """``np.argsort(codes)`` of different codes, in time that grows as their number.

    Hashes are spread evenly, so their high bits say nearly where they belong. Codes that are not are sorted as usual.

    >>> order_of_codes(np.array([7, 3, 5], dtype=np.uint64))
    array([1, 2, 0])
    """
    n_bits = max(0, int(codes.size).bit_length() - 3)  # 4 to 8 codes a bucket
    order, in_order, ends = np.empty(codes.size, np.int64), np.empty_like(codes), np.zeros((1 << n_bits) + 1, np.int32)
    if not n_bits or not _order(codes, np.uint64(64 - n_bits), MOST_IN_BUCKET, ends, order, in_order):
        return np.argsort(codes)
    return order


def count_columns(columns: IntArray | NumberArray, node_ptr: IntArray, width: int) -> sparse.csr_array:
    """Counts (n_graphs, width) of the column numbers (n_rows, n_nodes) that a graph's nodes have.

    >>> count_columns(np.array([[0, 1, 1]]), np.array([0, 1, 3]), 2).toarray()
    array([[1., 0.],
           [0., 2.]])
    """
    n_graphs = len(node_ptr) - 1
    row_ptr = np.zeros(n_graphs + 1, dtype=np.int32)
    indices, counts = np.empty(columns.size, dtype=np.int32), np.empty(columns.size)
    _count(columns, node_ptr, np.full(width, -1, dtype=np.int32), row_ptr, indices, counts)
    used = int(row_ptr[-1])
    return sparse.csr_array((counts[:used].copy(), indices[:used].copy(), row_ptr), shape=(n_graphs, width))


@compiled
def _order(codes, shift, most, ends, order, in_order):  # type: ignore[no-untyped-def]
    # Count the codes of each bucket, put each into its bucket, sort inside; False if a bucket is too full for that.
    for k in range(len(codes)):
        ends[(codes[k] >> shift) + np.uint64(1)] += 1
    if ends.max() > most:
        return False
    for bucket in range(1, len(ends)):
        ends[bucket] += ends[bucket - 1]
    for k in range(len(codes)):  # ends[b] goes from the start of bucket b to its end
        bucket = codes[k] >> shift
        place = ends[bucket]
        order[place], in_order[place] = k, codes[k]
        ends[bucket] = place + 1
    start = 0
    for bucket in range(len(ends) - 1):
        for k in range(start + 1, ends[bucket]):
            number, code, place = order[k], in_order[k], k
            while place > start and in_order[place - 1] > code:
                order[place], in_order[place] = order[place - 1], in_order[place - 1]
                place -= 1
            order[place], in_order[place] = number, code
        start = ends[bucket]
    return True


@compiled
def _number(codes, table, numbers, values):  # type: ignore[no-untyped-def]
    mask = np.uint64(len(table) - 1)
    n = 0
    for k in range(len(codes)):
        code = codes[k]
        place = code & mask
        while table[place] >= 0 and values[table[place]] != code:
            place = (place + np.uint64(1)) & mask
        if table[place] < 0:
            table[place] = n
            values[n] = code
            n += 1
        numbers[k] = table[place]
    return n


@compiled
def _count(columns, node_ptr, seen, row_ptr, indices, counts):  # type: ignore[no-untyped-def]
    # seen[c] is where column c stands in the current row; what it holds from rows before lies below the row's start
    used = 0
    for graph in range(len(node_ptr) - 1):
        start = used
        for step in range(columns.shape[0]):
            for node in range(node_ptr[graph], node_ptr[graph + 1]):
                column = columns[step, node]
                if seen[column] >= start:
                    counts[seen[column]] += 1.0
                else:
                    seen[column] = used
                    indices[used] = column
                    counts[used] = 1.0
                    used += 1
        row_ptr[graph + 1] = used
