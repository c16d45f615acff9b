"""Photos as bags of regions, each a graph of superpixels; and what describes those, one's own networks too."""

from cfmgml.builders.pictures.descriptions import NodeDescription, register_description
from cfmgml.builders.pictures.encoded_nodes import EncodedNodes
from cfmgml.builders.pictures.encoders import Encoder
from cfmgml.builders.pictures.encoders.torch_encoder import TorchEncoder

__all__ = ["EncodedNodes", "Encoder", "NodeDescription", "TorchEncoder", "register_description"]
