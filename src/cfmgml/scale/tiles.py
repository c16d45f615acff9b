"""Exact Gram matrices on disk, tile by tile, for when n x n numbers fit there and not in memory."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from cfmgml.common.compute import Compute
from cfmgml.common.digests import digest_of
from cfmgml.common.extras import missing_extra
from cfmgml.common.files import atomic_write
from cfmgml.common.progress import progress
from cfmgml.data.graphs import GraphBatch
from cfmgml.kernels import Kernel, as_kernel
from cfmgml.kernels.files import kernel_digest
from cfmgml.kernels.function import KernelLike
from cfmgml.kernels.gram import compute_gram
from cfmgml.scale.engines import EngineLike, running
from cfmgml.stores import BagStore

TILE = 2048
Tile = tuple[int, int]


def gram_to_zarr(
    kernel: KernelLike,
    graphs: GraphBatch | BagStore,
    path: str | Path,
    *,
    tile: int = TILE,
    dtype: DTypeLike = "float32",
    engine: EngineLike = "inline",
    n_jobs: int | None = None,
    verbose: bool = False,
) -> Any:
    """The normalised Gram matrix of graphs as a zarr array, computed by tiles and resumable.

    Parameters
    ----------
    kernel
        A `Kernel`; resolved on all graphs if it is not yet.
    graphs
        A batch or a store; the graphs themselves must fit in memory, the matrix need not.
    path
        Folder of the zarr array. Where tiles of the same matrix are there already, only the others are computed; a
        matrix of a plain function cannot be known again, and is never gone on with.
    tile
        Rows and columns of a tile, and of a chunk on disk.
    engine
        As for `fit_store`; every worker must see ``path``.

    Returns
    -------
    The array, open for reading: ``Precomputed(array)`` takes it, and with ``CfMGML(..., rank=1000)`` only the columns
    that it asks for are ever in memory.

    Examples
    --------
    >>> import tempfile
    >>> from cfmgml import NodeSum
    >>> graphs = GraphBatch([0, 1, 3], [0, 0, 0], [[], []], node_attributes=[[0.], [0.], [1.]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     gram_to_zarr(NodeSum(gamma=1.), graphs, f"{folder}/K.zarr", tile=1)[:].round(3)
    array([[1.   , 0.827],
           [0.827, 1.   ]], dtype=float32)
    """
    batch = graphs.load().graphs if isinstance(graphs, BagStore) else graphs
    if not np.array_equal(batch.graph_ids, np.arange(batch.n_graphs)):
        raise ValueError("graph_ids must count from 0: compute the whole data set's matrix, then select from it.")
    settled = as_kernel(kernel)
    settled = settled if settled.is_resolved else settled.resolve(batch)
    path, done = Path(path), Path(f"{path}.tiles")
    _open(path, batch, settled, tile, Compute(dtype).numbers, done)
    n_tiles = -(-batch.n_graphs // tile)
    left = [(i, j) for i in range(n_tiles) for j in range(i, n_tiles) if not (done / f"{i}-{j}").exists()]
    with running(engine, n_jobs) as workers, progress("Gram matrix", len(left), verbose) as advance:
        for _ in workers.map(compute_tile, left, settled, batch, str(path), tile) if done.exists() else ():
            advance(1)
    shutil.rmtree(done, ignore_errors=True)
    return _zarr().open_array(str(path), mode="r")


def compute_tile(at: Tile, kernel: Kernel, graphs: GraphBatch, path: str, tile: int) -> None:
    """Compute one tile and its mirror image, and only then note that it is there."""
    array = _zarr().open_array(path, mode="r+")
    rows, columns = (slice(k * tile, min((k + 1) * tile, graphs.n_graphs)) for k in at)
    others = None if at[0] == at[1] else graphs[columns]
    values = compute_gram(kernel, graphs[rows], Compute(array.dtype), others)
    array[rows, columns] = values
    if at[0] != at[1]:
        array[columns, rows] = values.T
    with atomic_write(Path(f"{path}.tiles") / f"{at[0]}-{at[1]}"):
        pass


def _open(path: Path, graphs: GraphBatch, kernel: Kernel, tile: int, dtype: np.dtype[np.generic], done: Path) -> None:
    """Make the array, or see that the one that is there is of the same graphs and kernel."""
    zarr = _zarr()
    told = {"matrix": digest_of(graphs.arrays(), kernel_digest(kernel)), "tile": tile, "dtype": str(dtype)}
    if path.exists():
        if zarr.open_array(str(path), mode="r").attrs.get("cfmgml") != told:
            raise ValueError(f"{path} holds another matrix (other graphs, kernel, tile or dtype); remove it first.")
        return
    done.mkdir(parents=True, exist_ok=True)
    for old in done.iterdir():
        old.unlink()
    shapes = {"shape": (graphs.n_graphs,) * 2, "chunks": (min(tile, graphs.n_graphs),) * 2}
    zarr.create_array(str(path), **shapes, dtype=dtype, fill_value=np.nan, attributes={"cfmgml": told})


def _zarr() -> Any:
    try:
        import zarr
    except ImportError as error:
        raise ImportError(missing_extra("Gram matrices on disk need zarr", "dask")) from error
    return zarr
