"""NodeClassifier as scikit-learn's users know it, on graphs of every kind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
from rich.console import Console
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from torch_geometric.data import Data

from bagcn import NodeClassifier
from bagcn.cli.own import _show_result
from bagcn.data.synthetic import synthetic_graph
from bagcn.estimator import EXACT_UP_TO
from bagcn.study.models import MODELS
from bagcn.tables import Layout
from owned import TOPICS, library

QUICK = {"epochs": 4, "hidden_channels": 8, "device": "cpu"}


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> tuple[pd.DataFrame, pd.DataFrame]:
    return library(tmp_path_factory.mktemp("library"))


@pytest.fixture(scope="module")
def fitted(tables: tuple[pd.DataFrame, pd.DataFrame]) -> NodeClassifier:
    return NodeClassifier(**QUICK).fit(tables[0], "topic", edges=tables[1])


# --- scikit-learn's conventions


def test_parameters_are_kept_as_they_came() -> None:
    own = {"model": "gcn", "lr": 0.5, "model_params": {"dropout": 0.1}, "random_state": None}
    classifier = NodeClassifier(**own)
    parameters = classifier.get_params()
    assert {name: parameters[name] for name in own} == own
    assert parameters["model_params"] is own["model_params"]
    assert classifier.set_params(lr=0.1, epochs=3) is classifier
    assert (classifier.lr, classifier.epochs) == (0.1, 3)
    assert repr(NodeClassifier(lr=0.5)) == "NodeClassifier(lr=0.5)"
    with pytest.raises(ValueError, match="Invalid parameter 'learning_rate'"):
        classifier.set_params(learning_rate=1)


def test_a_clone_has_the_parameters_and_nothing_learnt(fitted: NodeClassifier) -> None:
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    assert not hasattr(copy, "model_")
    assert is_classifier(copy)


@pytest.mark.parametrize(
    "call",
    [
        NodeClassifier.predict,
        NodeClassifier.predict_proba,
        NodeClassifier.score,
        lambda c: c.explain("a"),
        lambda c: c.save("nowhere"),
    ],
)
def test_before_fitting_nothing_is_known(call: Any) -> None:
    with pytest.raises(NotFittedError, match="This NodeClassifier instance is not fitted yet"):
        call(NodeClassifier())


def test_fit_returns_itself_and_learns_only_attributes_with_a_trailing_underscore(
    tables: tuple[pd.DataFrame, pd.DataFrame],
) -> None:
    classifier = NodeClassifier("gcn", **QUICK)
    assert classifier.fit(tables[0], "topic", edges=tables[1]) is classifier
    learnt = set(vars(classifier)) - set(classifier.get_params())
    assert all(name.endswith("_") for name in learnt)
    assert classifier.classes_.tolist() == TOPICS
    assert classifier.ids_.tolist() == tables[0]["article"].tolist()


def test_fitting_changes_neither_parameters_nor_tables(
    tables: tuple[pd.DataFrame, pd.DataFrame],
) -> None:
    nodes, edges = tables[0].copy(), tables[1].copy()
    classifier = NodeClassifier("gcn", **QUICK)
    before = classifier.get_params()
    classifier.fit(nodes, "topic", edges=edges)
    assert classifier.get_params() == before
    pd.testing.assert_frame_equal(nodes, tables[0])
    pd.testing.assert_frame_equal(edges, tables[1])


def test_random_state(tables: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    def outcome(seed: int | None) -> NodeClassifier:
        classifier = NodeClassifier(**QUICK, random_state=seed)
        return classifier.fit(tables[0], "topic", edges=tables[1])

    first, second, other, fresh = (outcome(seed) for seed in (3, 3, 4, None))
    assert np.array_equal(first.predict_proba(), second.predict_proba())
    assert first.split_.hash == second.split_.hash != other.split_.hash
    assert first.seed_ == 3
    again = outcome(fresh.seed_)
    assert np.array_equal(again.predict_proba(), fresh.predict_proba())


def test_probabilities(fitted: NodeClassifier) -> None:
    chances = fitted.predict_proba()
    assert chances.shape == (120, 4)
    assert np.allclose(chances.sum(1), 1, atol=1e-6)
    assert fitted.predict().tolist() == [TOPICS[i] for i in chances.argmax(1)]
    with torch.no_grad():
        graph = fitted.task_.prepared_for(fitted.model_, torch.device("cpu"))
        logits = fitted.model_(*graph)
    assert np.allclose(chances, (logits / fitted.temperature_).softmax(-1).numpy())


@pytest.mark.parametrize("nodes", [9, 10])
def test_few_validation_nodes_leave_the_probabilities_as_they_are(
    capsys: pytest.CaptureFixture[str], nodes: int
) -> None:
    data = synthetic_graph(80, seed=1)
    spare = (~data.train_mask).nonzero()[:, 0]
    data.val_mask = torch.zeros(80, dtype=torch.bool).index_fill(0, spare[:nodes], True)
    data.test_mask = torch.zeros(80, dtype=torch.bool).index_fill(0, spare[nodes:], True)
    fitted = NodeClassifier(**QUICK).fit(data)
    assert len(fitted.split_.val) == nodes
    assert (fitted.temperature_ == 1.0) == (nodes < 10)
    _show_result(Console(width=200), fitted, "model")
    few = "9 validation nodes are too few to calibrate by (at least 10)."
    assert (few in capsys.readouterr().out) == (nodes < 10)


def test_score(fitted: NodeClassifier, tables: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    predicted, known = fitted.predict(), tables[0]["topic"].to_numpy()
    test = fitted.split_.test.numpy()
    assert fitted.score() == (predicted[test] == known[test]).mean()
    assert fitted.score() == pytest.approx(fitted.metrics_["test_accuracy"])
    labelled = known != ""
    expected = (predicted[labelled] == known[labelled]).mean()
    assert fitted.score(tables[0], edges=tables[1]) == expected


def test_the_split_is_stratified_and_of_the_labelled(fitted: NodeClassifier) -> None:
    y, split = fitted.task_.y, fitted.split_
    parts = [y[part].bincount(minlength=4) for part in (split.train, split.val, split.test)]
    total = sum(parts)
    assert torch.equal(total, y[y >= 0].bincount(minlength=4))
    assert all(abs(int(n) - 0.6 * int(t)) <= 1 for n, t in zip(parts[0], total, strict=True))


# --- graphs of every kind


def test_every_kind_of_graph_gives_the_same_probabilities(tiny_graph: Data) -> None:
    """As arrays without ids; as frames and as NetworkX, whose columns are named."""
    x, (source, target) = tiny_graph.x.double().numpy(), tiny_graph.edge_index.numpy()
    y = torch.where(tiny_graph.train_mask | tiny_graph.val_mask, tiny_graph.y, -1).numpy()
    labels = [None if value < 0 else int(value) for value in y]
    plain = Data(x=tiny_graph.x, edge_index=tiny_graph.edge_index, y=torch.from_numpy(y))
    adjacency = sp.csr_array((np.ones(len(source)), (source, target)), shape=(60, 60))
    nodes = pd.DataFrame(x, columns=[f"x{i}" for i in range(8)]).assign(id=range(60))
    edges = pd.DataFrame({"source": source, "target": target})
    network = nx.from_pandas_edgelist(edges)
    ordered = nx.Graph()
    for i in range(60):
        ordered.add_node(i, **{f"x{k}": x[i, k] for k in range(8)})
    ordered.add_edges_from(network.edges)

    def chances(*graph: Any, **others: Any) -> np.ndarray:
        return NodeClassifier(**QUICK).fit(*graph, **others).predict_proba()

    expected = chances(plain)
    for found in (
        chances(adjacency, y, features=x),
        chances(sp.coo_matrix(adjacency), labels, features=nodes.drop(columns="id")),
        chances(nodes, labels, edges=edges, layout=Layout(id="id")),
        chances(ordered, labels),
    ):
        assert np.allclose(found, expected, atol=1e-4)


def test_masks_of_data_are_the_split(tiny_graph: Data) -> None:
    fitted = NodeClassifier("gcn", **QUICK).fit(tiny_graph)
    assert torch.equal(fitted.split_.train, tiny_graph.train_mask.nonzero().flatten())
    assert torch.equal(fitted.split_.test, tiny_graph.test_mask.nonzero().flatten())
    tiny_graph.val_mask[:] = False
    with pytest.raises(ValueError, match="the split leaves no labelled node to train, or none to"):
        NodeClassifier("gcn", **QUICK).fit(tiny_graph)


@pytest.mark.parametrize("model", sorted(MODELS))
def test_every_model_fits_and_predicts_another_graph(model: str, tiny_graph: Data) -> None:
    part = torch.arange(60) % 5 != 0
    smaller = tiny_graph.subgraph(part)
    fitted = NodeClassifier(model, epochs=2, hidden_channels=8, device="cpu").fit(smaller)
    chances = fitted.predict_proba(tiny_graph)
    assert chances.shape == (60, 3)
    assert np.allclose(chances.sum(1), 1, atol=1e-5)
    assert np.allclose(fitted.predict_proba(smaller), fitted.predict_proba(), atol=1e-6)


# --- transductive and inductive


def test_the_same_graph_in_another_order_gives_the_same_predictions(
    fitted: NodeClassifier, tables: tuple[pd.DataFrame, pd.DataFrame]
) -> None:
    order = np.random.default_rng(0).permutation(120)
    nodes, edges = tables[0].iloc[order, ::-1], tables[1].sample(frac=1, random_state=0)
    found = fitted.predict_proba(nodes.drop(columns="topic"), edges=edges[["cited", "citing"]])
    assert np.allclose(found, fitted.predict_proba()[order], atol=1e-5)


def test_a_graph_that_has_grown(
    fitted: NodeClassifier, tables: tuple[pd.DataFrame, pd.DataFrame]
) -> None:
    """Nothing is learnt anew; what is far from the new node changes by attention alone."""
    nodes, edges = tables
    new = nodes.iloc[[0]].assign(article="new", place="Reykjavik", pages="")
    link = pd.DataFrame({"citing": ["new"], "cited": ["art-00000"], "times": [1]})
    grown = pd.concat([nodes, new], ignore_index=True)
    found = fitted.predict_proba(grown, edges=pd.concat([edges, link], ignore_index=True))
    assert found.shape == (121, 4)
    change = np.abs(found[:120] - fitted.predict_proba()).max(axis=1)
    assert 0 < change.max() < 0.2
    assert np.median(change) < 0.01


def test_without_attention_only_the_neighbourhood_changes(
    tables: tuple[pd.DataFrame, pd.DataFrame],
) -> None:
    nodes, edges = tables
    fitted = NodeClassifier(**QUICK, attention="none").fit(nodes, "topic", edges=edges)
    new = nodes.iloc[[0]].assign(article="new")
    link = pd.DataFrame({"citing": ["new"], "cited": ["art-00000"], "times": [1]})
    graph = nx.from_pandas_edgelist(edges, "citing", "cited")
    far = [i for i, name in enumerate(nodes["article"])
           if not graph.has_node(name) or not nx.has_path(graph, name, "art-00000")]  # fmt: skip
    grown = pd.concat([nodes, new], ignore_index=True), pd.concat([edges, link], ignore_index=True)
    found = fitted.predict_proba(grown[0], edges=grown[1])
    assert len(far) > 50
    assert np.allclose(found[far], fitted.predict_proba()[far], atol=1e-6)


def test_a_missing_column(
    fitted: NodeClassifier, tables: tuple[pd.DataFrame, pd.DataFrame]
) -> None:
    with pytest.raises(ValueError, match="columns that the nodes' table lacks: pages, place; its"):
        fitted.predict(tables[0].drop(columns=["pages", "place"]), edges=tables[1])


def test_places_mean_nothing_in_a_graph_of_strangers(
    tables: tuple[pd.DataFrame, pd.DataFrame],
) -> None:
    nodes, edges = tables
    fitted = NodeClassifier(**QUICK, no_features="random-walk").fit(nodes, "topic", edges=edges)
    assert fitted.predict(nodes.head(60), edges=edges).shape == (60,)
    strangers = nodes.assign(article="x" + nodes["article"])
    links = edges.assign(citing="x" + edges["citing"], cited="x" + edges["cited"])
    with pytest.raises(ValueError, match="has no node of the one the model was trained on: train"):
        fitted.predict(strangers, edges=links)
    structural = NodeClassifier(**QUICK, no_features="structural").fit(nodes, "topic", edges=edges)
    found = structural.predict_proba(strangers, edges=links)
    assert np.allclose(found, structural.predict_proba(), atol=1e-5)


# --- settings


def test_attention_is_exact_for_graphs_that_are_small_enough(
    tiny_graph: Data, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert NodeClassifier(**QUICK).fit(tiny_graph).arguments_["attention"] == "exact"
    monkeypatch.setitem(EXACT_UP_TO, "cpu", 59)
    assert NodeClassifier(**QUICK).fit(tiny_graph).arguments_["attention"] == "none"
    insists = NodeClassifier(**QUICK, attention="exact").fit(tiny_graph)
    assert insists.arguments_["attention"] == "exact"


def test_the_member_that_validates_best_is_kept(tiny_graph: Data) -> None:
    alone = [NodeClassifier("gcn", **QUICK, random_state=s).fit(tiny_graph).result_ for s in (5, 6)]
    best = max(alone, key=lambda result: (result.val, -result.val_loss))
    kept = NodeClassifier("gcn", **QUICK, random_state=5, members=2).fit(tiny_graph)
    assert kept.result_.seed == best.seed
    assert kept.metrics_["val_accuracy"] == best.val


def test_metrics_are_plain_data(fitted: NodeClassifier) -> None:
    metrics = json.loads(json.dumps(fitted.metrics_, allow_nan=False))
    assert metrics == fitted.metrics_
    assert metrics["data"]["nodes"] == 120
    assert 1 <= metrics["best_epoch"] <= metrics["epochs"] <= 4


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": "bagcn"}, "unknown model 'bagcn'; did you mean"),
        ({"device": "gpu"}, "expected a device like auto, cpu or cuda, got 'gpu'"),
        ({"no_features": "walk"}, "unknown kind of features 'walk'"),
        ({"train_share": 1.5}, "expected shares with train > 0"),
        ({"lr": -1}, "lr must be above 0, got -1"),
        ({"epochs": 0}, "epochs must be at least 1, got 0"),
        ({"members": 0}, "members must be at least 1, got 0"),
        ({"hidden_channels": 0}, "hidden_channels must be at least 1, got 0"),
    ],
)
def test_settings_that_cannot_be(
    settings: dict[str, Any], message: str, tables: tuple[pd.DataFrame, pd.DataFrame]
) -> None:
    with pytest.raises(ValueError, match=message):
        NodeClassifier(**settings).fit(tables[0], "topic", edges=tables[1])


def test_how_the_two_kinds_of_prediction_differ_is_documented() -> None:
    text = str(NodeClassifier.__doc__)
    assert "*transductive*" in text
    assert "*inductive*" in text


def test_save_and_load_are_methods(fitted: NodeClassifier, tmp_path: Path) -> None:
    fitted.save(tmp_path / "model")
    assert NodeClassifier.load(tmp_path / "model").predict().tolist() == fitted.predict().tolist()
