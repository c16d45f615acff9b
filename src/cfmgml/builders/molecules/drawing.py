"""A bag of fragments drawn as its molecule: atoms coloured by what they add, fragments outlined."""

import io
from typing import TYPE_CHECKING, Any

import numpy as np

from cfmgml.builders.molecules.cutting import ends_of
from cfmgml.builders.molecules.sketches import Sketch, sketch_of
from cfmgml.common.segments import segment_ids
from cfmgml.common.typing import FloatArray
from cfmgml.data.bags import BagDataset
from cfmgml.plots.shown import Shown, import_pyplot, select_bag, strongest
from cfmgml.plots.text_flow import drawable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (720, 460)  # of a drawing, in pixels
RADIUS = 0.38  # of the spot behind an atom, in Angstrom on paper
REACH = 0.62  # of an outline around an atom, in lengths of a bond's half
ON_PAPER = np.array([[0.84, 0.19, 0.15], [0.13, 0.40, 0.67]])  # for a label and against it, as in all plots
ON_PAGE = np.array([[0.83, 0.38, 0.05], [0.16, 0.41, 0.70]])  # as the page's legend says (static/page.css)
OUTLINE = (0.45, 0.45, 0.45)
CORNERS = 20  # of a circle around an atom


def plot_molecule_bag(
    bags: BagDataset,
    bag: int = 0,
    *,
    smiles: Any = None,
    scores: FloatArray | None = None,
    contributions: FloatArray | None = None,
    label: int | str | None = None,
    thresholds: FloatArray | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw a bag of `bags_from_molecules`: atoms in red speak for the label, in blue against it.

    Each graph has an outline, red around the one that scores best for the label.

    Parameters
    ----------
    bags, bag, scores, contributions, label, thresholds, ax
        As in `cfmgml.plots.plot_bag`.
    smiles
        What the bag was made of: a SMILES, an RDKit molecule, or a list of them for a mixture. By default the bag's
        name, if that is its SMILES; or else the graphs are drawn, without the bonds that were cut.

    Examples
    --------
    >>> from cfmgml.builders.molecules.molecules import bags_from_molecules
    >>> plot_molecule_bag(bags_from_molecules(["CC(=O)Oc1ccccc1C(=O)O"])).get_title(loc="left")
    'CC(=O)Oc1ccccc1C(=O)O'
    """
    plt = import_pyplot()
    shown = select_bag(bags, bag, scores, contributions, label, thresholds)
    picture = plt.imread(io.BytesIO(_drawn(shown, smiles, "MolDraw2DCairo", ON_PAPER, 2)), format="png")
    if ax is None:
        ax = plt.figure(figsize=(7.2, 5.0)).add_axes((0.02, 0.02, 0.96, 0.88))
    ax.imshow(picture, interpolation="antialiased")
    ax.set_axis_off()
    ax.set_title(drawable(title_of(shown)), loc="left", fontsize=10, parse_math=False)
    return ax


def molecule_svg(bag: BagDataset, contributions: FloatArray | None, scores: FloatArray | None) -> str:
    """One bag as RDKit draws it, for a page."""
    return str(_drawn(select_bag(bag, 0, scores, contributions, None), None, "MolDraw2DSVG", ON_PAGE))


def title_of(shown: Shown) -> str:
    parts = ["molecule" if shown.bag.bag_names is None else str(shown.bag.bag_names[0])]
    if shown.label_name:
        parts.append(f"atoms for {shown.label_name}")
    return "; ".join(parts)


def _drawn(shown: Shown, smiles: Any, drawer: str, colours: FloatArray, scale: int = 1) -> Any:
    """A drawing by one of RDKit's drawers, as a text or as bytes."""
    from rdkit import rdBase
    from rdkit.Chem.Draw import rdMolDraw2D

    sketch = sketch_of(shown.bag, smiles)
    paper = getattr(rdMolDraw2D, drawer)(scale * SIZE[0], scale * SIZE[1])
    options = paper.drawOptions()
    options.useBWAtomPalette()
    options.padding = 0.14
    options.prepareMolsBeforeDrawing = False
    spots = _spots(shown, sketch, colours)
    with rdBase.BlockLogs():
        mol = rdMolDraw2D.PrepareMolForDrawing(sketch.mol, kekulize=sketch.is_exact, addChiralHs=False)
        paper.DrawMolecule(
            mol,
            highlightAtoms=list(spots),
            highlightAtomColors=spots,
            highlightAtomRadii=dict.fromkeys(spots, RADIUS),
            highlightBonds=[],
        )
        _outline_graphs(paper, shown, sketch, tuple(colours[0].tolist()))
    paper.FinishDrawing()
    return paper.GetDrawingText()


def _spots(shown: Shown, sketch: Sketch, colours: FloatArray) -> dict[int, tuple[float, ...]]:
    """A colour for each atom that adds something; pale where it adds little."""
    largest = strongest(shown)
    if shown.contributions is None or largest == 0:
        return {}
    drawn = sketch.atoms >= 0
    strength = np.abs(shown.contributions) / largest
    full = np.where(shown.contributions[:, None] > 0, colours[0], colours[1])
    mixed = 1 - strength[:, None] * (1 - full) * 0.85
    return {int(a): tuple(c) for a, c in zip(sketch.atoms[drawn], mixed[drawn].tolist(), strict=True)}


def _outline_graphs(paper: Any, shown: Shown, sketch: Sketch, of_best: tuple[float, ...]) -> None:
    """A hull around the atoms of each graph; the best one comes last, in its own colour."""
    from rdkit.Geometry import Point2D

    graph_of_node = segment_ids(shown.bag.graphs.node_ptr)
    best = -1
    if shown.scores is not None and shown.label is not None:
        best = int(shown.scores[:, shown.label].argmax())
    reach = REACH * _half_bond(paper, sketch)
    paper.SetFillPolys(False)
    for graph in sorted(range(shown.bag.n_graphs), key=lambda number: number == best):
        atoms = sketch.atoms[(graph_of_node == graph) & (sketch.atoms >= 0)]
        if len(atoms):
            paper.SetColour(of_best if graph == best else OUTLINE)
            paper.SetLineWidth(4 if graph == best else 2)
            places = [paper.GetDrawCoords(int(atom)) for atom in atoms]
            hull = _hull(np.array([[place.x, place.y] for place in places]), reach)
            paper.DrawPolygon([Point2D(*point) for point in [*hull, hull[0]]], True)


def _half_bond(paper: Any, sketch: Sketch) -> float:
    """Half the length of a bond on paper; of a molecule without bonds, what looks well."""
    ends = ends_of(sketch.mol.GetBonds())[:50]
    gaps = [paper.GetDrawCoords(first) - paper.GetDrawCoords(second) for first, second in ends]
    return float(np.median([gap.Length() for gap in gaps])) / 2 if gaps else 30.0


def _hull(points: FloatArray, reach: float) -> FloatArray:
    """The corners of a convex outline at this distance around points, in order."""
    from scipy.spatial import ConvexHull

    angles = np.linspace(0, 2 * np.pi, CORNERS, endpoint=False)
    circle = reach * np.column_stack([np.cos(angles), np.sin(angles)])
    corners = (points[:, None] + circle).reshape(-1, 2)
    return np.asarray(corners[ConvexHull(corners).vertices])
