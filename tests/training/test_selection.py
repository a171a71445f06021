# M members, N nodes, C classes.
from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from bagcn.training.selection import Scores, note_epoch, selection_state

CPU = torch.device("cpu")
NAN = math.nan


def noted(epochs: list[list[tuple[float, ...]]], *, by_loss: bool = False) -> dict[str, Tensor]:
    """Note epochs, each of (loss, validation accuracy, validation loss, test) a member."""
    state = selection_state(len(epochs[0]), len(epochs), CPU)
    state["kept"] = torch.full((len(epochs[0]),), -1)
    for number, members in enumerate(epochs):
        kept = {"kept": (state["kept"], torch.full((len(members),), number))}
        note_epoch(state, kept, torch.tensor(members).T, by_loss=by_loss)
        state["epoch"] += 1
    return state


def test_the_best_validation_accuracy_counts_and_ties_go_to_the_lower_loss() -> None:
    state = noted(
        [
            [(1.0, 0.5, 0.9, 0.1), (1.0, 0.5, 0.9, 0.1)],
            [(0.9, 0.7, 0.8, 0.2), (0.9, 0.5, 0.8, 0.2)],
            [(0.8, 0.7, 0.6, 0.3), (0.8, 0.5, 0.8, 0.3)],  # a tie with a lower loss; an equal one
            [(0.7, 0.6, 0.1, 0.9), (0.7, 0.4, 0.1, 0.9)],  # a better test changes nothing
        ]
    )
    assert state["best_epoch"].tolist() == [2, 1]
    assert state["best_test"].tolist() == pytest.approx([0.3, 0.2])
    assert state["best_val"].tolist() == pytest.approx([0.7, 0.5])
    assert state["best_val_loss"].tolist() == pytest.approx([0.6, 0.8])
    assert state["kept"].tolist() == [2, 1]
    assert state["epochs"].tolist() == [4, 4]
    assert state["curves"][:, 0, 0].tolist() == pytest.approx([1.0, 0.9, 0.8, 0.7])


def test_after_a_lost_loss_nothing_is_noted_any_more() -> None:
    state = noted(
        [
            [(1.0, 0.5, 0.9, 0.1), (1.0, 0.5, 0.9, 0.1)],
            [(NAN, 0.9, 0.1, 0.9), (0.9, 0.6, 0.8, 0.2)],
            [(0.1, 0.9, 0.1, 0.9), (0.8, 0.7, 0.6, 0.3)],
        ]
    )
    assert state["diverged"].tolist() == [1, -1]
    assert state["active"].tolist() == [False, True]
    assert state["best_epoch"].tolist() == [0, 2]
    assert state["best_test"].tolist() == pytest.approx([0.1, 0.3])
    assert state["epochs"].tolist() == [2, 3]
    assert state["curves"][2, :, 0].isnan().all()


def test_without_labels_the_lowest_training_loss_counts() -> None:
    state = noted(
        [[(1.0, NAN, NAN, NAN)], [(0.4, NAN, NAN, NAN)], [(0.6, NAN, NAN, NAN)]], by_loss=True
    )
    assert state["best_epoch"].tolist() == [1]
    assert state["kept"].tolist() == [1]


def test_scores_are_those_of_each_members_own_nodes() -> None:
    generator = torch.Generator().manual_seed(1)
    y = torch.tensor([0, 1, 2, -1, 1, 0, 2, 1])
    logits = torch.randn(2, 8, 3, generator=generator)
    val = torch.tensor([[1, 1, 0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 1, 1, 0, 0]]).bool()
    test = torch.tensor([[0, 0, 1, 0, 1, 1, 0, 1], [1, 1, 1, 0, 0, 0, 0, 0]]).bool()
    found = torch.stack(Scores(y, val, test)(logits))  # (3, M)
    for m in range(2):
        predicted = logits[m].argmax(1)
        expected = [
            (predicted == y)[val[m]].float().mean(),
            F.cross_entropy(logits[m][val[m]], y[val[m]]),
            (predicted == y)[test[m]].float().mean(),
        ]
        torch.testing.assert_close(found[:, m], torch.stack(expected))
