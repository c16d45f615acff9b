"""One molecule from what people have of it: a SMILES, a MOL block, an RDKit object; bounded before it is decoded."""

import re
from typing import TYPE_CHECKING, Any

from cfmgml.common.extras import missing_extra

if TYPE_CHECKING:
    from rdkit.Chem import Mol

LETTERS_AN_ATOM = 20  # [13C@@H+2:123] has 14
LINE_OF_BLOCK = 256  # letters for an atom of a MOL block, its bonds and properties included
EMPTY = "is empty: there is no SMILES."
MOST_SHOWN = 60  # letters of a SMILES in a message
COUNTS = re.compile(r"M  V30 COUNTS +(\d{1,9})")
CLOCK = re.compile(r"^\[[\d:]+\] ")


class MoleculeError(ValueError):
    """Why a molecule cannot be used, as the end of a sentence that begins with its name."""


def import_chem() -> Any:
    """RDKit's Chem, or an error that names the extra to install."""
    try:
        from rdkit import Chem
    except ImportError as error:
        raise ImportError(missing_extra("molecules need rdkit", "molecules")) from error
    return Chem


def parse_molecule(source: Any, max_atoms: int) -> "Mol":
    """A sanitised molecule without explicit hydrogens; its atoms are numbered as ``Chem.MolFromSmiles`` numbers them.

    >>> parse_molecule("OC(=O)C", 100).GetNumAtoms()
    4
    >>> parse_molecule("C1CC", 100)
    Traceback (most recent call last):
    cfmgml.builders.molecules.parsing.MoleculeError: is no SMILES: unclosed ring.
    """
    Chem = import_chem()
    if isinstance(source, Chem.Mol):
        mol = Chem.Mol(source)
    elif isinstance(source, str):
        mol = _from_block(source, max_atoms) if "\n" in source else _from_smiles(source, max_atoms)
    elif source is None or source != source:  # a value that is missing, as pandas has it
        raise MoleculeError(EMPTY)
    else:
        raise MoleculeError(f"must be a SMILES, a MOL block or an RDKit molecule, got {type(source).__name__}.")
    _check_size(mol.GetNumHeavyAtoms(), max_atoms)
    _check_size(mol.GetNumAtoms() / 4, max_atoms)  # hydrogens that are written out
    mol = _sanitised(mol)
    if mol.GetNumAtoms() == 0:
        raise MoleculeError("has no atom.")
    return mol


def _check_size(n_atoms: float, max_atoms: int) -> None:
    if n_atoms > max_atoms:
        raise MoleculeError(f"has {n_atoms:,.0f} atoms, and {max_atoms:,} are the most (max_atoms).")


def _from_smiles(text: str, max_atoms: int) -> "Mol":
    """What comes after a space, a name or an extension of the notation, is left aside."""
    words = text.split(None, 1)
    if not words:
        raise MoleculeError(EMPTY)
    smiles = words[0]
    if len(smiles) > LETTERS_AN_ATOM * max_atoms:
        raise MoleculeError(f"has a SMILES of {len(smiles):,} letters, too many for max_atoms={max_atoms:,}.")
    if not (smiles.isascii() and smiles.isprintable()):
        raise MoleculeError("is no SMILES: it has a character that no SMILES has.")
    Chem = import_chem()
    options = Chem.SmilesParserParams()
    options.sanitize = options.removeHs = options.allowCXSMILES = options.parseName = False
    return _parsed(lambda: Chem.MolFromSmiles(smiles, options), "SMILES")


def _from_block(block: str, max_atoms: int) -> "Mol":
    if len(block) > LINE_OF_BLOCK * (max_atoms + 100):
        raise MoleculeError(f"has a MOL block of {len(block):,} letters, too many for max_atoms={max_atoms:,}.")
    counts = COUNTS.search(block)
    line = (block.split("\n", 4) + [""] * 4)[3]
    n_atoms = counts[1] if counts else line[:3].strip()
    if n_atoms.isdecimal():
        _check_size(int(n_atoms) / 4, max_atoms)
    Chem = import_chem()
    return _parsed(lambda: Chem.MolFromMolBlock(block, sanitize=False, removeHs=False), "MOL block")


def _parsed(parse: Any, noun: str) -> "Mol":
    from rdkit import rdBase

    with rdBase.CaptureErrorLog() as log:
        try:
            mol = parse()
        except RuntimeError as error:  # some counts that cannot be are no parse error to RDKit
            raise MoleculeError(f"is no {noun}: {_plain(str(error))}.") from error
    if mol is None:
        raise MoleculeError(f"is no {noun}: {_plain(log.messages)}.")
    return mol


def _plain(said: str) -> str:
    """RDKit's first reason, without time, the input itself, and what cannot be printed."""
    line = next((line for line in said.splitlines() if line.strip()), "it cannot be read")
    line = CLOCK.sub("", line)
    line = line.removeprefix("SMILES Parse Error: ").split(" for input:")[0].split(" while parsing")[0]
    return line.strip().rstrip(".")[: 2 * MOST_SHOWN]


def _sanitised(mol: "Mol") -> "Mol":
    """With rings, aromaticity and valences perceived; hydrogens that are written out are counted, not nodes."""
    from rdkit import rdBase

    Chem = import_chem()
    with rdBase.BlockLogs():
        try:
            Chem.SanitizeMol(mol)
            if mol.GetNumHeavyAtoms() < mol.GetNumAtoms():
                mol = Chem.RemoveHs(mol)
        except (ValueError, RuntimeError) as error:
            raise MoleculeError(f"is no molecule that can be: {_plain(str(error))}.") from error
    return mol
