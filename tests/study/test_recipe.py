"""Every recipe file: it parses, builds, trains two epochs, and what it searches takes effect."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from bagcn.data import DATASETS, make_split, scale_features
from bagcn.data.synthetic import synthetic_graph
from bagcn.study.models import MODELS, card_of
from bagcn.study.recipe import (
    VARIANTS,
    NoRecipeError,
    Recipe,
    load_recipe,
    paper_value,
    recipe_file,
    search_space,
)
from bagcn.study.runner import Machine, planned
from bagcn.study.space import Choice, Range, parse_space, space_text
from bagcn.study.write import put_tuned
from bagcn.training import Member, Result, Task, train

FILES = sorted(Path(str(files("bagcn") / "recipes")).glob("*.toml"))
TWO = {"epochs": 2, "patience": 0}


def recipes(model: str) -> list[Recipe]:
    """Return the recipes of all variants and data sets."""
    found = []
    for variant in VARIANTS:
        for dataset in DATASETS:
            try:
                found.append(load_recipe(model, dataset, variant))
            except NoRecipeError:
                assert variant == "tuned"
    return found


def toy_task(scaling: str) -> tuple[Any, Task]:
    data = synthetic_graph(160, num_classes=3, regions_per_class=1, num_features=9, seed=3)
    return data, Task(scale_features(data.x, scaling), data.edge_index, data.y)


def trained(recipe: Recipe, **own: float) -> Result:
    data, task = toy_task(recipe.scaling)
    split = make_split(recipe.split, data, 0)
    member = Member(0, split, own)
    return train(recipe.build, task, [member], recipe.changed(TWO).train)[0].check()


def distinct(found: list[Recipe]) -> list[Recipe]:
    """Leave out what differs in the data set alone: on the toy it would be the same run."""
    alike = {
        json.dumps({**r.settings(), "dataset": ""}, sort_keys=True, default=str): r for r in found
    }
    return list(alike.values())


def test_every_model_has_a_recipe_and_every_recipe_a_model() -> None:
    assert {file.stem for file in FILES} <= set(MODELS)
    assert {file.stem for file in FILES} >= {"bagcn-add", "bagcn-mul", "gcn", "gat", "mlp"}


@pytest.mark.parametrize("model", [file.stem for file in FILES])
def test_it_parses_builds_and_trains(model: str) -> None:
    found = recipes(model)
    assert len(found) >= len(DATASETS)
    for recipe in found:
        assert recipe.source, f"{recipe.dataset}, {recipe.variant}: no source of the settings"
        if recipe.published:
            assert 0 < recipe.published["value"] < 100
            assert recipe.published["where"]
    for recipe in distinct(found):
        result = trained(recipe)
        assert result.epochs == 2
        assert 0 <= result.test <= 1


@pytest.mark.parametrize("model", [file.stem for file in FILES])
def test_what_it_searches_is_there_to_be_set(model: str) -> None:
    """Every choice builds; every range is a number that members may differ in."""
    space = parse_space(search_space(model))
    assert space, "no space to search: the model cannot be tuned like the others"
    recipe = load_recipe(model, "cora")
    for name, dimension in space.items():
        if isinstance(dimension, Choice):
            for value in dimension.values:
                recipe.changed({name: value}).build(9, 3)
    middle = {n: (d.low + d.high) / 2 for n, d in space.items() if isinstance(d, Range)}
    assert trained(recipe, **middle).epochs == 2


def write(folder: Path, text: str) -> Path:
    file = folder / "gcn.toml"
    file.write_text(text, "utf-8")
    return file


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[oficial]", r"unknown table 'oficial'; did you mean 'official'\?"),
        ("[official]\nsplt = 'public'", r"unknown key of official 'splt'; did you mean 'split'\?"),
        ("[official.coar]", r"unknown key of official 'coar'; did you mean 'cora'\?"),
        (
            "[official.cora]\nmodle = {}",
            r"unknown key of official\.cora 'modle'; did you mean 'model'\?",
        ),
        (
            "[official]\ntrain = { weight_deacy = 0.1 }",
            r"unknown key of train 'weight_deacy'; did you mean 'weight_decay'\?",
        ),
        (
            "[official]\nmodel = { hidden_chanels = 8 }",
            r"unknown setting 'hidden_chanels'; did you mean 'hidden_channels'\?",
        ),
        ("[official]\nscaling = 'rwo'", r"unknown feature scaling 'rwo'; did you mean 'row'\?"),
        ("[official]\ntrain = { lr = 'fast' }", r"lr must be a number; got fast"),
        ("[official]\ntrain = { epochs = 1.5 }", r"epochs must be a whole number; got 1\.5"),
        ("[official]\ntrain = { lr = inf }", r"lr must be a number; got inf"),
        ("[official]\ntrain = { decay = 5 }", r"decay must be one of weights, first, all; got 5"),
        (
            "[official]\nmodel = { num_layers = 1.5 }",
            r"num_layers must be a whole number; got 1\.5",
        ),
        ("[official]\nmodel = { dropout = nan }", r"dropout must be a number; got nan"),
        ("[official]\nmodel = { bias = 'False' }", r"bias must be true or false; got False"),
        ("official = [", r"gcn\.toml is not valid TOML"),
    ],
)
def test_a_mistake_is_named_with_what_was_meant(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        load_recipe("gcn", "cora", path=write(tmp_path, text))


def test_whole_numbers_may_be_written_with_a_point() -> None:
    recipe = load_recipe("gcn", "cora")
    written = recipe.changed({"epochs": 3.0, "hidden_channels": 8.0})
    assert written.hash == recipe.changed({"epochs": 3, "hidden_channels": 8}).hash
    assert type(written.train.epochs) is int


def test_what_cannot_be_built_is_told_with_its_changes() -> None:
    changes = {"hidden_channels": 0}
    told = "cannot build bagcn-add with hidden_channels=0: "
    with pytest.raises(ValueError, match=told):
        load_recipe("bagcn-add", "cora").changed(changes).checked(changes)


def test_unknown_names() -> None:
    with pytest.raises(ValueError, match=r"unknown model 'gatt'; did you mean 'gat'\?"):
        load_recipe("gatt", "cora")
    with pytest.raises(ValueError, match=r"unknown data set 'coar'; did you mean 'cora'\?"):
        load_recipe("gcn", "coar")
    with pytest.raises(ValueError, match=r"unknown variant 'tunde'; did you mean 'tuned'\?"):
        load_recipe("gcn", "cora", "tunde")


def test_the_best_recipe_is_the_tuned_one_where_there_is_one(tmp_path: Path) -> None:
    text = "[official]\ntrain = { lr = 0.1 }\n[tuned.cora]\ntrain = { lr = 0.2 }\n"
    file = write(tmp_path, text)
    found = [load_recipe("gcn", name, "best", file) for name in ("cora", "citeseer")]
    assert [(r.variant, r.train.lr) for r in found] == [("tuned", 0.2), ("official", 0.1)]
    assert found[0].hash == load_recipe("gcn", "cora", "tuned", file).hash


def test_a_data_sets_table_stands_over_the_common_one(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        """
        [paper]
        cora = [81.7, 0.4]
        [official]
        source = "here"
        train = { epochs = 7, lr = 0.5 }
        model = { hidden_channels = 5, dropout = 0.1 }
        [official.cora]
        split = "random:0.5/0.2"
        train = { lr = 0.25 }
        model = { dropout = 0.2 }
        published = { value = 80.0, where = "a paper" }
        """,
    )
    cora, photo = (load_recipe("gcn", name, path=file) for name in ("cora", "photo"))
    assert (cora.train.epochs, cora.train.lr, cora.split) == (7, 0.25, "random:0.5/0.2")
    assert cora.arguments == {"hidden_channels": 5, "dropout": 0.2}
    assert cora.published == {"value": 80.0, "where": "a paper"}
    assert (photo.train.lr, photo.split, photo.published) == (0.5, "per-class", None)
    assert photo.arguments == {"hidden_channels": 5, "dropout": 0.1}
    with pytest.raises(NoRecipeError, match=r"gcn\.toml has no tuned settings of gcn for cora"):
        load_recipe("gcn", "cora", "tuned", file)
    with pytest.raises(NoRecipeError, match="there is no recipe file"):
        load_recipe("gcn", "cora", path=tmp_path / "none.toml")


def test_numbers_of_the_papers_tables() -> None:
    assert paper_value("bagcn-add", "cora") == (83.3, 0.2)
    assert paper_value("bagcn-add", "photo") == (92.35, 0.9)
    assert paper_value("bagcn-plus", "cora") is None


def test_the_hash_changes_with_every_setting() -> None:
    recipe = load_recipe("gcn", "cora")
    changes: list[dict[str, Any]] = [
        {"lr": 0.02},
        {"epochs": 201},
        {"decay": "all"},
        {"hidden_channels": 17},
        {"split": "per-class"},
        {"scaling": "none"},
        {"graph": "add-edges:0.5:1"},
    ]
    hashes = [recipe.changed(change).hash for change in changes]
    others = [load_recipe("gcn", "pubmed").hash, load_recipe("sgc", "cora").hash]
    assert len({recipe.hash, *hashes, *others}) == 1 + len(hashes) + len(others)
    assert recipe.changed({"lr": recipe.train.lr}).hash == recipe.hash
    assert load_recipe("gcn", "cora").hash == recipe.hash


def test_a_tuned_recipe_is_read_back_as_it_was_found(tmp_path: Path) -> None:
    file = tmp_path / "gcn.toml"
    found = [
        load_recipe("gcn", name).changed({"lr": lr, "dropout": 0.3125, "hidden_channels": 128})
        for name, lr in (("cora", 0.0123), ("photo", 0.00456))
    ]
    for recipe in found:
        put_tuned(file, recipe, 'tuned "here"')
    for recipe in found:
        again = load_recipe("gcn", recipe.dataset, "tuned", file)
        assert again.settings() == recipe.settings()
        assert (again.hash, again.source) == (recipe.hash, 'tuned "here"')
    better = found[0].changed({"lr": 0.02, "decay": {"layers.0": 1.0}})
    put_tuned(file, better, "tuned again")
    assert load_recipe("gcn", "cora", "tuned", file).hash == better.hash
    assert load_recipe("gcn", "photo", "tuned", file).hash == found[1].hash
    assert file.read_text("utf-8").count("[tuned.cora]") == 1


def test_tuned_settings_go_beside_the_official_ones(tmp_path: Path) -> None:
    file = tmp_path / "gcn.toml"
    file.write_text(recipe_file("gcn").read_text("utf-8"), "utf-8")
    before = load_recipe("gcn", "cora", path=file)
    put_tuned(file, before.changed({"lr": 0.5}), "here")
    assert load_recipe("gcn", "cora", path=file) == before
    assert load_recipe("gcn", "cora", "tuned", file).train.lr == 0.5


def test_what_is_not_searched_is_written_with_all_its_digits(tmp_path: Path) -> None:
    recipe = load_recipe("gcn", "cora").changed({"lr": 0.0123456, "weight_decay": 1e-05})
    put_tuned(tmp_path / "gcn.toml", recipe, "here")
    assert load_recipe("gcn", "cora", "tuned", tmp_path / "gcn.toml").hash == recipe.hash


COMMENTED = """\
# mine

