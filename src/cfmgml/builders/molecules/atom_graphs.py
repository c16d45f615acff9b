"""Molecules as graphs of atoms: `parts_of` makes the graphs of one bag, `batch_of` a batch of many."""

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cfmgml.builders.molecules.atoms import STEREO, atom_codes, atom_names, bond_codes
from cfmgml.builders.molecules.conformers import conformers_of
from cfmgml.builders.molecules.cutting import WAYS, Ends, components, ends_of
from cfmgml.builders.molecules.parsing import MoleculeError, import_chem, parse_molecule
from cfmgml.common.segments import offsets
from cfmgml.common.typing import FloatArray
from cfmgml.data.graphs import GraphBatch

if TYPE_CHECKING:
    from rdkit.Chem import Mol

    from cfmgml.builders.molecules.builder import MoleculeBuilder


class AtomGraph(NamedTuple):
    """Atoms and bonds of one graph, numbered from 0."""

    codes: list[int]
    names: list[str]
    bonds: list[Ends]
    bond_codes: list[int]
    attributes: FloatArray | None  # (n_atoms, n_attributes)


def parts_of(source: Any, builder: "MoleculeBuilder") -> list[AtomGraph]:
    """The graphs of one bag: a molecule's fragments or conformers; or, of a list of molecules, each of them whole."""
    if not isinstance(source, list | tuple):
        return _parts(parse_molecule(source, builder.max_atoms), builder, builder.cuts)
    molecules = _molecules(source, builder)
    if builder.single_graph:
        molecules = [_mixed(molecules)]
    return [part for mol in molecules for part in _parts(mol, builder, cuts=False)]


def _molecules(sources: Sequence[Any], builder: "MoleculeBuilder") -> list["Mol"]:
    if not sources:
        raise MoleculeError("is a mixture of no molecules.")
    molecules = []
    for number, source in enumerate(sources, start=1):
        try:
            molecules.append(parse_molecule(source, builder.max_atoms))
        except MoleculeError as error:
            raise MoleculeError(f"has a molecule, number {number}, that {error}") from error
    return molecules


def _mixed(molecules: Sequence["Mol"]) -> "Mol":
    """As a SMILES with dots between them gives it: atoms are numbered through."""
    Chem = import_chem()
    mixture = reduce(Chem.CombineMols, molecules)
    Chem.SanitizeMol(mixture)
    return mixture


def _parts(mol: "Mol", builder: "MoleculeBuilder", cuts: bool) -> list[AtomGraph]:
    """Its fragments and, if asked for, the whole; or the whole once for each conformer."""
    kept = list(range(mol.GetNumAtoms()))
    if builder.drop_salts:  # of two components of one size, the first stays
        kept = max(components(mol), key=len)
    pieces = [kept]
    if cuts:
        inside = set(kept)
        pieces = [piece for piece in WAYS[builder.fragments](mol) if piece[0] in inside]
        pieces += [kept] if builder.whole and len(pieces) > 1 else []
    return [_part(graph, piece) for graph in _whole_graphs(mol, builder) for piece in pieces]


def _whole_graphs(mol: "Mol", builder: "MoleculeBuilder") -> list[AtomGraph]:
    """All atoms, salts too; one graph, or one a conformer."""
    with_stereo = STEREO in builder.atoms
    if with_stereo:
        import_chem().AssignStereochemistry(mol, cleanIt=True)
    atoms, bonds = list(mol.GetAtoms()), list(mol.GetBonds())  # once: RDKit's sequences are slow to go through
    codes, names = atom_codes(atoms, builder.atoms), atom_names(atoms)
    whole = AtomGraph(codes, names, ends_of(bonds), bond_codes(bonds, with_stereo), None)
    charges = [_gasteiger(mol)] if builder.gasteiger else []
    if builder.conformers:
        places = conformers_of(mol, builder.conformers)
        return [whole._replace(attributes=np.hstack([*charges, one])) for one in places]
    return [whole._replace(attributes=charges[0]) if charges else whole]


def _gasteiger(mol: "Mol") -> FloatArray:
    """Partial charges, (n_atoms, 1); 0 where there is no parameter for an element."""
    from rdkit import rdBase
    from rdkit.Chem import rdPartialCharges

    with rdBase.BlockLogs():
        rdPartialCharges.ComputeGasteigerCharges(mol)
    charges = np.array([[atom.GetDoubleProp("_GasteigerCharge")] for atom in mol.GetAtoms()])
    return np.where(np.isfinite(charges), charges, 0.0)


def _part(whole: AtomGraph, atoms: list[int]) -> AtomGraph:
    """These atoms of a molecule, and the bonds among them."""
    if len(atoms) == len(whole.codes):
        return whole
    place = {atom: number for number, atom in enumerate(atoms)}
    inside = [number for number, (first, second) in enumerate(whole.bonds) if first in place and second in place]
    return AtomGraph(
        [whole.codes[atom] for atom in atoms],
        [whole.names[atom] for atom in atoms],
        [(place[whole.bonds[number][0]], place[whole.bonds[number][1]]) for number in inside],
        [whole.bond_codes[number] for number in inside],
        None if whole.attributes is None else whole.attributes[atoms],
    )


def batch_of(parts: Sequence[AtomGraph], with_bonds: bool) -> GraphBatch:
    """Graphs as one batch; ``with_bonds``: types of bonds as edge labels."""
    node_ptr = offsets(np.array([len(part.codes) for part in parts]))
    edge_ptr = offsets(np.array([len(part.bonds) for part in parts]))
    ends = np.array([end for part in parts for ends in part.bonds for end in ends], dtype=np.int64).reshape(-1, 2).T
    types = np.array([code for part in parts for code in part.bond_codes], dtype=np.int64)
    given: dict[str, Any] = {"edge_labels": types} if with_bonds else {}
    if parts[0].attributes is not None:
        given["node_attributes"] = np.concatenate([part.attributes for part in parts if part.attributes is not None])
    return GraphBatch(
        node_ptr,
        edge_ptr,
        ends + np.repeat(node_ptr[:-1], np.diff(edge_ptr)),
        np.array([code for part in parts for code in part.codes], dtype=np.int64),
        node_names=np.array([name for part in parts for name in part.names]),
        **given,
    )
