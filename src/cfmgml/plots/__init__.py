"""Pictures of what was built and predicted; every function returns matplotlib Axes."""

from typing import TYPE_CHECKING, Any

from cfmgml.common.typing import FloatArray
from cfmgml.data.bags import BagDataset
from cfmgml.data.builder import known_builder

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_bag"]


def plot_bag(
    bags: BagDataset,
    bag: int = 0,
    *,
    scores: FloatArray | None = None,
    contributions: FloatArray | None = None,
    label: int | str | None = None,
    thresholds: FloatArray | None = None,
    ax: "Axes | None" = None,
    **content: Any,
) -> "Axes":
    """Draw one bag as its builder shows it (a picture with its regions, texts with their keywords, graphs with labels
    of nodes and edges), and what was predicted for it.

    Parameters
    ----------
    bags
        Built from anything.
    bag
        Which of them.
    scores
        What ``model.decision_function_graphs(bags)`` gives: predicted labels are shown, beside the true ones.
    contributions
        What ``model.explain(bags)`` gives: superpixels or words are coloured by what they say for ``label``.
    label
        A label's number or name; by default the bag's best by scores, or else the first of its own.
    thresholds
        The scores above which labels are predicted, ``model.thresholds_``; by default 0.
    ax
        Where to draw; by default a new figure.
    **content
        For graphs of your own, ``positions`` (n_nodes, 2); without them nodes lie where a spring layout puts them. Or
        what the bags themselves do not keep: ``image`` and ``segments``, or ``folder``, and ``painted``, what
        ``model.paint(bags)`` gives (`builders.pictures.drawing.plot_image_bag`); or ``texts``
        (`builders.texts.drawing.plot_text_bag`).

    Examples
    --------
    >>> from skimage import data
    >>> from cfmgml.builders.pictures.images import bags_from_images
    >>> photo = data.coffee()
    >>> plot_bag(bags_from_images([photo]), image=photo).get_title()
    'image0'
    """
    builder = known_builder(bags.builder)
    if thresholds is not None:
        content["thresholds"] = thresholds
    return builder.show(bags, bag, contributions, scores=scores, label=label, ax=ax, **content)
