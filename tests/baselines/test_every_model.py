"""A test of the tests: every model passes the common checks, and what its card says is so."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
from torch_geometric.data import Data

from bagcn.baselines import MODELS as BASELINES
from bagcn.data import DATASETS
from bagcn.study.models import MODELS, argument_names, build_model
from bagcn.study.recipe import load_recipe, paper_value, recipe_file, search_space
from bagcn.study.space import Choice, parse_space
from bagcn.training import Member, Task, train
from battery import check_all, split_of

TESTS = Path(__file__).parents[1]
SMALL: dict[str, dict[str, Any]] = {"cobformer": {"clusters": 7}, "gcn-sdrf": {"iterations": 5}}
CHECKS: dict[str, dict[str, Any]] = {
    "cobformer": {"equivariant": False},  # ties between clusters are broken by the nodes' numbers
    "gcn-sdrf": {"equivariant": False},  # edges are drawn by their place
    "polynormer": {"epochs": (-1, 100)},  # one in each of its stages
}

every_model = pytest.mark.parametrize("name", MODELS)
every_baseline = pytest.mark.parametrize("name", BASELINES)


@every_model
def test_battery(name: str) -> None:
    arguments = SMALL.get(name, {})
    if "hidden_channels" in argument_names(name):
        arguments = {"hidden_channels": 8, **arguments}
    check_all(
        lambda f, c: build_model(name, arguments, f, c),
        vectorised=MODELS[name].vectorised,
        **CHECKS.get(name, {}),
    )


@every_model
def test_card_is_kept(name: str) -> None:
    """Whatever the card says the model was held against occurs in the model's own test file."""
    card = MODELS[name]
    assert all((card.title, card.paper, card.written, card.checked))
    _, room, stem = card.model.__module__.split(".")
    own = imports(TESTS / room / f"test_{stem}.py")
    assert own & {f"bagcn.{room}.{stem}.{card.model.__name__}", f"bagcn.{room}.BAGCN"}
    foreign = any(known.startswith("torch_geometric") for known in own)
    assert foreign or "PyTorch Geometric" not in card.checked
    record = TESTS / "baselines" / "recorded" / f"{stem}.json"
    said = "recorded" in card.checked.lower()
    assert record.exists() == said == ("fixed.recorded" in own)


def imports(file: Path) -> set[str]:
    """Return the full names of all that the file imports."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return names


def test_every_model_has_a_recipe() -> None:
    recipes = {path.stem for path in recipe_file("gcn").parent.glob("*.toml")}
    assert BASELINES.keys() <= recipes <= MODELS.keys()


@every_baseline
def test_recipe_names_its_sources(name: str) -> None:
    for dataset in DATASETS:
        recipe = load_recipe(name, dataset)
        assert len(recipe.source) > 20
        if recipe.published:
            assert recipe.published.keys() <= {"value", "sd", "where"}
            assert 0 < recipe.published["value"] < 100
            assert recipe.published["where"]
        assert (value := paper_value(name, dataset)) is None or 0 < value[0] < 100


@every_baseline
def test_tuning_starts_from_the_recipe(name: str) -> None:
    """Tuned settings are never worse on validation: the official ones are within the space."""
    for dataset in DATASETS:
        recipe = load_recipe(name, dataset)
        start = {**recipe.settings()["train"], **recipe.arguments}
        for key, dimension in parse_space(search_space(name)).items():
            if isinstance(dimension, Choice):
                assert start[key] in dimension.values, (dataset, key)
            else:
                assert dimension.low <= start[key] <= dimension.high, (dataset, key)


@every_baseline
def test_recipe_trains(name: str, tiny_graph: Data) -> None:
    """Every distinct recipe of the model trains two epochs on a toy graph."""
    task, member = Task.from_data(tiny_graph), Member(0, split_of(tiny_graph))
    seen: set[str] = set()
    for dataset in DATASETS:
        recipe = load_recipe(name, dataset)
        if (key := repr((recipe.train, recipe.arguments))) in seen:
            continue
        seen.add(key)
        short = recipe.changed({"epochs": 2}).train
        result = train(recipe.build, task, [member], short)[0].check()
        assert result.epochs == 2
