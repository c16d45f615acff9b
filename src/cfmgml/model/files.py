"""A fitted `CfMGML` on disk: arrays and JSON, never pickle."""

import json
import platform
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import scipy
import sklearn

from cfmgml.common.compute import ON_NUMPY, Compute
from cfmgml.common.files import load_arrays, save_arrays
from cfmgml.common.numbers import check_number
from cfmgml.common.typing import Array, Arrays, FloatArray, Json
from cfmgml.data.builder import BagBuilder, builder_of, library_versions
from cfmgml.data.graphs import GraphBatch
from cfmgml.kernels.base import Kernel
from cfmgml.kernels.context import SCALES
from cfmgml.kernels.files import check_finite, kernel_from_state, kernel_state
from cfmgml.learning.calibration import Calibration
from cfmgml.learning.learned import Learned, Learner, StepSizes
from cfmgml.learning.scoring import DualScorer, ExplicitScorer, Scorer
from cfmgml.learning.seen import REMEMBERED, Seen, seen_of_file
from cfmgml.learning.training import Training

Model = TypeVar("Model", bound=Learner)
# Of `Learned`, with _ in a file.
NAMES = ("label_names", "label_counts", "intercept", "thresholds", "objective", "representatives")


def versions(builder: BagBuilder | None = None) -> dict[str, str]:
    """Versions of what the numbers depend on; pictures are read and cut by libraries of their own."""
    from cfmgml import __version__

    numerical = {module.__name__: module.__version__ for module in (np, scipy, sklearn)}
    return {"cfmgml": __version__, "python": platform.python_version(), **numerical, **library_versions(builder)}


def save_model(model: Any, path: str | Path) -> None:
    """Write a fitted model."""
    learned: Learned = model.learned_
    kernel, arrays = kernel_state(learned.kernel)
    arrays = {**arrays, **learned.scorer.arrays(), **{f"{name}_": getattr(learned, name) for name in NAMES}}
    params = {key: value for key, value in model.get_params(deep=False).items() if key != "kernel"}
    params |= {key: value.item() for key, value in params.items() if isinstance(value, np.generic)}  # of grid searches
    # A file knows no card: where it is read there may be none.
    params["dtype"], params["device"] = Training.of(model).compute.numbers.name, ON_NUMPY
    params["random_state"] = params["random_state"] if isinstance(params["random_state"], int) else None
    if params["class_weight"] is not None and not isinstance(params["class_weight"], str | dict):
        params["class_weight"] = np.asarray(params["class_weight"], dtype=np.float64).tolist()
    if isinstance(params["alpha"], tuple):
        params["alpha"] = [float(alpha) for alpha in params["alpha"]]
    if not isinstance(params["thresholds"], str):
        params["thresholds"] = {str(name): float(value) for name, value in params["thresholds"].items()}
    if learned.calibration is not None:
        arrays["calibration"] = np.stack([learned.calibration.slope, learned.calibration.offset])
    if learned.steps is not None:
        arrays["steps.squares"] = learned.steps.squares
    if learned.seen is not None:
        arrays |= learned.seen.arrays()
    meta = {
        "kernel": kernel,
        "params": params,
        "scorer": type(learned.scorer).__name__,
        "n_bags": learned.n_bags,
        "n_iter": learned.n_iter,
        "gradient_norm": None if np.isnan(learned.gradient_norm) else learned.gradient_norm,
        "rate": None if learned.steps is None else learned.steps.rate,
        "covered": learned.covered,
        "approximation_error": learned.approximation_error,
        "context_scale": learned.context_scale,
        "usual": None if learned.seen is None else learned.seen.usual,
        "fingerprint": learned.fingerprint,
        "info": json.loads(json.dumps(learned.info, default=str)),
        "versions": versions(learned.builder),
    }
    save_arrays(path, "CfMGML", meta, arrays)


def load_model(cls: type[Model], path: str | Path) -> Model:
    """Read a fitted model."""
    meta, arrays = load_arrays(path, "CfMGML")
    try:
        return _rebuild(cls, meta, arrays)
    except (LookupError, TypeError, AttributeError, ArithmeticError, RecursionError, MemoryError) as error:
        raise ValueError(f"{path} does not hold a whole CfMGML model ({error!r}).") from error
    except ValueError as error:
        raise ValueError(f"{path} does not hold a whole CfMGML model: {error}") from error


