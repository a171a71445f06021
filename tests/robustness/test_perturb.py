from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path

import pytest
import torch

from bagcn.data import load
from bagcn.robustness.noise import add_feature_noise, mask_features
from bagcn.robustness.perturb import KINDS, Perturbation
from bagcn.study.recipe import Recipe, load_recipe
from bagcn.study.runner import Machine, graph, planned, run
from bagcn.study.store import Store
from bagcn.training import TrainSettings

MACHINE = Machine("cpu", workers=1)


def test_names_are_read_and_written_in_one_way() -> None:
    assert Perturbation.parse("add-edges:0.5:1") == Perturbation("add-edges", 0.5, 1)
    assert str(Perturbation.parse("feature-noise:1.50:03")) == "feature-noise:1.5:3"
    assert str(Perturbation.parse("nettack:3.0")) == "nettack:3"
    for kind in KINDS:
        text = str(Perturbation(kind, 0.05, 2))
        again = Perturbation.parse(text)
        assert (again.kind, again.level) == (kind, 0.05)
        assert str(again) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("add-edge:0.5:1", "did you mean 'add-edges'"),
        ("add-edges:0.5", r"'add-edges:0.5'; expected add-edges:LEVEL:DRAW"),
        ("add-edges:much:1", "expected add-edges:LEVEL:DRAW"),
        ("add-edges:-1:1", "expected add-edges:LEVEL:DRAW"),
        ("metattack:0.05:1", "expected metattack:LEVEL$"),
        ("metattack", "expected metattack:LEVEL$"),
    ],
)
def test_other_names_are_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Perturbation.parse(text)


def test_a_recipe_without_a_perturbation_keeps_its_hash() -> None:
    recipe = Recipe("gcn", "cora", "official", "public", "row", arguments={"dropout": 0.5})
    settings = {
        "model": "gcn",
        "dataset": "cora",
        "split": "public",
        "scaling": "row",
        "train": asdict(TrainSettings()),
        "arguments": {"dropout": 0.5},
    }
    text = json.dumps(settings, sort_keys=True)
    assert recipe.hash == hashlib.sha256(text.encode()).hexdigest()[:10]


def test_a_perturbation_is_a_setting() -> None:
    recipe = load_recipe("gcn", "cora")
    assert "graph" not in recipe.settings()
    noisy = recipe.changed({"graph": "add-edges:0.50:1"})
    assert noisy.settings() == {**recipe.settings(), "graph": "add-edges:0.5:1"}
    assert noisy.hash != recipe.hash
    assert noisy.changed({"graph": ""}).hash == recipe.hash
    assert noisy.hash == recipe.changed({"graph": "add-edges:.5:1"}).hash


def test_every_level_and_draw_is_a_run_of_its_own() -> None:
    names = ["", "add-edges:0.5:0", "add-edges:0.5:1", "add-edges:0.25:0", "remove-edges:0.5:0"]
    recipe = load_recipe("gcn", "cora")
    runs = [planned(recipe.changed({"graph": name}), [0], MACHINE)[0] for name in names]
    assert len({run.id for run in runs}) == len(names)
    assert len({run.split.hash for run in runs}) == 1


def test_the_model_trains_on_the_perturbed_edges() -> None:
    clean = load("cora")
    data, task = graph(load_recipe("gcn", "cora").changed({"graph": "add-edges:0.1:0"}), MACHINE)
    assert task.edge_index is data.edge_index
    assert task.edge_index.shape[1] == clean.num_edges + 2 * 527
    _, task = graph(load_recipe("gcn", "cora").changed({"graph": "remove-edges:1:0"}), MACHINE)
    assert task.edge_index.shape[1] == 0
    assert graph(load_recipe("gcn", "cora"), MACHINE)[0].num_edges == clean.num_edges


def test_feature_damage_comes_after_the_scaling() -> None:
    recipe = load_recipe("gcn", "cora")
    _, clean = graph(recipe, MACHINE)
    assert isinstance(clean.x, torch.Tensor)
    _, noisy = graph(recipe.changed({"graph": "feature-noise:0.5:3"}), MACHINE)
    assert isinstance(noisy.x, torch.Tensor)
    assert torch.equal(noisy.x, add_feature_noise(clean.x, 0.5, 3))
    _, masked = graph(recipe.changed({"graph": "feature-mask:0.4:3"}), MACHINE)
    assert isinstance(masked.x, torch.Tensor)
    assert torch.equal(masked.x.to_dense(), mask_features(clean.x, 0.4, 3).to_dense())
    assert torch.equal(masked.edge_index, clean.edge_index)


def test_cutting_all_edges_and_masking_all_features_leaves_a_guess(tmp_path: Path) -> None:
    recipe = load_recipe("gcn", "cora")  # all its epochs: after 40 of 200 it is far from done
    store = Store(tmp_path)
    tests = {}
    for name in ("", "remove-edges:1:0", "feature-mask:1:0"):
        (record,) = run(recipe.changed({"graph": name}), [0], store, MACHINE)
        tests[name] = record["test"]
        assert record["settings"].get("graph", "") == name
    assert tests[""] > 0.79
    assert 0.4 < tests["remove-edges:1:0"] < 0.65  # what a perceptron gets
    assert tests["feature-mask:1:0"] < 0.35  # a class's share
    assert len(list(store)) == 3
    assert len(list(run(recipe, [0], store, MACHINE))) == 1
    assert len(list(store)) == 3


@pytest.mark.usefixtures("attacked_graphs")
def test_an_attacked_graph_brings_its_split() -> None:
    recipe = load_recipe("gcn", "cora").changed({"graph": "metattack:0.05"})
    assert recipe.split == "prognn"
    (planned_run,) = planned(recipe, [5], MACHINE)
    assert (planned_run.split.name, len(planned_run.split.test)) == ("prognn", 1_988)
    _, task = graph(recipe, MACHINE)
    assert (task.num_nodes, task.edge_index.shape[1]) == (2_485, 2 * 5_322)
    (targets,) = planned(recipe.changed({"graph": "nettack:2"}), [5], MACHINE)
    assert len(targets.split.test) == 83


def test_no_other_graph_has_this_split() -> None:
    recipe = load_recipe("gcn", "cora").changed({"split": "prognn"})
    with pytest.raises(ValueError, match="cora has no split 'prognn'"):
        planned(recipe, [0], MACHINE)
