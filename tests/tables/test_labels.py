"""Which labels are known, and who trains, validates and tests."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from bagcn.tables.labels import class_names, encode, known_labels, stratified_split


def objects(values: list[Any]) -> np.ndarray:
    return np.fromiter(values, dtype=object, count=len(values))


@pytest.mark.parametrize(
    ("y", "known"),
    [
        (["a", "", "  ", None, " b"], ["a", None, None, None, " b"]),
        (torch.tensor([0, -1, 2]), [0, None, 2]),
        (np.array([1.0, np.nan]), [1.0, None]),
        ([True, False, None], [True, False, None]),
        (np.array(["a", "b"]), ["a", "b"]),
    ],
)
def test_known_labels(y: Any, known: list[Any]) -> None:
    assert known_labels(y, len(known)).tolist() == known


def test_minus_one_can_be_a_class() -> None:
    assert known_labels([-1, 0, 1], 3, minus_one=False).tolist() == [-1, 0, 1]


def test_labels_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="expected a class for each of 3 nodes, got 2"):
        known_labels([0, 1], 3)
    with pytest.raises(ValueError, match="expected one class for each node, got several"):
        known_labels(torch.zeros(3, 2), 3)


def test_classes_are_sorted() -> None:
    assert class_names(objects(["b", None, "a", "b"])).tolist() == ["a", "b"]
    assert class_names(objects([10, 9, None])).tolist() == [9, 10]
    assert class_names(objects(["b", 2, "a"])).tolist() == [2, "a", "b"]


def test_too_few_classes() -> None:
    with pytest.raises(ValueError, match="no node has a label: fill the label of a few nodes"):
        class_names(objects([None, None]))
    with pytest.raises(ValueError, match="all labelled nodes have the class 'a': there is nothing"):
        class_names(objects(["a", None, "a"]))


def test_encode() -> None:
    classes = np.array(["a", "b"], dtype=object)
    assert encode(objects(["b", None, "c", "a"]), classes).tolist() == [1, -1, -1, 0]


def parts(y: list[int], seed: int = 0, **shares: float) -> list[list[int]]:
    """Return how many of each class are in each part, and check that the parts are the labelled."""
    labels = torch.tensor(y)
    classes = np.unique(labels[labels >= 0])
    split = stratified_split(labels, classes, seed, **shares)
    together = torch.cat([split.train, split.val, split.test])
    assert torch.equal(together.sort().values, (labels >= 0).nonzero().flatten())
    return [
        labels[part].bincount(minlength=len(classes)).tolist()
        for part in (split.train, split.val, split.test)
    ]


def test_every_class_is_shared_out() -> None:
    y = [0] * 50 + [1] * 10 + [-1] * 7 + [2] * 3 + [3] * 2
    assert parts(y) == [[30, 6, 1, 1], [10, 2, 1, 1], [10, 2, 1, 0]]
    assert parts(y, train=0.8, val=0.2) == [[39, 7, 1, 1], [10, 2, 1, 1], [1, 1, 1, 0]]


def test_the_seed_decides() -> None:
    y, classes = torch.arange(60) % 3, np.arange(3)
    hashes = [stratified_split(y, classes, seed).hash for seed in (0, 0, 1)]
    assert hashes[0] == hashes[1] != hashes[2]


def test_a_class_with_one_label() -> None:
    with pytest.raises(ValueError, match="the class 1 has a single label: label a second node of"):
        parts([0, 0, 0, 1])


@pytest.mark.parametrize(("train", "val"), [(0, 0.5), (0.5, 0), (0.7, 0.5), (1, 0.1)])
def test_shares_that_cannot_be(train: float, val: float) -> None:
    with pytest.raises(ValueError, match="expected shares with train > 0, val > 0 and train"):
        parts([0, 0, 1, 1], train=train, val=val)
