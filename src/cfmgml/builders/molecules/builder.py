"""The kind ``molecules``: `MoleculeBuilder`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from cfmgml.builders.base import Builder
from cfmgml.builders.molecules.answering import answer_molecule
from cfmgml.builders.molecules.atoms import USUAL, check_properties
from cfmgml.builders.molecules.building import MoleculeBuild
from cfmgml.builders.molecules.cutting import WAYS, way_names
from cfmgml.builders.molecules.drawing import molecule_svg, plot_molecule_bag
from cfmgml.builders.molecules.files import MoleculeFiles
from cfmgml.builders.molecules.given import entries_given
from cfmgml.builders.molecules.stream import MoleculeStream
from cfmgml.common.progress import progress
from cfmgml.common.typing import FloatArray
from cfmgml.data.bags import BagDataset
from cfmgml.data.builder import FileInput, FileOptions, parameter
from cfmgml.data.questions import Form, InputLimits, Question, Reply


@dataclass(frozen=True)
class MoleculeBuilder(Builder):
    """Molecules as bags of fragments, graphs of atoms; `bags_from_molecules` says what the parameters mean."""

    kind = "molecules"
    nouns = "molecules"
    part = "fragment"
    form = Form("text", "A molecule as SMILES, such as CC(=O)Oc1ccccc1C(=O)O")
    file_options: ClassVar[type[FileOptions]] = MoleculeFiles
    libraries = ("rdkit",)
    help = (
        "Molecules: each becomes a bag, and each of its fragments a graph of atoms.\n\n"
        "INPUT is a table (CSV, TSV, JSONL, Parquet) with a column of SMILES (or, in JSONL, of lists of SMILES: each a "
        "mixture, a bag of whole molecules), a .smi, SDF or MOL file, or a folder of these. --labels names columns of "
        "the table, or properties of an SDF, with commas between them, of 0, 1 or nothing (not measured); or a table "
        "of labels.\n\n\b\nExamples:\n"
        "  cfmgml build molecules table.csv --smiles smiles --labels toxic,irritant -o table.bags\n"
        "  cfmgml build molecules actives.smi --fragments rings -o actives.bags\n"
        "  cfmgml build molecules library.sdf --labels active --store library\n"
        "  cfmgml build molecules new.csv --like table.bags -o new.bags"
    )

    fragments: str = parameter("brics", "How molecules are cut.", shown="brics", choices=way_names)
    single_graph: bool = parameter(False, "One graph a molecule or mixture.")
    whole: bool = parameter(False, "The whole molecule as one more graph beside its fragments.")
    atoms: tuple[str, ...] = parameter(USUAL, "What nodes know of their atoms.", shown=",".join(USUAL))
    bonds: bool = parameter(True, "Types of bonds as edge labels.", shown="bonds")
    drop_salts: bool = parameter(False, "Keep only the largest component.")
    gasteiger: bool = parameter(False, "Partial charges as attributes of nodes.")
    conformers: int = parameter(0, "A bag of so many conformers, with coordinates of atoms.", least=0, shown="0")
    max_atoms: int = parameter(1000, "Larger molecules are not used.", least=1, shown="1000", free=True)

    def __post_init__(self) -> None:
        if self.fragments not in WAYS:
            raise ValueError(f"fragments must be one of {', '.join(WAYS)}, got {self.fragments!r}.")
        atoms: str | Sequence[str] = self.atoms
        object.__setattr__(self, "atoms", check_properties((atoms,) if isinstance(atoms, str) else atoms))
        if self.max_atoms < 1:
            raise ValueError(f"max_atoms must be at least 1, got {self.max_atoms}.")
        if self.conformers < 0:
            raise ValueError(f"conformers must be 0 for none, or how many to make, got {self.conformers}.")
        if self.conformers and self.whole:
            raise ValueError("conformers are of whole molecules: leave whole out.")

    @property
    def cuts(self) -> bool:
        """Whether a molecule becomes its fragments."""
        return not (self.single_graph or self.conformers)

    # -- building ----------------------------------------------------------------------------

    def build(  # type: ignore[override]  # its options are named
        self,
        sources: Sequence[Any],
        labels: Any = None,
        *,
        label_names: Sequence[str] | None = None,
        names: Sequence[str] | None = None,
        on_error: str = "skip",
        n_jobs: int | None = None,
        verbose: bool | None = None,
    ) -> BagDataset:
        """Bags from molecules, as `bags_from_molecules` takes them."""
        if on_error not in ("raise", "skip"):
            raise ValueError(f"on_error must be 'raise' or 'skip', got {on_error!r}.")
        entries, label_names = entries_given(sources, labels, label_names, names)
        with progress("Building graphs of molecules", len(entries), verbose) as done:
            return MoleculeBuild(self, label_names, on_error, n_jobs).load(entries, done)

    def from_files(self, given: FileInput) -> BagDataset:
        return self.stream(given).load()

    def stream(self, given: FileInput) -> MoleculeStream:
        self.check_version()
        return MoleculeStream(self, given)

    # -- showing and answering ---------------------------------------------------------------

    def show(self, bags: BagDataset, k: int = 0, contributions: FloatArray | None = None, **shown: Any) -> Any:
        return plot_molecule_bag(bags, k, contributions=contributions, **shown)

    def svg(self, bag: BagDataset, contributions: FloatArray | None, scores: FloatArray | None) -> str | None:
        return molecule_svg(bag, contributions, scores)

    def ask(self, sent: Question, limits: InputLimits) -> Reply:
        assert not isinstance(sent.content, bytes)
        return answer_molecule(sent.content, self, limits)

    def example(self) -> Question | None:
        return Question("CC(=O)Oc1ccccc1C(=O)O")
