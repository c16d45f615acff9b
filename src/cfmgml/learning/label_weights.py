"""``class_weight`` as one weight a label."""

from collections.abc import Mapping, Sequence

import numpy as np

from cfmgml.common.typing import FloatArray


def label_weights(
    class_weight: str | Mapping[str, float] | Sequence[float] | None, counts: FloatArray, names: list[str]
) -> FloatArray:
    """One weight a label, given how many bags have each; ``"balanced"`` ones average 1 over labels as they occur."""
    if class_weight is None:
        return np.ones(len(names))
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise ValueError(f"class_weight must be None, 'balanced', a mapping or a list, got {class_weight!r}.")
        inverse = 1.0 / np.maximum(counts, 1)
        return np.asarray(inverse * counts.sum() / max((counts > 0).sum(), 1))
    if isinstance(class_weight, Mapping):
        by_name = {str(name): weight for name, weight in class_weight.items()}  # labels may be numbers
        unknown = [name for name in by_name if name not in names]
        if unknown:
            raise ValueError(f"class_weight names labels that are not there: {unknown}; known: {names}.")
        weights = np.array([by_name.get(name, 1.0) for name in names], dtype=np.float64)
    else:
        weights = np.asarray(class_weight, dtype=np.float64)
    if weights.shape != (len(names),) or not (np.isfinite(weights) & (weights >= 0)).all():
        raise ValueError(
            f"class_weight must be one number, 0 or more, for each of {len(names)} labels, got {class_weight}."
        )
    return weights
