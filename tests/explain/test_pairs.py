# N nodes. All shortcuts as a table: the dense formula's, in blocks, never N×N.
from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten

from bagcn.data import synthetic_graph
from bagcn.explain import Named, iter_shortcuts, write_pairs
from bagcn.explain import opened as opened_module
from bagcn.explain import shortcuts as find
from bagcn.nn import BAGCN
from explain import dense_attention as dense
from explain.case import NODES, Case
from explain.library import classifier, named, tables
from nn.dense import Switches


def of_case(case: Case) -> Named:
    _, graph = case.model.prepare(case.x, case.edges)
    y = torch.arange(NODES) % 3
    y[::2] = -1
    ids = [f"n{i}" for i in range(NODES)]
    return Named(case.model, case.x, graph, y, ids, ["a", "b", "c"], [], torch.arange(4))


@pytest.mark.parametrize("switches", [Switches(), Switches(fusion="mul", inference="mean")])
def test_every_pair_is_the_dense_formulas(switches: Switches, tmp_path: Path) -> None:
    case, out = Case(switches), tmp_path / "pairs.parquet"
    assert write_pairs(of_case(case), out, top=3) == 3 * NODES
    weights, hops = case.weights(), case.hops()
    distant = weights.masked_fill((hops == 0) | (hops == 1), -1)
    predicted = case.predict().argmax(1).tolist()
    found = pd.read_parquet(out)
    assert found["rank"].tolist() == [1, 2, 3] * NODES
    for row in found.itertuples():
        node, other = int(row.node[1:]), int(row.shortcut[1:])
        assert hops[node, other] not in (0, 1)
        largest = distant[node].sort(descending=True).values[row.rank - 1]
        assert row.weight == pytest.approx(float(largest), rel=1e-6)
        assert row.weight == pytest.approx(float(weights[node, other]), rel=1e-6)
        assert (-1 if pd.isna(row.hops) else row.hops) == int(hops[node, other])
        assert row.prediction == "abc"[predicted[node]]
        assert row.shortcut_prediction == "abc"[predicted[other]]
        label = None if pd.isna(row.shortcut_label) else row.shortcut_label
        assert label == (None if other % 2 == 0 else "abc"[other % 3])


class Largest(TorchDispatchMode):
    """Notes the size of the largest tensor that any operation makes."""

    entries = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        for value in tree_flatten(out)[0]:
            if isinstance(value, torch.Tensor) and value.layout == torch.strided:
                self.entries = max(self.entries, value.numel())
        return out


def test_nothing_of_the_size_of_all_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    size, block = 900, 16
    monkeypatch.setattr(opened_module, "ENTRIES_AT_ONCE", block * size)
    data = synthetic_graph(size, num_classes=2, num_features=5)
    model = dense.trained_like(BAGCN(5, 4, 2), 1)
    shapes = []
    with Largest() as largest:
        for part in iter_shortcuts(model, data.x, data.edge_index, 5, block=block):
            shapes.append(tuple(part.weight.shape))
    assert shapes == [(16, 5)] * 56 + [(4, 5)]
    assert block * size <= largest.entries <= 64 * size < size**2 / 14
    whole = find(model, data.x, data.edge_index, torch.arange(size), 5)
    parts = list(iter_shortcuts(model, data.x, data.edge_index, 5, block=block))
    assert torch.equal(torch.cat([part.others for part in parts]), whole.others)


def test_csv_has_the_same_rows(tmp_path: Path) -> None:
    for name in ("pairs.csv", "pairs.parquet"):
        write_pairs(named(), tmp_path / name, top=2)
    expected = pd.read_parquet(tmp_path / "pairs.parquet")
    found = pd.read_csv(tmp_path / "pairs.csv", keep_default_na=False, na_values={"hops": [""]})
    found["shortcut_label"] = found["shortcut_label"].where(found["shortcut_label"] != "", None)
    pd.testing.assert_frame_equal(found, expected, check_dtype=False)
    assert set(expected["shortcut"]) <= set(tables()[0]["book"])


def test_whole_numbers_stay_numbers(tmp_path: Path) -> None:
    case = Case(Switches())
    own = of_case(case)
    object.__setattr__(own, "ids", [2**53 + 1 + i for i in range(NODES)])
    write_pairs(own, tmp_path / "pairs.parquet", top=1)
    found = pd.read_parquet(tmp_path / "pairs.parquet")
    assert found["node"].tolist() == own.ids


def test_nothing_is_left_of_a_model_that_cannot_be_explained(tmp_path: Path) -> None:
    own = Named.from_classifier(classifier("gcn"))
    with pytest.raises(ValueError, match="GCN has none"):
        write_pairs(own, tmp_path / "pairs.parquet")
    assert not list(tmp_path.iterdir())
