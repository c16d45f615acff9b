"""Molecules cut into fragments. A way to cut is a function from a molecule to its fragments: the atoms of each, in
order, fragments in the order of their first atoms.
"""

from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING

from cfmgml.builders.molecules.parsing import import_chem

if TYPE_CHECKING:
    from rdkit.Chem import Bond, Mol

Ends = tuple[int, int]  # of a bond
Fragments = list[list[int]]


def ends_of(bonds: Iterable["Bond"]) -> list[Ends]:
    return [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in bonds]


def components(mol: "Mol") -> Fragments:
    """What the dots of a SMILES are between."""
    return [list(atoms) for atoms in import_chem().GetMolFrags(mol)]


def brics(mol: "Mol") -> Fragments:
    """Cut where retrosynthesis would break bonds (Degen et al., ChemMedChem 2008)."""
    Chem, n_atoms = import_chem(), mol.GetNumAtoms()
    pieces = Chem.GetMolFrags(Chem.FragmentOnBRICSBonds(mol))  # with atoms of no element where a bond was cut
    return sorted(sorted(atom for atom in piece if atom < n_atoms) for piece in pieces)


def rings(mol: "Mol") -> Fragments:
    """Ring systems and chains: cut at single bonds between a ring system and what is outside it."""
    return fragments_of(mol, {bond.GetIdx() for bond in mol.GetBonds() if _leaves_ring(bond)})


def _leaves_ring(bond: "Bond") -> bool:
    is_loose = not bond.IsInRing() and bond.GetBondTypeAsDouble() == 1
    return is_loose and (bond.GetBeginAtom().IsInRing() or bond.GetEndAtom().IsInRing())


def murcko(mol: "Mol") -> Fragments:
    """The scaffold (rings and what links them; Bemis and Murcko, 1996) and side chains.

    An atom that a double bond holds to the scaffold belongs to it, as RDKit has it.
    """
    degree = [atom.GetDegree() for atom in mol.GetAtoms()]
    bare = [atom.GetIdx() for atom in mol.GetAtoms() if degree[atom.GetIdx()] <= 1]
    outside = set(bare)
    while bare:
        for other in mol.GetAtomWithIdx(bare.pop()).GetNeighbors():
            number = other.GetIdx()
            degree[number] -= 1
            if degree[number] == 1 and number not in outside:
                outside.add(number)
                bare.append(number)
    ends = ends_of(mol.GetBonds())
    for bond, (first, second) in zip(mol.GetBonds(), ends, strict=True):
        if bond.GetBondTypeAsDouble() == 2 and (first in outside) != (second in outside):
            outside -= {first, second}
    return fragments_of(mol, {k for k, (first, second) in enumerate(ends) if (first in outside) != (second in outside)})


WAYS: dict[str, Callable[["Mol"], Fragments]] = {
    "brics": brics,
    "rings": rings,
    "murcko": murcko,
    "components": components,
}


def way_names() -> list[str]:
    return list(WAYS)


def fragments_of(mol: "Mol", cut: Collection[int]) -> Fragments:
    """The pieces once the bonds of these numbers are cut.

    >>> fragments_of(import_chem().MolFromSmiles("CCCC"), {1})
    [[0, 1], [2, 3]]
    """
    Chem = import_chem()
    if not cut:
        return components(mol)
    pieces = Chem.GetMolFrags(Chem.FragmentOnBonds(mol, sorted(cut), addDummies=False))
    return sorted(list(piece) for piece in pieces)
