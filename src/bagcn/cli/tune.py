"""``bagcn tune``: search a recipe's space on validation accuracy, and write a recipe."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bagcn.cli.machine import machine_of, machine_options
from bagcn.cli.progress import Steps, steps

if TYPE_CHECKING:
    from bagcn.study.recipe import Recipe

__all__ = ["tune"]


@click.command()
@click.argument("model")
@click.argument("datasets", nargs=-1, required=True, metavar="DATASET...")
@click.option(
    "--trials", type=click.IntRange(1), default=30, show_default=True, help="Settings to try."
)
@click.option(
    "--seeds", type=click.IntRange(1), default=3, show_default=True, help="Runs of each trial."
)
@click.option(
    "--halving",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="After each seed, one in so many trials of a batch goes on; 1 keeps all.",
)
@click.option(
    "--batch",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    help="Trials that are proposed, and trained, together.",
)
@click.option(
    "--space",
    metavar="FILE",
    help="A TOML file with a [space] table; default: the recipe's.",
)
@click.option(
    "--variant",
    type=click.Choice(["official", "tuned"]),
    default="official",
    show_default=True,
    help="Of the recipe to start from.",
)
@click.option(
    "--recipes",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False),
    help="Recipe files of your own come first.",
)
@click.option(
    "--set", "settings", metavar="KEY=VALUE", multiple=True, help="Fix a setting; repeatable."
)
@click.option(
    "--out",
    metavar="DIR",
    default="runs/tune",
    show_default=True,
    help="For MODEL.toml and the trials.",
)
@machine_options
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
def tune(**options: Any) -> None:
    """Search settings of MODEL for every DATASET, and write them as its tuned recipe.

    A trial counts by its mean validation accuracy; test nodes are never looked at, and the seeds
    are none that bagcn bench reports. The recipe as it is is the first trial. Trials are kept in
    --out: the same command continues an interrupted search.

    \b
    Examples:
      bagcn tune gcn cora citeseer
      bagcn tune bagcn-add photo --trials 60 --halving 2 --out runs/tune
      bagcn bench gcn --variant tuned --recipes runs/tune
    """
    from bagcn.study.bench import recipe_in
    from bagcn.study.recipe import load_recipe
    from bagcn.study.values import parse_settings

    folder = Path(options["recipes"]) if options["recipes"] else None
    changes = parse_settings(options["settings"])
    model, variant = options["model"], options["variant"]
    recipes = [
        load_recipe(model, dataset, variant, recipe_in(folder, model))
        .changed(changes)
        .checked(changes)
        for dataset in dict.fromkeys(options["datasets"])
    ]
    with steps(options["trials"] * len(recipes), "trials", options["quiet"]) as progress:
        for recipe in recipes:
            progress.begin(f"{recipe.model} on {recipe.dataset}", options["trials"])
            _tune(recipe, options, progress)
    if not options["quiet"]:
        click.echo(f"recipe:   {Path(options['out'], f'{model}.toml')}")
        click.echo(f"see bagcn bench {model} --variant tuned --recipes {options['out']}")


def _tune(recipe: Recipe, options: dict[str, Any], progress: Steps) -> None:
    """Search for one data set and write its recipe."""
    from bagcn.study.recipe import search_space
    from bagcn.study.space import parse_space
    from bagcn.study.tune import Budget, provenance, tune
    from bagcn.study.values import parse_settings
    from bagcn.study.write import put_tuned

    file, out = options["space"], Path(options["out"])
    fixed = parse_settings(options["settings"])
    declared = parse_space(search_space(recipe.model, Path(file) if file else None))
    space = {name: dimension for name, dimension in declared.items() if name not in fixed}
    budget = Budget(options["trials"], options["seeds"], options["batch"], options["halving"])
    found = tune(
        recipe,
        space,
        budget,
        machine_of(options),
        out / "trials" / f"{recipe.model}.{recipe.dataset}.log",
        lambda done, best: progress.at(done),
    )
    source = provenance(found, space)
    put_tuned(out / f"{recipe.model}.toml", found.recipe, source)
    progress.end(source)
