"""A fitted `CfMGML` on disk: arrays and JSON, never pickle."""

import contextlib
import json
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import scipy
import sklearn
from numpy.typing import NDArray

from cfmgml._files import load_arrays, save_arrays
from cfmgml._numbers import check_number
from cfmgml.calibration import Calibration
from cfmgml.gram import check_dtype, gram_matrix
from cfmgml.graphs import GraphBatch
from cfmgml.kernels.files import kernel_from_state, kernel_state
from cfmgml.scoring import DualScorer, ExplicitScorer, Scorer

Model = TypeVar("Model")
MAX_ATTRIBUTES = 10_000_000
RESULTS = ("objective_", "representatives_", "intercept_", "label_names_")


def versions(builder: str | None = None) -> dict[str, str]:
    """Versions of what the numbers depend on; pictures are read and cut by libraries of their own."""
    from cfmgml import __version__

    found = {module.__name__: module.__version__ for module in (np, scipy, sklearn)}
    if builder == "images":
        for name in ("scikit-image", "pillow"):
            with contextlib.suppress(PackageNotFoundError):
                found[name] = version(name)
    return {"cfmgml": __version__, "python": platform.python_version(), **found}


def save_model(model: Any, path: str | Path) -> None:
    """Write a fitted model."""
    kernel, arrays = kernel_state(model.kernel_)
    arrays = {**arrays, **model.scorer_.arrays(), **{name: getattr(model, name) for name in RESULTS}}
    params = {key: plain_number(value) for key, value in model.get_params(deep=False).items() if key != "kernel"}
    # A file knows no card: where it is read there may be none.
    params["dtype"], params["device"] = check_dtype(model.dtype, model.device).name, "cpu"
    params["random_state"] = params["random_state"] if isinstance(params["random_state"], int) else None
    if params["class_weight"] is not None and not isinstance(params["class_weight"], str | dict):
        params["class_weight"] = np.asarray(params["class_weight"], dtype=np.float64).tolist()
    if model.calibration_ is not None:
        arrays["calibration"] = np.stack([model.calibration_.slope, model.calibration_.offset])
    meta = {
        "kernel": kernel,
        "params": params,
        "scorer": type(model.scorer_).__name__,
        "n_iter": model.n_iter_,
        "gradient_norm": None if np.isnan(model.gradient_norm_) else model.gradient_norm_,
        "fingerprint": model.fingerprint_,
        "info": json.loads(json.dumps(model.info_, default=str)),
        "versions": versions(model.info_.get("builder")),
    }
    save_arrays(path, "CfMGML", meta, arrays)


def plain_number(value: Any) -> Any:
    """A numpy number, as grid searches make them, as Python's own."""
    return value.item() if isinstance(value, np.generic) else value


def load_model(cls: type[Model], path: str | Path) -> Model:
    """Read a fitted model."""
    meta, arrays = load_arrays(path, "CfMGML")
    try:
        return _rebuild(cls, meta, arrays)
    except (LookupError, TypeError, AttributeError, ArithmeticError, RecursionError, MemoryError) as error:
        raise ValueError(f"{path} does not hold a whole CfMGML model ({error!r}).") from error
    except ValueError as error:
        raise ValueError(f"{path} does not hold a whole CfMGML model: {error}") from error