[tuned.photo]  # not good yet
source = "by hand"
train = { lr = 0.1 }

# the next one needs
# fewer epochs
[ tuned.cora ]
train = { epochs = 9 }

# the end
"""


def test_comments_of_a_recipe_file_stay(tmp_path: Path) -> None:
    file = tmp_path / "gcn.toml"
    file.write_text(COMMENTED, "utf-8")
    recipe = load_recipe("gcn", "photo")
    for dataset in ("photo", "cora"):
        put_tuned(file, replace(recipe, dataset=dataset), "here")
    lines = file.read_text("utf-8").splitlines()
    assert [line for line in lines if not line or line.startswith(("#", "["))] == [
        *("# mine", "", "[tuned.photo]", "", "# the next one needs", "# fewer epochs"),
        *("[tuned.cora]", "", "# the end"),
    ]
    assert "by hand" not in file.read_text("utf-8")
    put_tuned(file, replace(recipe, dataset="pubmed"), "here")
    assert file.read_text("utf-8").splitlines()[: len(lines) + 2] == [*lines, "", "[tuned.pubmed]"]


@pytest.mark.parametrize(
    "text",
    [
        "[tuned]\ntrain = { patience = 7 }\n",
        "[tuned.cora.train]\nlr = 0.1\n",
        '[tuned."cora"]\ntrain = { lr = 0.1 }\n',
    ],
)
def test_a_file_that_would_say_something_else_is_left_as_it_is(tmp_path: Path, text: str) -> None:
    file = tmp_path / "gcn.toml"
    file.write_text(text, "utf-8")
    recipe = load_recipe("gcn", "cora").changed({"patience": 0})
    with pytest.raises(ValueError, match=r"gcn.toml would not be read as it is meant with a table"):
        put_tuned(file, recipe, "here")
    assert file.read_text("utf-8") == text
    assert list(tmp_path.iterdir()) == [file]


def test_spaces() -> None:
    space = parse_space(
        {
            "lr": {"low": 1e-3, "high": 0.1, "log": True},
            "width": [8, 16],
            "rate": {"low": 0, "high": 1},
        }
    )
    assert space == {"lr": Range(0.001, 0.1, True), "width": Choice((8, 16)), "rate": Range(0, 1)}
    assert space_text(space) == "lr 0.001..0.1 log, width 8|16, rate 0..1"
    for wrong in (3, [], {"low": 1}, {"low": 2, "high": 1}, {"low": 0, "high": 1, "log": True}):
        with pytest.raises(ValueError, match="cannot read the search space of lr"):
            parse_space({"lr": wrong})


def test_cards_and_splits_fit_together(toy: Path) -> None:
    """Of the toy data set, which has no recipe of its own, the common settings are used."""
    recipe = load_recipe("gcn", "toy")
    assert recipe.split == "per-class"
    runs = planned(recipe, [0, 1], Machine())
    assert runs[0].split.hash != runs[1].split.hash
    assert card_of(recipe.model).title == "GCN"
