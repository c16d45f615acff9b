"""Pictures of what was built and predicted; every function returns matplotlib Axes."""

from typing import TYPE_CHECKING, Any

from cfmgml.common.typing import FloatArray
from cfmgml.data.bags import BagDataset

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
    ax: "Axes | None" = None,
    **content: Any,
) -> "Axes":
    """Draw one bag: a picture with its regions, or texts with their keywords, and what was predicted for them.

    Parameters
    ----------
    bags
        Built from images or from texts.
    bag
        Which of them.
    scores
        What ``model.decision_function_graphs(bags)`` gives: predicted labels are shown, beside the true ones.
    contributions
        What ``model.explain(bags)`` gives: superpixels or words are coloured by what they say for ``label``.
    label
        A label's number or name; by default the bag's best by scores, or else the first of its own.
    ax
        Where to draw; by default a new figure.
    **content
        What the bags themselves do not keep: ``image`` and ``segments``, or ``folder``
        (`builders.pictures.drawing.plot_image_bag`); or ``texts`` (`builders.texts.drawing.plot_text_bag`).

    Examples
    --------
    >>> from skimage import data
    >>> from cfmgml.builders.pictures.images import bags_from_images
    >>> photo = data.coffee()
    >>> plot_bag(bags_from_images([photo]), image=photo).get_title()
    'image0'
    """
    common: dict[str, Any] = {"scores": scores, "contributions": contributions, "label": label, "ax": ax}
    builder = bags.info.get("builder")
    if builder == "images":
        from cfmgml.builders.pictures.drawing import plot_image_bag

        return plot_image_bag(bags, bag, **common, **content)
    if builder == "texts":
        from cfmgml.builders.texts.drawing import plot_text_bag

        return plot_text_bag(bags, bag, **common, **content)
    raise ValueError(f"plot_bag draws bags built from images or texts; info['builder'] of these is {builder!r}.")
