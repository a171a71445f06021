"""A table's features: learnt once, the same from any table with these columns, saved as JSON."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from bagcn.tables.encoders import TableEncoder, fit_encoder, restored_encoder
from bagcn.tables.graph import Graph, Layout

TABLE = pd.DataFrame(
    {
        "size": ["1", "3", "", "5"],
        "open": ["yes", "no", "no", "yes"],
        "place": ["Lima", "Oslo", "Lima", "Oslo"],
        "when": ["2024-01-01", "2024-01-03", "2024-02-01", "2024-03-01"],
        "same": ["x"] * 4,
    },
    dtype=object,
)


def graph(table: pd.DataFrame | None, **others: Any) -> Graph:
    size = 4 if table is None else len(table)
    nothing = torch.empty(2, 0, dtype=torch.int64)
    return Graph(np.arange(size), np.full(size, None), nothing, table=table, **others)


def test_columns_become_features() -> None:
    encoder = TableEncoder.fit(TABLE, {})
    assert [(c.name, c.kind, c.missing) for c in encoder.columns] == [
        ("size", "number", 1),
        ("open", "boolean", 0),
        ("place", "category", 0),
        ("when", "date", 0),
        ("same", None, 0),
    ]
    assert encoder.names[:5] == ["size", "size is missing", "open", "place=Lima", "place=Oslo"]
    assert encoder.names[5:] == [f"when ({part})" for part in ("day", "month", "weekday", "hour")]
    x = encoder.transform(graph(TABLE))
    assert x.shape == (4, 9)
    assert x.dtype == torch.float32
    assert x[:, 1:5].tolist() == [[0, 1, 1, 0], [0, 0, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1]]
    size = torch.tensor([1.0, 3.0, 3.0, 5.0])
    assert torch.allclose(x[:, 0], (size - 3) / size.std(correction=0))


def test_other_tables_may_have_other_columns_rows_and_categories() -> None:
    encoder = TableEncoder.fit(TABLE, {})
    other = TABLE.iloc[[3, 0], ::-1].assign(place=["Accra", "Lima"], more=["1", "2"])
    x, own = encoder.transform(graph(other)), encoder.transform(graph(TABLE))
    place = [encoder.names.index(name) for name in ("place=Lima", "place=Oslo")]
    expected = own[[3, 0]]
    expected[0, place] = 0
    assert torch.equal(x, expected)


def test_a_missing_column_is_named() -> None:
    encoder = TableEncoder.fit(TABLE, {})
    with pytest.raises(ValueError, match="nodes' table") as refusal:
        encoder.transform(graph(TABLE.drop(columns=["size", "when", "same"])))
    assert str(refusal.value) == (
        "the model was trained on columns that the nodes' table lacks: size, when; its feature "
        "columns are open, place"
    )
    with pytest.raises(ValueError, match="columns of a table, but this graph comes without"):
        encoder.transform(graph(None))


def test_kinds_are_as_told() -> None:
    encoder = TableEncoder.fit(TABLE, {"size": "category", "open": "category"})
    assert [(c.kind, c.why) for c in encoder.columns[:2]] == [("category", "as told")] * 2
    assert encoder.names[:4] == ["size is rare", "size is missing", "open=no", "open=yes"]


@pytest.mark.parametrize(
    ("kinds", "message"),
    [
        ({"sise": "number"}, "unknown feature column 'sise'; did you mean 'size'? Known: size,"),
        ({"size": "numbre"}, "unknown kind of column 'numbre'; did you mean 'number'? Known: num"),
    ],
)
def test_unknown_columns_and_kinds(kinds: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match="unknown") as refusal:
        TableEncoder.fit(TABLE, kinds)
    assert str(refusal.value).startswith(message)


def test_what_is_learnt_survives_json() -> None:
    text = [
        " ".join(["leaf root", "star orbit"][i % 2] for _ in range(3)) + f" {i}" for i in range(30)
    ]
    long = pd.concat([TABLE] * 10, ignore_index=True).head(30).assign(note=text)
    encoder = TableEncoder.fit(long, {"note": "text"})
    saved, arrays = encoder.saved()
    restored = restored_encoder(json.loads(json.dumps(saved)), arrays)
    assert restored.names == encoder.names
    assert torch.equal(restored.transform(graph(long)), encoder.transform(graph(long)))


def test_features_that_are_mostly_zero_are_sparse() -> None:
    table = pd.DataFrame({"k": [f"k{i % 20}" for i in range(40)]})
    x = TableEncoder.fit(table, {}).transform(graph(table))
    assert x.layout == torch.sparse_csr
    expected = torch.eye(20).repeat(2, 1)[:, torch.tensor(sorted(range(20), key=str)).long()]
    assert torch.equal(x.to_dense(), expected)


def test_no_column_that_can_be_used() -> None:
    table = pd.DataFrame({"a": ["x"] * 3, "b": [None] * 3, "c": [[1]] * 3})
    message = r"as a feature: a \(all cells equal\), b \(empty\), c \(lists\); see --as"
    with pytest.raises(ValueError, match=message):
        TableEncoder.fit(table, {})


def test_no_features_at_all() -> None:
    message = (
        "the nodes have no features: choose --no-features structural .* in Python no_features="
    )
    for table in (None, pd.DataFrame(index=range(4))):
        with pytest.raises(ValueError, match=message):
            fit_encoder(graph(table))


def test_layout_tells_the_kinds() -> None:
    owned = graph(TABLE, layout=Layout(kinds=(("size", "category"),)))
    encoder = fit_encoder(owned)
    assert isinstance(encoder, TableEncoder)
    assert encoder.columns[0].kind == "category"
