"""What a pretrained network sees: its maps averaged over the superpixel, and the superpixel's place and region."""

from cfmgml.builders.pictures.encoded_nodes import EncodedNodes
from cfmgml.builders.pictures.encoders.efficientnet_lite0 import efficientnet_lite0

DESCRIPTION = EncodedNodes(efficientnet_lite0, "deep", rooted=["last"])
