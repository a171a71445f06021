# Nodes are asked for by the ids of their owner.
from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from explain.library import BOOKS, classifier, named


def with_ids(ids: list[Any]) -> Any:
    return replace(named(), ids=ids)


@pytest.mark.parametrize(
    ("ids", "wanted", "place"),
    [
        (["a", "b", "c"], "b", 1),
        ([7, 8, 9], 8, 1),
        ([7, 8, 9], "8", 1),
        ([2**60, 2**60 + 1], str(2**60 + 1), 1),
        (["8", 8], 8, 1),
    ],
)
def test_position(ids: list[Any], wanted: Any, place: int) -> None:
    assert with_ids(ids).position(wanted) == place


@pytest.mark.parametrize(
    ("ids", "wanted", "nearest"),
    [
        ([10, 20, 30, 40], "31", "30, 40, 20"),
        ([f"art-{i:03d}" for i in range(50)], "art-07", "art-007, art-006, art-008"),
        (["anna", "bert", "hanna", "johanna"], "hana", "hanna, anna, johanna"),
        (["x", "y"], "quite different", "x, y"),
        (["b1", "a1", "a9"], "a", "a9, a1"),
    ],
)
def test_the_nearest_ids_are_named(ids: list[Any], wanted: str, nearest: str) -> None:
    with pytest.raises(ValueError, match=f"no node with the id '{wanted}'") as error:
        with_ids(ids).position(wanted)
    assert str(error.value).endswith(f"the nearest are {nearest}")


def test_probabilities_are_the_classifiers() -> None:
    expected = torch.from_numpy(classifier().predict_proba())
    torch.testing.assert_close(named().probabilities, expected)
    assert named().num_nodes == BOOKS