def _rebuild(cls: type[Model], meta: Json, arrays: Arrays) -> Model:
    kernel = kernel_from_state(meta["kernel"], arrays)
    make: Any = cls
    params = dict(meta["params"])
    if isinstance(params["alpha"], list):
        params["alpha"] = tuple(params["alpha"])
    model: Model = make(kernel=kernel, **params)
    training = Training.of(model)
    names = arrays["label_names_"]  # a file may be whole and still not be one that `save_model` wrote
    if names.dtype.kind != "U" or names.ndim != 1 or len(names) == 0 or len(set(names.tolist())) < len(names):
        raise TypeError("label_names_ must be different names")
    scorer = _scorer(meta, arrays, kernel, len(names), training.compute)
    intercept = check_numbers(arrays["intercept_"], (len(names),), "intercept_")
    representatives = check_numbers(arrays["representatives_"], (None, len(names)), "representatives_")
    _try(scorer, intercept)
    _object(meta["versions"], "versions")
    calibration = None
    if "calibration" in arrays:
        calibration = Calibration(*check_numbers(arrays["calibration"], (2, len(names)), "calibration"))
    model.learned_ = Learned(
        label_names=names,
        label_counts=check_numbers(arrays.get("label_counts_", np.zeros(len(names))), (len(names),), "label_counts_"),
        n_bags=_count(meta.get("n_bags", len(representatives)), "n_bags"),  # files of 0.1.0 do not tell
        scorer=scorer,
        intercept=intercept,
        thresholds=_thresholds(arrays, len(names)),
        objective=check_numbers(arrays["objective_"], (None,), "objective_"),
        representatives=representatives,
        n_iter=_count(meta["n_iter"], "n_iter"),
        gradient_norm=float("nan") if meta["gradient_norm"] is None else meta["gradient_norm"],
        fingerprint=meta["fingerprint"],
        info=_object(meta["info"], "info"),
        builder=builder_of(meta["info"]),
        calibration=calibration,
        steps=_step_sizes(meta, arrays, scorer),
        covered=_share(meta.get("covered"), "covered"),
        approximation_error=_error(meta.get("approximation_error")),
        context_scale=_context_scale(meta.get("context_scale", "mean")),  # files from before have that
        seen=_seen(meta.get("usual"), arrays, scorer),
    )
    return model


def check_numbers(array: Array, shape: tuple[int | None, ...], name: str) -> Array:
    """The array, if it holds finite numbers in this shape; None stands for any length."""
    fits = array.ndim == len(shape) and all(n in (None, m) for n, m in zip(shape, array.shape, strict=True))
    if not fits or array.dtype.kind not in "iuf" or not np.isfinite(array).all():
        raise TypeError(f"{name} must be finite numbers of shape {shape}, got {array.dtype} of shape {array.shape}")
    return check_finite(array, name)


def _error(value: float | None) -> float | None:
    if value is None:
        return None
    check_number(value, "approximation_error", at_least=0)
    return float(value)


def _share(value: float | None, name: str) -> float | None:
    if value is not None:
        check_number(value, name, at_least=0)
    return value


def _thresholds(arrays: Arrays, n_labels: int) -> FloatArray:
    """Files from before have none: 0 for all."""
    found = check_numbers(arrays.get("thresholds_", np.zeros(n_labels)), (n_labels,), "thresholds_")
    if (found > 0).any():
        raise TypeError(f"thresholds_ must be 0 or less, got {found.max():g}")
    return found


def _context_scale(value: str) -> str:
    if value not in SCALES:
        raise TypeError(f"context_scale must be one of {SCALES}, got {value!r}")
    return value


def _count(value: int, name: str) -> int:
    check_number(value, name, at_least=0, below=2**63, whole=True)
    return int(value)


