"""In which order the gallery shows the scripts of examples/: what most people look for first."""

from pathlib import Path

ORDER = (
    "digits", "deciding_pixels", "annotate", "learning_twice",
    "photos", "painting", "sentences", "own_graphs",
    "own_molecules", "mixtures", "fragments", "deciding_atoms", "what_to_measure_next",
    "choosing_alpha", "rivals", "own_kernel", "own_input", "store",
)  # fmt: skip


class ExampleOrder:
    """A key to sort by; a script that is not listed comes last."""

    def __init__(self, src_dir: str) -> None:
        self.src_dir = src_dir

    def __call__(self, filename: str) -> tuple[int, str]:
        name = Path(filename).stem
        return (ORDER.index(name) if name in ORDER else len(ORDER)), name

    def __repr__(self) -> str:
        return "<ExampleOrder>"
