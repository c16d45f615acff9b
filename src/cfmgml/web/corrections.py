"""Inputs with the labels that somebody says are right, as a file of bags that ``cfmgml train`` takes."""

import base64
import binascii
import json
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from cfmgml.data.bags import BagDataset
from cfmgml.data.questions import Question, Reply
from cfmgml.model.cfmgml import CfMGML
from cfmgml.web.exhibits import check_servable
from cfmgml.web.limits import Limits, Refused
from cfmgml.web.own_graphs import build_own


def corrected_bags(model: CfMGML, inputs: list[dict[str, Any]], limits: Limits) -> bytes:
    """The file's bytes: a bag an input, built as the model's own, with all labels known."""
    names = [one["name"] for one in inputs]
    if len(set(names)) < len(names):
        raise Refused(422, "bad_bags", "Two inputs have the same name.")
    bags = BagDataset.concatenate([_bag(model, one, limits) for one in inputs])
    with tempfile.TemporaryDirectory(prefix="cfmgml-") as folder:
        file = Path(folder) / "corrections.bags"
        bags.save(file)
        return file.read_bytes()


def _bag(model: CfMGML, given: Mapping[str, Any], limits: Limits) -> BagDataset:
    known, name = model.label_names_.tolist(), given["name"]
    strange = sorted(set(given["labels"]) - set(known))
    if strange:
        raise Refused(422, "bad_bags", f"The model has no label {strange[0]!r}; it has {', '.join(known)}.")
    try:
        bag = _built(model, given, limits).bag
    except Refused as refusal:
        raise Refused(refusal.status, refusal.code, f"{name}: {refusal.reason}") from refusal
    return replace(
        bag,
        Y=np.isin(model.label_names_, given["labels"])[None],
        label_names=model.label_names_,
        bag_names=np.array([name]),
        graph_names=np.array([f"{name}#{k + 1}" for k in range(bag.n_graphs)]),
    )


def _built(model: CfMGML, given: Mapping[str, Any], limits: Limits) -> Reply:
    builder = check_servable(model)
    content: str = given["content"]
    if builder.form.route == "text":
        return builder.ask(Question(content), limits)
    if builder.form.route == "graphs":
        return build_own(content.encode(), model.kernel_, limits)
    try:
        data = base64.b64decode(content, validate=True)
    except binascii.Error as error:
        raise Refused(422, "bad_bags", "The content is not base64.") from error
    return builder.ask(Question(data, given.get("regions")), limits)


def read_inputs(body: bytes) -> bytes:
    """What was sent, checked; as JSON for a worker."""
    from cfmgml.web.json_bodies import read_json
    from cfmgml.web.schemas import CorrectedInputs

    return json.dumps(read_json(body, CorrectedInputs, "bad_bags").model_dump()["inputs"]).encode()