def _rebuild(cls: type[Model], meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Model:
    kernel = kernel_from_state(meta["kernel"], arrays)
    make: Any = cls
    model = make(kernel=kernel, **meta["params"])
    model.kernel_ = kernel
    for name in RESULTS:
        setattr(model, name, arrays[name])
    model.classes_ = model.label_names_
    _check_results(model)
    model.scorer_ = _scorer(meta, arrays, kernel, model)
    _try(model.scorer_)
    model.n_iter_ = meta["n_iter"]
    model.gradient_norm_ = float("nan") if meta["gradient_norm"] is None else meta["gradient_norm"]
    model.fingerprint_, model.info_ = meta["fingerprint"], _object(meta["info"], "info")
    model.calibration_ = _calibration(arrays["calibration"], model) if "calibration" in arrays else None
    _object(meta["versions"], "versions")
    made: Model = model
    return made


def _check_results(model: Any) -> None:
    """Refuse arrays that do not fit together: a file may be whole and still not be one that `save_model` wrote."""
    names = model.label_names_
    if names.dtype.kind != "U" or names.ndim != 1 or len(names) == 0 or len(set(names.tolist())) < len(names):
        raise TypeError("label_names_ must be different names")
    check_numbers(model.intercept_, (len(names),), "intercept_")
    check_numbers(model.objective_, (None,), "objective_")
    check_numbers(model.representatives_, (None, len(names)), "representatives_")
    check_dtype(model.dtype)
    check_number(model.context, "context", at_least=0, below=1)


def check_numbers(array: NDArray[Any], shape: tuple[int | None, ...], name: str) -> NDArray[Any]:
    """The array, if it holds finite numbers in this shape; None stands for any length."""
    fits = array.ndim == len(shape) and all(n in (None, m) for n, m in zip(shape, array.shape, strict=True))
    if not fits or array.dtype.kind not in "iuf" or not np.isfinite(array).all():
        raise TypeError(f"{name} must be finite numbers of shape {shape}, got {array.dtype} of shape {array.shape}")
    return array


def _try(scorer: Scorer) -> None:
    """Score a graph of one node, or compare one of the landmarks with itself: whatever does not fit raises here."""
    with np.errstate(all="ignore", invalid="raise"):  # what is invalid here would be a warning at every prediction
        if isinstance(scorer, DualScorer):
            gram_matrix(scorer.kernel, scorer.landmarks[:1], scorer.landmarks[:1], dtype=scorer.dtype)
            return
        attributes = np.zeros((1, _n_attributes(scorer.kernel)))
        no_edges, label = np.zeros((2, 0), dtype=np.int64), np.zeros(1, dtype=np.int64)
        scorer.scores(GraphBatch(np.array([0, 1]), np.array([0, 0]), no_edges, label, attributes))


def _n_attributes(kernel: Any) -> int:
    """How many attributes a kernel, or a part of it, was resolved on."""
    own = [getattr(kernel, "n_attributes_", 0), *map(_n_attributes, getattr(kernel, "kernels_", ()))]
    if not all(isinstance(n, int) and 0 <= n <= MAX_ATTRIBUTES for n in own):
        raise TypeError(f"n_attributes_ must be 0 to {MAX_ATTRIBUTES:,}, got {max(own)}")
    return max(own)


def _object(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError(f"{name} must be an object, got {type(value).__name__}")
    return value


def _calibration(array: NDArray[Any], model: Any) -> Calibration:
    return Calibration(*check_numbers(array, (2, len(model.label_names_)), "calibration"))


def _scorer(meta: dict[str, Any], arrays: dict[str, NDArray[Any]], kernel: Any, model: Any) -> Scorer:
    n_labels = len(model.label_names_)
    found = arrays["coef" if meta["scorer"] == "ExplicitScorer" else "dual_coef"]
    with_context = found.ndim == 2 and found.shape[1] == 2 * n_labels
    n_scores = 2 * n_labels if with_context else n_labels
    if meta["scorer"] == "ExplicitScorer":
        return ExplicitScorer(kernel, check_numbers(arrays["coef"], (None, n_scores), "coef"))
    if meta["scorer"] != "DualScorer":
        raise KeyError(meta["scorer"])
    start = "landmarks."
    landmarks = GraphBatch(**{n.removeprefix(start): array for n, array in arrays.items() if n.startswith(start)})
    kernel.check_graphs(landmarks)
    dual = check_numbers(arrays["dual_coef"], (landmarks.n_graphs, n_scores), "dual_coef")
    return DualScorer(kernel, landmarks, dual, model.dtype, model.n_jobs)