def _try(scorer: Scorer, intercept: FloatArray) -> None:
    """Score a graph of one node, or the first landmark by itself: whatever does not fit raises here."""
    with np.errstate(all="ignore", invalid="raise"):  # what is invalid here would be a warning at every prediction
        if isinstance(scorer, DualScorer):
            graphs = scorer.landmarks[:1]
            scorer = replace(scorer, landmarks=graphs, dual_coef=scorer.dual_coef[:1])
        else:
            attributes = np.zeros((1, _n_attributes(scorer.kernel)))
            no_edges, label = np.zeros((2, 0), dtype=np.int64), np.zeros(1, dtype=np.int64)
            graphs = GraphBatch(np.array([0, 1]), np.array([0, 0]), no_edges, label, attributes, edge_labels=label[:0])
        scores = scorer.scores(graphs)
    if not np.isfinite(scores.sum() + intercept.sum()):
        raise TypeError("a trial score must be finite; the weights are too large, or not numbers")


def _n_attributes(kernel: Kernel) -> int:
    """How many attributes a kernel, or a part of it, was resolved on."""
    own = [getattr(kernel, "n_attributes_", 0), *map(_n_attributes, getattr(kernel, "kernels_", ()))]
    if not all(isinstance(n, int) and n >= 0 for n in own):
        raise TypeError(f"n_attributes_ must be 0 or more, got {own}")
    return max(own)


def _check_width(kernel: Kernel, n_features: int) -> None:
    """Refuse features wider than the weights before any are made."""
    width = getattr(kernel, "width_", 0)
    if not 0 <= width <= n_features:
        raise TypeError(f"width_ must be at most the {n_features:,} rows of coef, got {width:,}")
    for part in getattr(kernel, "kernels_", ()):
        _check_width(part, n_features)


def _object(value: object, name: str) -> Json:
    if not isinstance(value, dict):
        raise TypeError(f"{name} must be an object, got {type(value).__name__}")
    return value


def _seen(usual: float | None, arrays: Arrays, scorer: Scorer) -> Seen | None:
    if usual is None:  # too few graphs, or from before
        return None
    check_number(usual, "usual")
    for name, shape in {"rows": (None, None), "places": (2, None), "values": (None,), "shape": (2,)}.items():
        if f"seen.{name}" in arrays:
            check_numbers(arrays[f"seen.{name}"], shape, f"seen.{name}")
    if isinstance(scorer, DualScorer):
        return Seen(float(usual))
    width = len(scorer.weights)
    n_rows, n_columns = arrays["seen.shape"].tolist() if "seen.values" in arrays else arrays["seen.rows"].shape
    if not 0 < n_rows <= REMEMBERED or n_columns != width:
        raise TypeError(f"of training graphs there are 1 to {REMEMBERED} rows of {width} numbers in a file")
    return seen_of_file(float(usual), arrays)


def _step_sizes(meta: Json, arrays: Arrays, scorer: Scorer) -> StepSizes | None:
    """Whether they fit the weights of a `DualScorer` shows only when those are computed, in `partial_fit`."""
    if "steps.squares" not in arrays:
        return None
    n_rows = len(scorer.coef) + 1 if isinstance(scorer, ExplicitScorer) else None
    squares = check_numbers(arrays["steps.squares"], (n_rows, scorer.n_scores), "steps.squares")
    if meta["rate"] is not None:
        check_number(meta["rate"], "rate", above=0)
    return StepSizes(squares.astype(np.float64, copy=False), meta["rate"])


def _scorer(meta: Json, arrays: Arrays, kernel: Kernel, n_labels: int, compute: Compute) -> Scorer:
    if meta["scorer"] not in ("ExplicitScorer", "DualScorer"):
        raise KeyError(meta["scorer"])
    name = "coef" if meta["scorer"] == "ExplicitScorer" else "dual_coef"
    with_context = arrays[name].ndim == 2 and arrays[name].shape[1] == 2 * n_labels
    coef = check_numbers(arrays[name], (None, 2 * n_labels if with_context else n_labels), name)
    if name == "coef":
        _check_width(kernel, len(coef))
        return ExplicitScorer(kernel, coef)
    start = "landmarks."
    landmarks = GraphBatch(**{n.removeprefix(start): array for n, array in arrays.items() if n.startswith(start)})
    kernel.check_graphs(landmarks)
    check_numbers(coef, (landmarks.n_graphs, None), name)
    return DualScorer(kernel, landmarks, coef, compute)
