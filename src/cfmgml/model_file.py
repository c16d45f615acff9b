"""A fitted `CfMGML` on disk: arrays and JSON, never pickle."""

import json
import platform
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import scipy
import sklearn
from numpy.typing import NDArray

from cfmgml._files import load_arrays, save_arrays
from cfmgml.calibration import Calibration
from cfmgml.graphs import GraphBatch
from cfmgml.kernels.files import kernel_from_state, kernel_state
from cfmgml.scoring import DualScorer, ExplicitScorer, Scorer

Model = TypeVar("Model")
RESULTS = ("objective_", "representatives_", "intercept_", "label_names_")


def versions() -> dict[str, str]:
    """Versions of what the numbers depend on."""
    from cfmgml import __version__

    found = {module.__name__: module.__version__ for module in (np, scipy, sklearn)}
    return {"cfmgml": __version__, "python": platform.python_version(), **found}


def save_model(model: Any, path: str | Path) -> None:
    """Write a fitted model."""
    kernel, arrays = kernel_state(model.kernel_)
    arrays = {**arrays, **model.scorer_.arrays(), **{name: getattr(model, name) for name in RESULTS}}
    params = {key: plain_number(value) for key, value in model.get_params(deep=False).items() if key != "kernel"}
    params["dtype"] = np.dtype(params["dtype"]).name
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
        "versions": versions(),
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
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise ValueError(f"{path} does not hold a whole CfMGML model ({error!r}).") from error


def _rebuild(cls: type[Model], meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Model:
    kernel = kernel_from_state(meta["kernel"], arrays)
    make: Any = cls
    model = make(kernel=kernel, **meta["params"])
    model.kernel_ = kernel
    for name in RESULTS:
        setattr(model, name, arrays[name])
    model.classes_ = model.label_names_
    model.scorer_ = _scorer(meta, arrays, kernel, model)
    model.n_iter_ = meta["n_iter"]
    model.gradient_norm_ = float("nan") if meta["gradient_norm"] is None else meta["gradient_norm"]
    model.fingerprint_, model.info_ = meta["fingerprint"], meta["info"]
    model.calibration_ = Calibration(*arrays["calibration"]) if "calibration" in arrays else None
    made: Model = model
    return made


def _scorer(meta: dict[str, Any], arrays: dict[str, NDArray[Any]], kernel: Any, model: Any) -> Scorer:
    if meta["scorer"] == "ExplicitScorer":
        return ExplicitScorer(kernel, arrays["coef"])
    start = "landmarks."
    landmarks = {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}
    return DualScorer(kernel, GraphBatch(**landmarks), arrays["dual_coef"], model.dtype, model.n_jobs)
