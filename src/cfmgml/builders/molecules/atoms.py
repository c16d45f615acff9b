"""What nodes and edges know of their atoms and bonds: `atom_codes`, `bond_codes`.

A code packs what is chosen into one integer, each property in bits of its own: it is the same in every process and
data set. Properties are those that the atom has in its whole molecule, so an atom where a bond was cut still has the
degree that it had.
"""

from collections.abc import Callable, Sequence
from operator import methodcaller
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from rdkit.Chem import Atom, Bond

STEREO = "stereo"
SIDES = {"R": 1, "S": 2, "r": 1, "s": 2}
STEREO_SHIFT = 5  # of a bond's code, whose type has the bits before
BENT = {"STEREOE": 1, "STEREOTRANS": 1, "STEREOZ": 2, "STEREOCIS": 2}


class Property(NamedTuple):
    """Bits of a code: from where, how many, what fills them, and what is added to it, so that it is not negative."""

    start: int
    width: int
    of: Callable[[Any], int]
    add: int = 0


def _side(atom: Any) -> int:
    return SIDES.get(atom.GetProp("_CIPCode"), 0) if atom.HasProp("_CIPCode") else 0


PROPERTIES = {  # methods by name: half the time of functions
    "element": Property(0, 8, methodcaller("GetAtomicNum")),
    "degree": Property(8, 4, methodcaller("GetDegree")),
    "hydrogens": Property(12, 4, methodcaller("GetTotalNumHs")),
    "charge": Property(16, 5, methodcaller("GetFormalCharge"), 16),
    "aromatic": Property(21, 1, methodcaller("GetIsAromatic")),
    "ring": Property(22, 1, methodcaller("IsInRing")),
    "isotope": Property(23, 10, methodcaller("GetIsotope")),
    STEREO: Property(33, 2, _side),
}
USUAL = ("element", "degree", "hydrogens", "charge", "aromatic", "ring")


def check_properties(names: Sequence[str]) -> tuple[str, ...]:
    """These names, each a property of atoms, and at least one."""
    unknown = [name for name in names if name not in PROPERTIES]
    if unknown or not names:
        got = repr(unknown[0]) if unknown else "none"
        raise ValueError(f"atoms must name one or more of {', '.join(PROPERTIES)}, got {got}.")
    return tuple(name for name in PROPERTIES if name in names)


def atom_codes(atoms: Sequence["Atom"], names: Sequence[str]) -> list[int]:
    """A code for each atom, of these properties.

    >>> from rdkit import Chem
    >>> atom_codes(list(Chem.MolFromSmiles("CO").GetAtoms()), ["element"])
    [6, 8]
    """
    codes = [0] * len(atoms)
    for start, width, of, add in (PROPERTIES[name] for name in names):
        most = (1 << width) - 1
        codes = [code | (min(max(of(atom) + add, 0), most) << start) for code, atom in zip(codes, atoms, strict=True)]
    return codes


def bond_codes(bonds: Sequence["Bond"], with_stereo: bool) -> list[int]:
    """A code for each bond: RDKit's number of its type (1, 2, 3; aromatic 12), and on which sides its ends lie."""
    codes = [int(bond.GetBondType()) for bond in bonds]
    if with_stereo:
        sides = [BENT.get(str(bond.GetStereo()), 0) for bond in bonds]
        codes = [code + (side << STEREO_SHIFT) for code, side in zip(codes, sides, strict=True)]
    return codes


def atom_names(atoms: Sequence["Atom"]) -> list[str]:
    """An element and the number of the atom in its molecule.

    >>> from rdkit import Chem
    >>> atom_names(list(Chem.MolFromSmiles("C[O-]").GetAtoms()))
    ['C0', 'O1']
    """
    return [f"{atom.GetSymbol()}{number}" for number, atom in enumerate(atoms)]
