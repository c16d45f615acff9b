"""Where the atoms of a molecule lie: its conformers, as it brings them or as RDKit makes them."""

from typing import TYPE_CHECKING, Any

import numpy as np

from cfmgml.builders.molecules.parsing import MoleculeError, import_chem
from cfmgml.common.typing import FloatArray

if TYPE_CHECKING:
    from rdkit.Chem import Mol

SEED = 20_240_229  # of the conformers: the same molecule has the same ones
MOST_TRIES = 50  # for one conformer


def conformers_of(mol: "Mol", n_conformers: int) -> list[FloatArray]:
    """Coordinates of the atoms in each conformer, (n_atoms, 3), in a frame of the molecule's own.

    Those that the molecule has in three dimensions; or else up to ``n_conformers`` by ETKDG (Riniker and Landrum,
    2015).
    """
    own = [one.GetPositions() for one in mol.GetConformers() if one.Is3D()]
    return [in_own_frame(np.asarray(places)) for places in (own or _embedded(mol, n_conformers))]


def _embedded(mol: "Mol", n_conformers: int) -> list[FloatArray]:
    from rdkit import rdBase
    from rdkit.Chem import rdDistGeom

    Chem = import_chem()
    options: Any = rdDistGeom.ETKDGv3()
    options.randomSeed = SEED
    options.maxIterations = MOST_TRIES
    with rdBase.BlockLogs():
        whole = Chem.AddHs(mol)
        try:
            rdDistGeom.EmbedMultipleConfs(whole, n_conformers, options)
        except (ValueError, RuntimeError) as error:
            raise MoleculeError(f"has no conformer: {error}.") from error
    places = [one.GetPositions()[: mol.GetNumAtoms()] for one in whole.GetConformers()]  # hydrogens come last
    if not places:
        raise MoleculeError("has no conformer that RDKit finds: its atoms cannot be placed.")
    return places


def in_own_frame(places: FloatArray) -> FloatArray:
    """Moved to the centre and turned to the principal axes, each pointing where the atoms reach further.

    >>> turned = in_own_frame(np.array([[0.0, 1, 0], [0, 3, 0], [0, 8, 0]]))
    >>> (turned + 0.0).round(6)[:, 0]
    array([-3., -1.,  4.])
    """
    centred = places - places.mean(axis=0)
    axes = np.linalg.svd(centred, full_matrices=False)[2] if len(centred) > 2 else np.eye(3)[: min(3, len(centred) + 1)]
    turned = np.zeros_like(centred)
    turned[:, : len(axes)] = centred @ axes.T
    return np.asarray(turned * np.where((turned**3).sum(axis=0) < 0, -1, 1))
