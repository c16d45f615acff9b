"""The network of `GINAttention` and its training, in PyTorch: imported only where torch is there."""

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from cfmgml.common.segments import lengths, segment_ids
from cfmgml.common.typing import FloatArray, IntArray
from cfmgml.data.bags import BagDataset

if TYPE_CHECKING:
    from cfmgml.baselines.gin_attention import GINAttention

# -- the network ---------------------------------------------------------------------------------


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
        states = [torch.relu(self.first(nodes))]
        for layer in self.layers:
            states.append(layer(states[-1], wiring))
        # a graph is the means of its nodes, before and after every layer, mixed
        means = segment_sum(torch.cat(states, 1), wiring.node_graph, len(wiring.graph_size)) / wiring.graph_size
        embedded = self.dropout(torch.relu(self.readout(means)))  # (n_graphs, n_hidden)
        gated = torch.tanh(self.value(embedded)) * torch.sigmoid(self.gate(embedded))
        attention = segment_softmax(self.weight(gated), wiring.graph_bag, wiring.n_bags)
        logits = self.head(embedded)
        return Scores(segment_sum(attention * logits, wiring.graph_bag, wiring.n_bags), logits, attention)


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


# -- training ------------------------------------------------------------------------------------


class Batch(NamedTuple):
    """Bags as the network takes them, and what it should say of them."""

    nodes: Tensor  # (n_nodes, n_inputs), or (n_nodes,) codes
    wiring: Wiring
    targets: Tensor  # (n_bags, n_labels): 0, 1, or NaN where it is not known


@dataclass
class Training:
    """Gradient descent over the bags ``learn``, watched on the bags ``held_out``, of which there may be none."""

    network: GINAttentionNetwork
    batch: Callable[[IntArray], Batch]
    learn: IntArray
    held_out: IntArray
    settings: "GINAttention"
    losses: list[float] = field(default_factory=list)
    held_out_errors: list[float] = field(default_factory=list)

    def run(self, rng: np.random.Generator, advance: Callable[[int], None]) -> dict[str, Tensor]:
        """The weights of the epoch that did best on the bags held out; without any, those of the last epoch."""
        parameters = self.network.parameters()
        told = self.settings
        optimizer = torch.optim.AdamW(parameters, lr=told.learning_rate, weight_decay=told.weight_decay)
        watched = [self.batch(rows) for rows in _parts(self.held_out, told.batch_size)]
        best, best_epoch, weights = math.inf, 0, _weights(self.network)
        for epoch in range(told.n_epochs):
            self.losses.append(self._descend(optimizer, rng.permutation(self.learn)))
            advance(1)
            if not watched:
                continue
            self.held_out_errors.append(squared_error(self.network, watched))
            if self.held_out_errors[-1] < best:
                best, best_epoch, weights = self.held_out_errors[-1], epoch, _weights(self.network)
            elif epoch - best_epoch >= told.patience:
                break
        return weights if watched else _weights(self.network)

    def _descend(self, optimizer: torch.optim.Optimizer, order: IntArray) -> float:
        """One pass over the bags; returns the mean loss."""
        self.network.train()
        total = 0.0
        for rows in _parts(order, self.settings.batch_size):
            batch = self.batch(rows)
            loss = bag_loss(self.network(batch.nodes, batch.wiring), batch, self.settings.graph_weight)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call, unused-ignore]
            optimizer.step()
            total += loss.item() * len(rows) / len(order)
        if not math.isfinite(total):
            raise ValueError(f"training diverged: take a learning_rate below {self.settings.learning_rate}.")
        return total


def bag_loss(scores: Scores, batch: Batch, graph_weight: float) -> Tensor:
    """Cross-entropy of the bags, and of each graph for the labels that its bag is known not to have."""
    known = ~batch.targets.isnan()
    loss = mean_cross_entropy(scores.bags, batch.targets.nan_to_num(), known)
    absent = (batch.targets == 0).index_select(0, batch.wiring.graph_bag)
    return loss + graph_weight * mean_cross_entropy(scores.graphs, torch.zeros_like(scores.graphs), absent)


def mean_cross_entropy(logits: Tensor, targets: Tensor, counts: Tensor) -> Tensor:
    """Binary cross-entropy over the entries that count; 0 if none does."""
    weight = counts.to(logits.dtype)
    entries = nn.functional.binary_cross_entropy_with_logits(logits, targets, weight=weight, reduction="sum")
    return entries / weight.sum().clamp(min=1)


@torch.no_grad()
def squared_error(network: GINAttentionNetwork, batches: list[Batch]) -> float:
    """Mean over the known entries of (probability - label)^2.

    It chooses the epoch because, unlike the cross-entropy, it does not grow without bound with a few confident
    mistakes, while the ranking still improves; and it is defined for one label and for unknown ones.
    """
    network.eval()
    errors = [torch.sigmoid(network(b.nodes, b.wiring).bags) - b.targets for b in batches]
    return float(torch.cat(errors).square().nanmean())


# -- from arrays and back ------------------------------------------------------------------------


def as_batch(nodes: FloatArray | IntArray, bags: BagDataset, targets: FloatArray, device: str) -> Batch:
    values = torch.tensor(nodes, device=device)
    return Batch(values, Wiring.of(bags, device), torch.tensor(targets, dtype=torch.float32, device=device))


@contextlib.contextmanager
def seeded(seed: int, device: str) -> Iterator[None]:
    """All of torch's draws follow from the seed inside, and are left as they were outside."""
    on_gpu = device != "cpu"
    with torch.random.fork_rng(devices=[device] if on_gpu else []):
        torch.default_generator.manual_seed(seed)  # torch.manual_seed would reach every GPU too
        if on_gpu:
            with torch.cuda.device(device):
                torch.cuda.manual_seed(seed)
        yield


def restore_network(shape: Mapping[str, int], weights: Mapping[str, Tensor], device: str) -> GINAttentionNetwork:
    """A network to predict with, in float64: then a score does not depend on what else is in its batch."""
    with torch.device("meta"):
        network = GINAttentionNetwork(**shape, dropout=0.0)
    network.load_state_dict({name: w.to(device, torch.float64) for name, w in weights.items()}, assign=True)
    return network.eval()


@torch.no_grad()
def predict(network: GINAttentionNetwork, nodes: FloatArray | IntArray, bags: BagDataset, device: str) -> Scores:
    scores = network(torch.tensor(nodes, device=device), Wiring.of(bags, device))
    return Scores(*(values.cpu() for values in scores))


def joined(parts: list[Scores]) -> Scores:
    return Scores(*(torch.cat(values) for values in zip(*parts, strict=True)))


def check_device(device: str) -> None:
    if device != "cpu" and not device.startswith("cuda"):
        raise ValueError(f"device must be 'cpu', 'cuda' or 'cuda:<number>', got {device!r}.")
    if device != "cpu" and not torch.cuda.is_available():
        raise ValueError(f"device is {device!r}, but torch finds no CUDA device here; use device='cpu'.")


def _parts(rows: IntArray, size: int) -> list[IntArray]:
    """Rows in parts of about the same size, ``size`` at most."""
    return np.array_split(rows, math.ceil(len(rows) / size)) if len(rows) else []


def _weights(network: GINAttentionNetwork) -> dict[str, Tensor]:
    return {name: w.detach().cpu().clone() for name, w in network.state_dict().items()}
