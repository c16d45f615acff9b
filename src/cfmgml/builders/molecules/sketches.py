"""The molecule that a bag was made of, to be drawn, and where on it its nodes lie: `sketch_of`.

A bag has no SMILES of its own. If its name is one, or one is given, and its atoms are those of the nodes, that molecule
is drawn; if not, the graphs themselves are, without what was cut and without hydrogens.
"""

import re
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cfmgml.builders.molecules.parsing import MoleculeError, import_chem, parse_molecule
from cfmgml.common.typing import IntArray
from cfmgml.data.bags import BagDataset
from cfmgml.data.graphs import GraphBatch

if TYPE_CHECKING:
    from rdkit.Chem import Mol

MOST_DRAWN = 6  # copies of a molecule, or molecules of a mixture, beside one another
TYPE_BITS = 31  # of a bond's code
ATOM_NAME = re.compile(r"([A-Za-z*]+)(\d{1,9})")


class Sketch(NamedTuple):
    """A molecule with places of atoms on paper, and the atom of each node; -1 if it is not drawn."""

    mol: "Mol"
    atoms: IntArray  # (n_nodes,)
    is_exact: bool  # what was cut and hydrogens are there


class Panel(NamedTuple):
    """Graphs that lie on one molecule, and the element and number of each of their atoms."""

    graphs: list[int]
    elements: dict[int, str]


def sketch_of(bag: BagDataset, molecules: Any = None) -> Sketch:
    """What to draw of one bag; ``molecules`` is what it was made of, if somebody knows."""
    from rdkit.Chem import rdDepictor

    graphs, pieces = bag.graphs, list["Mol"]()
    atoms = np.full(graphs.n_nodes, -1)
    n_before, is_exact = 0, True
    for number, panel in enumerate(_panels(graphs)[:MOST_DRAWN]):
        known = _known(bag, molecules, number, panel)
        is_exact &= known is not None
        pieces.append(_rebuilt(graphs, panel) if known is None else known)
        place = {atom: k for k, atom in enumerate(panel.elements)} if known is None else None
        for graph in panel.graphs:
            for node in range(*graphs.node_ptr[graph : graph + 2]):
                _, atom = _atom(graphs, node)
                atoms[node] = n_before + (atom if place is None else place[atom])
        n_before += pieces[-1].GetNumAtoms()
    mol = reduce(import_chem().CombineMols, pieces)
    mol.UpdatePropertyCache(strict=False)
    import_chem().FastFindRings(mol)
    rdDepictor.Compute2DCoords(mol)
    return Sketch(mol, atoms, is_exact)


def _atom(graphs: GraphBatch, node: int) -> tuple[str, int]:
    assert graphs.node_names is not None
    name = str(graphs.node_names[node])
    named = ATOM_NAME.fullmatch(name)
    if named is None:
        raise ValueError(f"nodes of molecules are called by element and number, such as N7, got {name!r}.")
    return named[1], int(named[2])


def _panels(graphs: GraphBatch) -> list[Panel]:
    """Graphs in a row that have no atom in common are of one molecule."""
    panels = [Panel([], {})]
    for graph in range(graphs.n_graphs):
        own = dict((_atom(graphs, node)[::-1]) for node in range(*graphs.node_ptr[graph : graph + 2]))
        if own.keys() & panels[-1].elements.keys():
            panels.append(Panel([], {}))
        panels[-1].graphs.append(graph)
        panels[-1].elements.update(own)
    return panels


def _known(bag: BagDataset, molecules: Any, number: int, panel: Panel) -> "Mol | None":
    """A molecule whose atoms are those of a panel, all of them unless salts were dropped."""
    name = "" if bag.bag_names is None else str(bag.bag_names[0])
    told: list[Any] = [name, *name.split(".")[number : number + 1]]
    if molecules is not None:
        told = [molecules] if not isinstance(molecules, list | tuple) else list(molecules[number : number + 1])
    for source in told:
        try:
            mol = parse_molecule(source, max_atoms=100_000)
        except MoleculeError:
            continue
        symbols = dict(enumerate(atom.GetSymbol() for atom in mol.GetAtoms()))
        is_whole = getattr(bag.builder, "drop_salts", False) or len(symbols) == len(panel.elements)
        if is_whole and panel.elements.items() <= symbols.items():
            return mol
    if molecules is not None:
        raise ValueError(f"the bag {name!r} was not made of the molecule given: its atoms are others.")
    return None


def _rebuilt(graphs: GraphBatch, panel: Panel) -> "Mol":
    """The atoms and bonds of the graphs, as they are."""
    Chem = import_chem()
    mol, place = Chem.RWMol(), dict[int, int]()
    for atom, element in panel.elements.items():
        place[atom] = mol.AddAtom(Chem.Atom(element))
        mol.GetAtomWithIdx(place[atom]).SetNoImplicit(True)
    types = Chem.BondType.values
    for graph in panel.graphs:
        for edge in range(*graphs.edge_ptr[graph : graph + 2]):
            first, second = (place[_atom(graphs, int(node))[1]] for node in graphs.edges[:, edge])
            code = 1 if graphs.edge_labels is None else int(graphs.edge_labels[edge]) & TYPE_BITS
            if mol.GetBondBetweenAtoms(first, second) is None:
                mol.AddBond(first, second, types.get(code, types[1]))
    return mol.GetMol()
