"""The network of `GINAttention`, in PyTorch: imported only where torch is there."""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from cfmgml._segments import lengths, segment_ids
from cfmgml.bags import BagDataset


@dataclass(frozen=True)
class Wiring:
    """Who belongs to whom in a batch of bags, as tensors on one device."""

    source: Tensor  # (n_ends,), both directions of every edge
    target: Tensor
    node_graph: Tensor  # (n_nodes,), the graph of each node
    graph_size: Tensor  # (n_graphs, 1), nodes in each graph
    graph_bag: Tensor  # (n_graphs,), the bag of each graph
    n_bags: int

    @classmethod
    def of(cls, bags: BagDataset, device: str) -> "Wiring":
        graphs = bags.graphs
        ptr, neighbours = graphs.adjacency
        arrays = neighbours, segment_ids(ptr), segment_ids(graphs.node_ptr), lengths(graphs.node_ptr)[:, None]
        source, target, node_graph, graph_size = (torch.tensor(array, device=device) for array in arrays)
        graph_bag = torch.tensor(segment_ids(bags.bag_ptr), device=device)
        return cls(source, target, node_graph, graph_size, graph_bag, bags.n_bags)


class Scores(NamedTuple):
    """What the network says, as logits, and how much each graph counts in its bag."""

    bags: Tensor  # (n_bags, n_labels)
    graphs: Tensor  # (n_graphs, n_labels)
    attention: Tensor  # (n_graphs, n_labels), each bag's sum to 1


class GINAttentionNetwork(nn.Module):  # type: ignore[misc, unused-ignore]
    """Graph isomorphism network, then gated attention over the graphs of a bag, one head a label.

    ``n_codes`` above 0 means that nodes come as codes from 0, the unseen label, and not as vectors.
    """

    def __init__(
        self, n_inputs: int, n_codes: int, n_hidden: int, n_layers: int, n_labels: int, dropout: float
    ) -> None:
        super().__init__()
        self.first = nn.Embedding(n_codes, n_hidden, padding_idx=0) if n_codes else nn.Linear(n_inputs, n_hidden)
        self.layers = nn.ModuleList([GINLayer(n_hidden) for _ in range(n_layers)])
        self.readout = nn.Linear(n_hidden * (n_layers + 1), n_hidden)
        self.value, self.gate = nn.Linear(n_hidden, n_hidden), nn.Linear(n_hidden, n_hidden)
        self.weight = nn.Linear(n_hidden, n_labels, bias=False)
        self.head = nn.Linear(n_hidden, n_labels)
        self.dropout = nn.Dropout(dropout)

    def forward(self, nodes: Tensor, wiring: Wiring) -> Scores:
        embedded = self.embed(nodes, wiring)
        gated = torch.tanh(self.value(embedded)) * torch.sigmoid(self.gate(embedded))
        attention = segment_softmax(self.weight(gated), wiring.graph_bag, wiring.n_bags)
        logits = self.head(embedded)
        return Scores(segment_sum(attention * logits, wiring.graph_bag, wiring.n_bags), logits, attention)

    def embed(self, nodes: Tensor, wiring: Wiring) -> Tensor:
        """(n_graphs, n_hidden): the means of a graph's nodes, before and after every layer, mixed."""
        states = [torch.relu(self.first(nodes))]
        for layer in self.layers:
            states.append(layer(self.dropout(states[-1]), wiring))
        means = segment_sum(torch.cat(states, 1), wiring.node_graph, len(wiring.graph_size)) / wiring.graph_size
        return self.dropout(torch.relu(self.readout(self.dropout(means))))


class GINLayer(nn.Module):  # type: ignore[misc, unused-ignore]
    """MLP((1 + eps) x_v + sum of x_u over the neighbours u of v)."""

    def __init__(self, n_hidden: int) -> None:
        super().__init__()
        self.eps = nn.Parameter(torch.zeros(1))
        self.mlp = nn.Sequential(
            nn.Linear(n_hidden, n_hidden), nn.LayerNorm(n_hidden), nn.ReLU(), nn.Linear(n_hidden, n_hidden),
            nn.LayerNorm(n_hidden), nn.ReLU(),
        )  # fmt: skip

    def forward(self, x: Tensor, wiring: Wiring) -> Tensor:
        # index_select and not x[source]: going backwards, only the former adds up in one order on the CPU
        around = segment_sum(x.index_select(0, wiring.source), wiring.target, len(x))
        return self.mlp((1 + self.eps) * x + around)


def segment_sum(values: Tensor, segment: Tensor, n_segments: int) -> Tensor:
    return values.new_zeros(n_segments, values.shape[1]).index_add(0, segment, values)


def segment_softmax(values: Tensor, segment: Tensor, n_segments: int) -> Tensor:
    rows = segment[:, None].expand_as(values)
    with torch.no_grad():
        best = values.new_full((n_segments, values.shape[1]), -torch.inf).scatter_reduce(0, rows, values, "amax")
    powers = torch.exp(values - best.index_select(0, segment))
    return powers / segment_sum(powers, segment, n_segments).index_select(0, segment)


def known_loss(logits: Tensor, labels: Tensor, known: Tensor) -> Tensor:
    """Binary cross-entropy, averaged over the entries that are known; 0 if none is."""
    entries = nn.functional.binary_cross_entropy_with_logits(logits, labels, weight=known, reduction="sum")
    return entries / known.sum().clamp(min=1)
