"""Bags of graphs from molecules: `bags_from_molecules`.

A molecule is a bag of its fragments, and a mixture a bag of its molecules; what is known is known of the bag. Nodes are
atoms, named by element and number (``N7`` is atom 7 of the molecule, as RDKit counts them in its SMILES or block), so
what a node adds to a score can be shown on the molecule.

>>> bags = bags_from_molecules(["CC(=O)Oc1ccccc1C(=O)O", "CCO"], [[1], [0]], label_names=["acid"])
>>> bags
BagDataset(2 bags, 5 graphs, 1 labels; 0.50 labels a bag)
>>> bags.graphs[1].node_names.tolist()
['O3']
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cfmgml.builders.molecules.atoms import USUAL
from cfmgml.builders.molecules.builder import MoleculeBuilder
from cfmgml.builders.molecules.files import MoleculeFiles
from cfmgml.common.typing import ArrayLike
from cfmgml.data.bags import BagDataset
from cfmgml.data.builder import FileInput

if TYPE_CHECKING:
    from rdkit.Chem import Mol


def bags_from_molecules(
    smiles: "str | Path | Sequence[str | Mol | Sequence[str | Mol]]",
    labels: ArrayLike | Sequence[Sequence[str] | None] | str | Path | None = None,
    *,
    fragments: str = "brics",
    label_names: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    single_graph: bool = False,
    whole: bool = False,
    atoms: Sequence[str] = USUAL,
    bonds: bool = True,
    drop_salts: bool = False,
    gasteiger: bool = False,
    conformers: int = 0,
    max_atoms: int = 1000,
    on_error: str = "skip",
    n_jobs: int | None = None,
    verbose: bool | None = None,
) -> BagDataset:
    """Make each molecule a bag of its fragments, and each mixture a bag of its molecules. Needs RDKit.

    Parameters
    ----------
    smiles
        Molecules, each a SMILES, a MOL block or an RDKit object; a list of these in place of one is a mixture. Or the
        name of a file: a table with a column of SMILES, ``.smi``, SDF, MOL.
    labels
        A matrix of 0 and 1 with a row a molecule, NaN or None where it was not measured; or a list of names for each,
        None where nothing is known. Of a file: names of its columns, or a table of labels.
    fragments
        How a molecule is cut: ``"brics"`` (bonds that retrosynthesis breaks), ``"rings"`` (ring systems and chains),
        ``"murcko"`` (scaffold and side chains) or ``"components"`` (what the dots of a SMILES are between).
    label_names, names
        Of labels and of molecules; by default molecules are called as they are written.
    single_graph
        One graph a molecule or mixture, nothing cut.
    whole
        The whole molecule as one more graph beside its fragments, the last of its bag.
    atoms
        What a node's label says of its atom: ``element``, ``degree``, ``hydrogens``, ``charge``, ``aromatic``,
        ``ring``, ``isotope``, ``stereo`` (R or S; edge labels then tell E from Z). Isotopes and stereo are left aside
        unless they are named.
    bonds
        Types of bonds as edge labels, for kernels that look at them.
    drop_salts
        Keep only the component with most atoms; otherwise counterions are fragments of their own.
    gasteiger
        Partial charges as attributes of nodes.
    conformers
        Make the bag one of so many conformers, with coordinates of atoms as attributes, in a frame of each conformer's
        own; a molecule that comes with conformers in three dimensions keeps those.
    max_atoms
        Molecules with more atoms are not used.
    on_error
        ``"skip"`` leaves out what cannot be used, lists it with the reason in ``info["skipped"]`` and warns;
        ``"raise"`` stops.
    n_jobs
        Worker processes; None for none, -1 for one a core. The result does not depend on it.
    verbose
        Whether to show a progress bar on stderr; None: if that is a terminal.

    Returns
    -------
    Bags whose ``info`` has ``skipped`` (reasons by name), ``n_duplicates`` and ``duplicates`` (rows whose graphs are
    those of an earlier row; they are kept).

    Examples
    --------
    >>> bags = bags_from_molecules([["CCO", "c1ccccc1"], ["CC(=O)O"]], [["solvent"], ["acid"]])
    >>> bags.graph_names.tolist(), bags.label_sets()
    (['CCO.c1ccccc1:0', 'CCO.c1ccccc1:1', 'CC(=O)O:0'], [['solvent'], ['acid']])
    """
    builder = MoleculeBuilder(
        fragments, single_graph, whole, tuple(atoms), bonds, drop_salts, gasteiger, conformers, max_atoms
    )
    if isinstance(smiles, Path) or (isinstance(smiles, str) and Path(smiles).is_file()):
        reading = MoleculeFiles(on_error="stop" if on_error == "raise" else "skip", n_jobs=n_jobs or 1)
        return builder.from_files(FileInput([smiles], _columns(labels), label_names, reading))
    return builder.build(
        smiles, labels, label_names=label_names, names=names, on_error=on_error, n_jobs=n_jobs, verbose=verbose
    )


def _columns(labels: object) -> str | Path | None:
    """Labels of a file, as a command names them."""
    if labels is None or isinstance(labels, str | Path):
        return labels
    if isinstance(labels, Sequence) and all(isinstance(name, str) for name in labels):
        return ",".join(labels)
    raise TypeError("labels of a file must be names of its columns, or a table; got something else.")
