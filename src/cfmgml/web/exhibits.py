"""What is on show: a model, what to call it, and inputs to try it on."""

import mimetypes
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cfmgml.data.builder import BagBuilder, known_builder
from cfmgml.model.cfmgml import CfMGML
from cfmgml.web.limits import Limits

MOST_SAMPLES = 40


@dataclass(frozen=True)
class Sample:
    """An input to try: a name, an image's bytes or a text, and what each of its parts is, where that is known.

    >>> Sample("greeting", "Hello there.").media_type
    'text/plain'
    """

    title: str
    content: bytes | str
    media_type: str = "text/plain"
    truth: tuple[str, ...] = ()

    @property
    def data(self) -> bytes:
        return self.content.encode() if isinstance(self.content, str) else self.content


def read_samples(paths: Iterable[str | Path]) -> tuple[Sample, ...]:
    """Files as samples, and those of folders; an image is one by its suffix, anything else is a text.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "greeting.txt").write_text("Hello there.")
    ...     read_samples([folder])
    (Sample(title='greeting', content='Hello there.', media_type='text/plain', truth=()),)
    """
    files = [file for path in map(Path, paths) for file in (sorted(path.iterdir()) if path.is_dir() else [path])]
    chosen = [file for file in files if file.is_file() and not file.name.startswith(".")] if files else []
    missing = next((file for file in files if not file.exists()), None)
    if missing is not None:
        raise FileNotFoundError(f"there is no sample {missing}.")
    if len(chosen) > MOST_SAMPLES:
        raise ValueError(f"a page has {MOST_SAMPLES} samples at most, got {len(chosen)}.")
    return tuple(_read_sample(file) for file in chosen)


def _read_sample(file: Path) -> Sample:
    media_type = mimetypes.guess_type(file.name)[0] or ""
    if media_type.startswith("image/"):
        return Sample(file.stem, file.read_bytes(), media_type)
    try:
        return Sample(file.stem, file.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ValueError(f"the sample {file} is neither an image nor a text in UTF-8.") from error


@dataclass(frozen=True)
class Exhibit:
    """A model to serve, with a title, a line about it, and samples.

    Parameters
    ----------
    model
        A fitted model, or the file of one.
    title, about
        For the page; by default the training data's description.
    samples
        Inputs that the page offers.
    device, dtype
        Where and in which precision it computes; by default as the model does.
    """

    model: CfMGML | str | Path
    title: str = ""
    about: str = ""
    samples: tuple[Sample, ...] = ()
    device: str | None = None
    dtype: str | None = None

    def load(self) -> CfMGML:
        model = CfMGML.load(self.model) if isinstance(self.model, str | Path) else self.model
        return model.compute_with(device=self.device, dtype=self.dtype)

    def write(self, path: Path) -> dict[str, str | None]:
        """What a worker needs to make it again: its own file, or one that is written for it, and how it computes."""
        if isinstance(self.model, str | Path):
            return {"model": str(Path(self.model).absolute()), "device": self.device, "dtype": self.dtype}
        self.model.save(path)
        return {"model": str(path), "device": self.device or self.model.device, "dtype": self.dtype}


def as_exhibits(models: Any) -> dict[str, Exhibit]:
    """Exhibits by name, from a model, a file, an exhibit, or a mapping to any of these."""
    if not isinstance(models, Mapping):
        models = {"model": models}
    if not models:
        raise ValueError("there is no model to serve.")
    for name in models:
        if not isinstance(name, str) or not name.replace("-", "").replace("_", "").isalnum() or not name.isascii():
            raise ValueError(f"a model's name must have letters, digits, - and _ only, got {name!r}.")
    return {name: item if isinstance(item, Exhibit) else Exhibit(item) for name, item in models.items()}


def check_servable(model: Any) -> BagBuilder:
    """The builder of a model that can be given raw input; others are refused with a reason."""
    if not isinstance(model, CfMGML):
        raise TypeError(f"a CfMGML can be served, got {type(model).__name__}.")
    if type(model.kernel_).__name__ == "Precomputed":
        raise ValueError("a model with a Precomputed kernel cannot score new input: train it with the kernel itself.")
    builder = known_builder(model.builder_)
    builder.check_version()
    return builder


def describe(name: str, exhibit: Exhibit, limits: Limits) -> dict[str, Any]:
    """What a client should know of a model before it sends anything."""
    model = exhibit.load()
    builder = check_servable(model)
    return {
        "name": name,
        "title": exhibit.title or str(model.info_.get("description", "")) or name,
        "about": exhibit.about,
        "kind": builder.kind,
        "route": builder.form.route,
        "input": builder.form.title,
        "part": builder.part,
        "plain": builder.form.plain,
        "labels": model.label_names_.tolist(),
        "kernel": type(model.kernel_).__name__,
        "explains": bool(model.kernel_.is_additive),
        "probabilities": model.calibration_ is not None,
        "regions": None if builder.most_parts is None else min(builder.most_parts, limits.regions),
        "samples": [
            {"id": number, "title": sample.title, "media_type": sample.media_type, "truth": list(sample.truth)}
            for number, sample in enumerate(exhibit.samples)
        ],
    }
