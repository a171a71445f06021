"""Classes from labels, and who trains, validates and tests when the owner did not say.

N nodes, C classes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from bagcn.data import Split
from bagcn.tables.ids import id_array

__all__ = ["class_names", "encode", "known_labels", "stratified_split"]

Array = np.ndarray


def known_labels(y: Any, num_nodes: int, minus_one: bool = True) -> Array:
    """Return the classes as objects, None where unknown: (N,).

    Args:
        y: a class for each node; None, NaN and blank texts are unknown.
        num_nodes: N.
        minus_one: whether the number -1 is unknown too, as is usual in arrays; in a table it is a
            class, beside 0 and 1 say.
    """
    labels = np.full(num_nodes, None, dtype=object)
    if y is None:
        return labels
    values = y.tolist() if hasattr(y, "tolist") else list(y)
    if len(values) != num_nodes:
        raise ValueError(f"expected a class for each of {num_nodes} nodes, got {len(values)}")
    if any(isinstance(value, list) for value in values):
        raise ValueError(
            "expected one class for each node, got several: y must have the shape (N,)"
        )
    labels[:] = [None if _missing(value, minus_one) else value for value in values]
    return labels


def _missing(value: Any, minus_one: bool) -> bool:
    if value is None:
        return True
    if isinstance(value, str):
        return not value.strip()
    if isinstance(value, int) and not isinstance(value, bool):
        return minus_one and value == -1
    return bool(value != value)  # NaN and pandas' NaT


def class_names(labels: Array) -> Array:
    """Return the classes in order, (C,): sorted, by their text where they are of several types."""
    known = {label for label in labels.tolist() if label is not None}
    if not known:
        raise ValueError("no node has a label: fill the label of a few nodes of every class")
    if len(known) == 1:
        raise ValueError(
            f"all labelled nodes have the class {known.pop()!r}: there is nothing to tell apart"
        )
    same = len({type(label) for label in known}) == 1
    return id_array(sorted(known) if same else sorted(known, key=str))


def encode(labels: Array, classes: Array) -> torch.Tensor:
    """Return the number of each node's class, -1 where it is unknown or not among these: (N,)."""
    number = {name: i for i, name in enumerate(classes.tolist())}
    return torch.tensor([number.get(label, -1) for label in labels.tolist()])


def stratified_split(
    y: torch.Tensor, classes: Array, seed: int, train: float = 0.6, val: float = 0.2
) -> Split:
    """Share out the labelled nodes of every class: to train, to validate, the rest to test.

    Every class has a node to train and one to validate, and, from three labels on, one to test.
    """
    if not (0 < train < 1 and 0 < val < 1 and train + val <= 1):
        raise ValueError(
            f"expected shares with train > 0, val > 0 and train + val <= 1, got {train:g}/{val:g}"
        )
    generator = np.random.Generator(np.random.PCG64(seed))
    parts: tuple[list[Array], ...] = ([], [], [])
    for number, name in enumerate(classes.tolist()):
        nodes = np.flatnonzero(y.numpy() == number)
        if len(nodes) < 2:
            raise ValueError(
                f"the class {name!r} has a single label: label a second node of it, so that one "
                "can train and one validate, or leave the class out"
            )
        nodes = generator.permutation(nodes)
        num_val = max(1, round(len(nodes) * val))
        num_test = max(min(1, len(nodes) - 2), round(len(nodes) * (1 - train - val)))
        ends = np.cumsum([num_val, num_test])
        for part, chosen in zip(parts, np.split(nodes, ends), strict=True):
            part.append(chosen)
    joined = (torch.from_numpy(np.sort(np.concatenate(part))) for part in parts)
    val_part, test_part, train_part = joined
    return Split(f"labels:{train:g}/{val:g}", train_part, val_part, test_part, seed)
