"""As ``deep``, with a larger network."""

from cfmgml.builders.pictures.encoded_nodes import EncodedNodes
from cfmgml.builders.pictures.encoders.efficientnet_lite2 import efficientnet_lite2

DESCRIPTION = EncodedNodes(efficientnet_lite2, "deep_lite2", rooted=["last"])
