"""Which nodes train, validate and test. A seed means the same split on every machine.

N nodes, C classes.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from ._names import unknown

if TYPE_CHECKING:
    from torch_geometric.data import Data

Array = np.ndarray

SPLITS: tuple[str, ...] = ("public", "per-class", "random")
"""The kinds of split :func:`make_split` knows."""


@dataclass(frozen=True, eq=False)
class Split:
    """Three disjoint sets of nodes, as sorted int64 indices.

    Args:
        name: How it was made, in the words of :func:`make_split`.
        train: Nodes whose labels the model sees.
        val: Nodes that choose the epoch.
        test: Nodes that are reported.
        seed: The seed it was drawn with; None for a public split.
    """

    name: str
    train: Tensor
    val: Tensor
    test: Tensor
    seed: int | None = None

    @property
    def hash(self) -> str:
        """Twelve hex digits that change with any index: the same on every machine."""
        digest = hashlib.sha256()
        for part in (self.train, self.val, self.test):
            indices = part.numpy().astype("<i8")
            digest.update(np.array([len(indices)], dtype="<i8").tobytes())
            digest.update(indices.tobytes())
        return digest.hexdigest()[:12]

    def masks(self, num_nodes: int) -> tuple[Tensor, Tensor, Tensor]:
        """The split as three boolean masks of shape (N,): train, val, test."""
        train, val, test = (
            torch.zeros(num_nodes, dtype=torch.bool).index_fill_(0, part, True)
            for part in (self.train, self.val, self.test)
        )
        return train, val, test


def public_split(data: Data) -> Split:
    """The split that comes with the data set, from its masks."""
    masks = [data.get(f"{part}_mask") for part in ("train", "val", "test")]
    if any(mask is None for mask in masks):
        raise ValueError(
            f"{data.get('name') or 'this graph'} has no public split; "
            "use 'per-class' or 'random' instead"
        )
    train, val, test = (mask.nonzero().flatten() for mask in masks)
    return Split("public", train, val, test)


def per_class_split(y: Tensor, seed: int, train: int = 20, val: int = 30) -> Split:
    """Draw ``train`` and ``val`` nodes of every class; all others test.

    A class with too few nodes for that and one test node is shared out in proportion: of its
    n nodes, n·train/(train+val+1) train and n·val/(train+val+1) validate, both rounded down,
    but at least one trains and at least one tests. A class with a single node is an error.
    Nodes without a label (-1) are left out.
    """
    if train < 1 or val < 0:
        raise ValueError(f"expected train >= 1 and val >= 0 nodes per class, got {train}/{val}")

    def sizes(n: int) -> tuple[int, int]:
        if n > train + val:
            return train, val
        num_train = max(1, n * train // (train + val + 1))
        return num_train, min(n * val // (train + val + 1), n - 1 - num_train)

    return _draw(f"per-class:{train}/{val}", y, seed, sizes)


def random_split(y: Tensor, seed: int, train: float = 0.1, val: float = 0.1) -> Split:
    """Draw fractions of the nodes, stratified: the same fractions of every class.

    Per class, both numbers are rounded to the nearest node, but at least one node trains and at
    least one tests; the rest of the class tests. A class with a single node is an error.
    Nodes without a label (-1) are left out.
    """
    if not (0 < train < 1 and 0 <= val < 1 and train + val < 1):
        raise ValueError(
            "expected fractions with train > 0, val >= 0 and train + val < 1, "
            f"got {train:g}/{val:g}"
        )

    def sizes(n: int) -> tuple[int, int]:
        num_train = min(max(1, _round(n * train)), n - 1)
        return num_train, min(_round(n * val), n - 1 - num_train)

    return _draw(f"random:{train:g}/{val:g}", y, seed, sizes)


def make_split(spec: str, data: Data, seed: int) -> Split:
    """The split that ``spec`` names.

    Args:
        spec: ``"public"``, ``"per-class"`` (20 train, 30 validate), ``"per-class:5/30"``,
            ``"random"`` (0.1 and 0.1) or ``"random:0.6/0.2"``.
        data: The graph.
        seed: Which split of its kind; a public split ignores it.
    """
    kind, _, sizes = spec.partition(":")
    if kind not in SPLITS:
        raise unknown("split", kind, SPLITS)
    if kind == "public":
        if sizes:
            raise ValueError(f"the public split has no sizes to choose, got {spec!r}")
        return public_split(data)
    if kind == "per-class":
        return per_class_split(data.y, seed, *(int(size) for size in _sizes(spec, sizes, r"\d+")))
    return random_split(data.y, seed, *(float(s) for s in _sizes(spec, sizes, r"\d*\.?\d+")))


def _sizes(spec: str, sizes: str, number: str) -> tuple[str, ...]:
    if not sizes and ":" not in spec:
        return ()
    match = re.fullmatch(f"({number})/({number})", sizes)
    if match is None:
        raise ValueError(
            f"cannot read the split {spec!r}; expected 'per-class:TRAIN/VAL' in nodes, like "
            "'per-class:20/30', or 'random:TRAIN/VAL' in fractions, like 'random:0.1/0.1'"
        )
    return match.groups()


def _round(value: float) -> int:
    # Halves go up: Python rounds them to even, which would surprise at 5 nodes and 10 %.
    return int(value + 0.5)


def _draw(name: str, y: Tensor, seed: int, sizes: Callable[[int], tuple[int, int]]) -> Split:
    train, val, test = [], [], []
    for nodes in _shuffled_classes(y.cpu().numpy(), seed):
        num_train, num_val = sizes(len(nodes))
        train.append(nodes[:num_train])
        val.append(nodes[num_train : num_train + num_val])
        test.append(nodes[num_train + num_val :])
    return Split(name, _join(train), _join(val), _join(test), seed)


def _shuffled_classes(y: Array, seed: int) -> Iterator[Array]:
    # PCG64 is named, not left to default_rng, whose choice NumPy may change.
    generator = np.random.Generator(np.random.PCG64(seed))
    classes = np.unique(y[y >= 0])
    if len(classes) == 0:
        raise ValueError("cannot split a graph in which no node has a label")
    for label in classes:
        nodes = np.flatnonzero(y == label)
        if len(nodes) < 2:
            raise ValueError(
                f"class {label} has a single node, but a split needs one to train and one to "
                "test; remove the class or merge it with another"
            )
        yield generator.permutation(nodes)


def _join(parts: list[Array]) -> Tensor:
    return torch.from_numpy(np.sort(np.concatenate(parts)).astype(np.int64))
