"""Where to draw the nodes of a small graph: a spring layout that needs no library and is the same every time."""

import numpy as np

from cfmgml.common.typing import FloatArray, IntArray

N_STEPS = 80


def spring_layout(edges: IntArray, n_nodes: int) -> FloatArray:
    """Positions (n_nodes, 2) between -1 and 1: nodes push each other away, edges pull (Fruchterman & Reingold 1991).

    It starts from a circle and takes ever smaller steps. Quadratic in the number of nodes: for graphs that can be seen.

    >>> path = spring_layout(np.array([[0, 1], [1, 2]]), 3)
    >>> bool(np.linalg.norm(path[0] - path[2]) > np.linalg.norm(path[0] - path[1]))
    True
    """
    angles = 2 * np.pi * np.arange(n_nodes) / max(n_nodes, 1)
    places = np.stack([np.sin(angles), np.cos(angles)], axis=1) * (
        1 + 0.05 * np.arange(n_nodes)[:, None] / max(n_nodes, 1)
    )
    ideal = 2 / np.sqrt(max(n_nodes, 1))
    joined = np.zeros((n_nodes, n_nodes), dtype=bool)
    joined[edges[0], edges[1]] = joined[edges[1], edges[0]] = True
    for step in np.linspace(0.25, 0.005, N_STEPS):
        apart = places[:, None] - places[None]
        distance = np.maximum(np.linalg.norm(apart, axis=2), 1e-3)
        force = ideal**2 / distance**2 - joined * distance / ideal - 0.05  # a weak pull keeps loose parts in sight
        moved = (apart * force[:, :, None]).sum(axis=1)
        places = places + moved * (step / np.maximum(np.linalg.norm(moved, axis=1), step))[:, None]
    return unit_square(places)


def unit_square(places: FloatArray) -> FloatArray:
    """Positions moved and scaled to lie between -1 and 1, with their proportions."""
    if not len(places):
        return places
    low, high = places.min(axis=0), places.max(axis=0)
    half = float((high - low).max()) / 2
    return np.asarray((places - (low + high) / 2) / (half or 1.0))
