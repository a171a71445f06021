"""Graphs in which the nodes of a class live far apart: what learned shortcuts are for.

N nodes, F features, C classes, R regions, E directed edges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from ._graph import Array, data_class, undirected
from .splits import per_class_split

if TYPE_CHECKING:
    from torch_geometric.data import Data


def synthetic_graph(
    num_nodes: int = 1000,
    *,
    num_classes: int = 4,
    regions_per_class: int = 3,
    labelled_regions: int = 1,
    num_features: int = 32,
    homophily: float = 0.8,
    degree: float = 4.0,
    noise: float = 0.5,
    train_per_class: int = 20,
    val_per_class: int = 30,
    connected: bool = False,
    seed: int = 0,
) -> Data:
    r"""A graph whose classes are spread over distant regions, with labels in few of them.

    Every region is a connected subgraph of about N / R nodes with one class at home. Some of its
    nodes, the strangers, belong to the other classes; with edges drawn blindly, a share :math:`s`
    of strangers makes two neighbours agree with probability :math:`(1-s)^2 + s^2/(C-1)`, and
    :math:`s` is chosen so that this is ``homophily``. Features are a class centre of length one
    plus Gaussian noise. The numbering of the nodes tells nothing. Time and memory grow with
    N·F + E (and the sorting of E edges), so a million nodes are no trouble.

    Args:
        num_nodes: N, at least four per region.
        num_classes: C, at least two.
        regions_per_class: Regions in which a class is at home.
        labelled_regions: Of those, the ones in which nodes train and validate; all others only
            test.
        num_features: F.
        homophily: Share of edges between nodes of one class that is aimed at, from 1/C to 1.
        degree: Mean number of neighbours that is aimed at, at least two; small regions lose a few
            because the same edge is drawn twice.
        noise: Standard deviation of every feature around its class centre.
        train_per_class: Training nodes of every class, fewer where its labelled regions are
            small (the rule of :func:`bagcn.data.per_class_split`).
        val_per_class: Validation nodes of every class, likewise.
        connected: Whether one edge joins each region to the next, in a chain in which the regions
            of a class are C bridges apart and the labelled ones stand at one end. Otherwise every
            region is a component of its own.
        seed: The same seed means the same graph on every machine.

    Returns:
        The graph with dense float32 ``x`` (N, F), ``edge_index`` (2, E) in both directions, ``y``,
        the masks ``train_mask``, ``val_mask`` and ``test_mask``, and ``region`` (N,), the number
        of every node's region.
    """
    _check(num_nodes, num_classes, regions_per_class, labelled_regions)
    _check_shape(num_classes, num_features, homophily, degree, noise)
    generator = np.random.Generator(np.random.PCG64(seed))
    regions = _Regions.of(num_nodes, num_classes * regions_per_class)
    # Everything is laid out region by region; at the end each node gets a random number.
    classes = _classes(generator, regions, num_classes, homophily)
    edges = _tree(generator, regions), _extra(generator, regions, degree)
    bridges = _bridges(generator, regions) if connected else np.empty((2, 0), dtype=np.int64)
    place = generator.permutation(num_nodes)
    row, col = place[np.concatenate([*edges, bridges], axis=1)]

    y, region = np.empty_like(classes), np.empty_like(regions.number)
    y[place], region[place] = classes, regions.number
    labelled = region < num_classes * labelled_regions
    data: Data = data_class()(
        x=_features(generator, y, num_classes, num_features, noise),
        edge_index=torch.from_numpy(undirected(row, col, num_nodes)),
        y=torch.from_numpy(y),
        region=torch.from_numpy(region),
        name="synthetic",
        num_nodes=num_nodes,
    )
    visible = torch.from_numpy(np.where(labelled, y, -1))
    split = per_class_split(visible, seed, train_per_class, val_per_class)
    data.train_mask, data.val_mask, _ = split.masks(num_nodes)
    data.test_mask = ~(data.train_mask | data.val_mask)
    return data


@dataclass(frozen=True)
class _Regions:
    """Which positions each region takes: ``start[r]`` up to ``start[r] + size[r]``."""

    start: Array  # (R,)
    size: Array  # (R,)
    number: Array  # (N,), the region at each position

    @classmethod
    def of(cls, num_nodes: int, num_regions: int) -> _Regions:
        ends = np.arange(num_regions + 1, dtype=np.int64) * num_nodes // num_regions
        size = np.diff(ends)
        return cls(ends[:-1], size, np.repeat(np.arange(num_regions), size))

    def draw(self, generator: np.random.Generator, positions: Array) -> Array:
        """A random position in the region of each of these."""
        region = self.number[positions]
        drawn: Array = self.start[region] + generator.integers(self.size[region])
        return drawn


def _classes(
    generator: np.random.Generator, regions: _Regions, num_classes: int, homophily: float
) -> Array:
    """The class at each position: at home, or a stranger from each other class in turn."""
    home = regions.number % num_classes
    # Which members are strangers is drawn; how many is not, so that classes stay balanced.
    order = np.lexsort((generator.random(len(home)), regions.number))
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order)) - regions.start[regions.number]
    strangers = np.rint(_stranger_share(num_classes, homophily) * regions.size)
    shift = np.where(rank < strangers[regions.number], 1 + rank % (num_classes - 1), 0)
    classes: Array = (home + shift) % num_classes
    return classes


def _stranger_share(num_classes: int, homophily: float) -> float:
    """The s with (1-s)² + s²/(C-1) = homophily."""
    a = num_classes / (num_classes - 1)
    return float((1 - np.sqrt(max(0.0, 1 - a * (1 - homophily)))) / a)


def _tree(generator: np.random.Generator, regions: _Regions) -> Array:
    """A random tree through every region: each node but the first picks an earlier one."""
    offset = np.arange(len(regions.number)) - regions.start[regions.number]
    child = np.flatnonzero(offset)
    parent = child - 1 - generator.integers(offset[child])
    return np.stack([child, parent])


def _extra(generator: np.random.Generator, regions: _Regions, degree: float) -> Array:
    """The edges that the mean degree asks for beyond the trees."""
    num_nodes, num_regions = len(regions.number), len(regions.size)
    count = max(0, round(num_nodes * degree / 2) - (num_nodes - num_regions))
    row = generator.integers(num_nodes, size=count)
    return np.stack([row, regions.draw(generator, row)])


def _bridges(generator: np.random.Generator, regions: _Regions) -> Array:
    """One edge from each region to the next."""
    ends = regions.draw(generator, regions.start)
    starts = regions.draw(generator, regions.start)
    return np.stack([ends[:-1], starts[1:]])


def _features(
    generator: np.random.Generator, y: Array, num_classes: int, num_features: int, noise: float
) -> Tensor:
    centres = generator.standard_normal((num_classes, num_features), dtype=np.float32)
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    x = generator.standard_normal((len(y), num_features), dtype=np.float32)  # (N, F)
    x *= np.float32(noise)
    x += centres[y]
    return torch.from_numpy(x)


def _check(num_nodes: int, num_classes: int, regions_per_class: int, labelled: int) -> None:
    if num_classes < 2:
        raise ValueError(f"expected num_classes >= 2, got {num_classes}")
    if not 1 <= labelled <= regions_per_class:
        raise ValueError(
            "expected 1 <= labelled_regions <= regions_per_class, "
            f"got {labelled} and {regions_per_class}"
        )
    num_regions = num_classes * regions_per_class
    if num_nodes < 4 * num_regions:
        raise ValueError(
            f"expected at least {4 * num_regions} nodes, four for each of {num_regions} regions, "
            f"got {num_nodes}"
        )


def _check_shape(
    num_classes: int, num_features: int, homophily: float, degree: float, noise: float
) -> None:
    if num_features < 1:
        raise ValueError(f"expected num_features >= 1, got {num_features}")
    if not 1 / num_classes <= homophily <= 1:
        raise ValueError(
            f"expected homophily from 1/num_classes = {1 / num_classes:g} to 1, got {homophily:g}"
        )
    if degree < 2:
        raise ValueError(f"expected degree >= 2, which keeps a region connected, got {degree:g}")
    if noise < 0:
        raise ValueError(f"expected noise >= 0, got {noise:g}")
