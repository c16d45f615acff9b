"""Colours of labels, the same in masks, plots and on the page.

The first seven are Okabe and Ito's; each further one was chosen furthest, in CIELAB, from those before it and from
black, as eyes with and without red, green and blue cones see them (Machado et al., 2009). So the first twenty can be
told apart by anybody, and the first of a long list better than its last.
"""

import numpy as np
from numpy.typing import NDArray

_HEX = (
    "e69f0056b4e9009e73f0e4420072b2d55e00cc79a78700ffd2ffe1692d0f2d1e964b2d5a00ff87b45affe1004be1d2f087d296b4a54b"
    "870f3ca50f87874b69a5c3b45a00c3b487ff964b0f4b4bb4c3e15a1e783c96ffb4f0ff1e96a5691e3c2d5a0f785a961eff78e100d21e"
    "693cd2f06987a578b4a52d2d2d5a87b45ad2874bffb4b4c3e1f0f069d2695a7887e13c69c34b87a53ca596d2ffb4874b0000d25ab496"
    "964bd2d2ff693c4b4bf0a58796d25a87695a781e96ffc3d20f3ce1a5ff78690fb4a5e1b4c396c38700690000ff005a1ed2b4e178f096"
    "9696d2c300695a87e187782da5a5ff87e1d296694b693c00e1782d6900696996a5f096a52d3c1e960fb4693c78fff096f0c378f0b43c"
    "004bffb4785affb4ffd2e14bff7887a55a00ff2dc39678c3e1ff5a8778f0f02d96e1ffd23c1e87962d5ad2f01ed2b44ba5b4ff87a52d"
    "96b4695a5a3c1e5ae196f0ff6978963c6978b4e1a53c00a5e1d20f695a2da51e1e78003c0f3c4bd21eb46978ff4b2d87a5d2b4872d69"
    "698778c3ffa5e1c3876969e1b4e169691e1e00a5ff962de1d22d96c3f0c3e1e187f05a4bc31e3cff69b43c4b873c3c3cf06900695aa5"
    "c3b41ed2005a692da51effe14b694b969669c300c3690f4b872d4be15a5a87b4e1691e78875affe14b2de14b78964b78c3b4d2c31e78"
    "e1e1d2d2965a6978b4f0874b87d2f078005aa578d29678a5a50096c3a5780f3c69b44b1ef0f0ff782d5a7800e1783c96d296d2b4b496"
    "00a5e1a55aa5a57896c3693cd26987960f00964bc3ff96c34b5a5a4b1ea55a00f0b42d0ff0ff87f0b4964b3cc387873c3cc3a52d0fb4"
    "2d69c387a58769b4b469a5b4a53c96783ca596c35aa5d2e1e178d28700c3d2c3c3f087a578002d87e178d29696a569698796c3693c2d"
    "692dd2a5e1e1d2875af096f0ff0f2d875ab4d2d24b5a00d2e15ae16978d287ff5ad2c34be1d2c3a5f0b4692df02de1a5873c1eb4f069"
    "b41ef04b96f0f0e1e1960f78c38778b478f03c781ea54be1694bd2f01ed2780f0078c3f0875a5ae1f0d278693cd2ffc38700a55a1e96"
    "ff2df0c3c3d24b8769"
)
PALETTE: NDArray[np.uint8] = np.frombuffer(bytes.fromhex(_HEX), dtype=np.uint8).reshape(-1, 3)


def label_colours(n_labels: int) -> NDArray[np.uint8]:
    """A colour for each label, (n_labels, 3), red, green and blue of 0 to 255; beyond 255 labels they come again.

    >>> label_colours(2)
    array([[230, 159,   0],
           [ 86, 180, 233]], dtype=uint8)
    """
    return PALETTE[np.arange(n_labels) % len(PALETTE)]


def hex_colours(n_labels: int) -> list[str]:
    """The same as web pages write them.

    >>> hex_colours(2)
    ['#e69f00', '#56b4e9']
    """
    return [f"#{bytes(colour).hex()}" for colour in label_colours(n_labels)]
