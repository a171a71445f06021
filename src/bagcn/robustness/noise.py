"""Random damage: edges added or removed, features made noisy or masked. Exact in its amount.

N nodes, F features, E directed edges: every undirected edge counts once here and stands in
``edge_index`` in both directions, without self-loops and duplicates. A seed draws the same damage
on every machine.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from bagcn.data._csr import csr_tensor

__all__ = ["add_edges", "add_feature_noise", "mask_features", "remove_edges"]

Array = np.ndarray


def add_edges(edge_index: Tensor, num_nodes: int, ratio: float, seed: int) -> Tensor:
    """Join ``floor(ratio * edges)`` pairs of nodes that had no edge, drawn uniformly: (2, E')."""
    low, high = _undirected(edge_index)
    places = np.sort(_place(low, high, num_nodes))  # of the edges, among all pairs of nodes
    count, free = _share(ratio, len(places)), num_nodes * (num_nodes - 1) // 2 - len(places)
    if count > free:
        raise ValueError(f"cannot add {count:,} edges: only {free:,} pairs of nodes have none")
    ranks = _generator(seed).choice(free, size=count, replace=False, shuffle=False)
    # the r-th free place has as many edges before it as are followed by at most r free ones
    before = np.searchsorted(places - np.arange(len(places)), ranks, side="right")
    new_low, new_high = _pair(ranks + before, num_nodes)
    return _both_directions(np.append(low, new_low), np.append(high, new_high), num_nodes)


def remove_edges(edge_index: Tensor, num_nodes: int, ratio: float, seed: int) -> Tensor:
    """Cut ``floor(ratio * edges)`` edges, drawn uniformly: (2, E')."""
    low, high = _undirected(edge_index)
    kept = _generator(seed).permutation(len(low))[_share(ratio, len(low), most=1) :]
    return _both_directions(low[kept], high[kept], num_nodes)


def add_feature_noise(x: Tensor, level: float, seed: int) -> Tensor:
    """Add ``level * r`` times a normal variate to every entry; r is the mean row maximum.

    The result is dense, (N, F), whatever x was: no entry stays zero.
    """
    _not_negative(level)
    dense = x.to_dense()
    scale = level * float(dense.amax(dim=1).mean())
    normal = _generator(seed).standard_normal(dense.shape, dtype=np.float32)
    return dense + scale * torch.from_numpy(normal).to(dense)


def mask_features(x: Tensor, ratio: float, seed: int) -> Tensor:
    """Set ``floor(ratio * entries)`` of the entries that are not zero to zero, drawn uniformly.

    A sparse CSR tensor stays one, with fewer entries.
    """
    sparse = x.layout == torch.sparse_csr
    values = (x.values() if sparse else x.flatten()).clone()
    entries = values.nonzero().flatten()
    lost = _generator(seed).permutation(len(entries))[: _share(ratio, len(entries), most=1)]
    values[entries[lost]] = 0
    return _without_zeros(x, values) if sparse else values.view_as(x)


def _without_zeros(x: Tensor, values: Tensor) -> Tensor:
    """Return a CSR tensor with these values, without those that are zero."""
    row = torch.repeat_interleave(torch.arange(x.shape[0]), x.crow_indices().diff())
    kept = values != 0
    counts = torch.bincount(row[kept], minlength=x.shape[0])
    crow = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
    return csr_tensor(crow, x.col_indices()[kept], values[kept], (x.shape[0], x.shape[1]))


def _undirected(edge_index: Tensor) -> tuple[Array, Array]:
    """Return the smaller and the larger end of every undirected edge, (E / 2,) each."""
    source, target = edge_index.numpy()
    forward = source < target
    if 2 * int(forward.sum()) != len(source):
        raise ValueError(
            "expected a graph with both directions of every edge and no self-loops; got "
            f"{int(forward.sum()):,} edges to a higher node and {len(source):,} in all"
        )
    return source[forward], target[forward]


def _both_directions(low: Array, high: Array, num_nodes: int) -> Tensor:
    """Return the edges sorted by row, as :func:`bagcn.data.load` has them."""
    keys = np.sort(np.concatenate([low * num_nodes + high, high * num_nodes + low]))
    return torch.from_numpy(np.stack(np.divmod(keys, num_nodes)))


def _place(low: Array, high: Array, num_nodes: int) -> Array:
    """Return where a pair stands among all pairs, row by row of the upper triangle."""
    place: Array = low * (2 * num_nodes - low - 1) // 2 + high - low - 1
    return place


def _pair(place: Array, num_nodes: int) -> tuple[Array, Array]:
    """Return the pair that stands there."""
    row = np.arange(num_nodes)
    first = _place(row, row + 1, num_nodes)
    low = np.searchsorted(first, place, side="right") - 1
    low = np.minimum(low, num_nodes - 2)  # the last row is empty and begins where all ends
    return low, place - first[low] + low + 1


def _share(ratio: float, count: int, most: float = math.inf) -> int:
    """Return ``floor(ratio * count)``, safe from what 0.29 * 100 is in binary."""
    _not_negative(ratio)
    if ratio > most:
        raise ValueError(f"cannot remove more than all there is: a share of {ratio:g}")
    return math.floor(ratio * count + 1e-9)


def _not_negative(level: float) -> None:
    if not 0 <= level < math.inf:
        raise ValueError(f"the amount of noise must be 0 or more, got {level:g}")


def _generator(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))
