"""``bagcn train``: a benchmark data set, or tables of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from bagcn.cli.machine import machine_of, machine_options
from bagcn.cli.own import table_options

__all__ = ["train"]

BOTH = {"model", "seeds", "settings", "device", "precision", "out", "quiet"}
BENCHMARK = {
    "dataset", "variant", "recipe", "deterministic", "data_dir", "offline", "workers",
    "max_memory", "split", "resume", "checkpoint_every", "force", "as_json",
}  # fmt: skip


class _Grouped(click.Command):
    """Shows the options of the two uses apart."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what both uses take, then what only one of them does."""
        titles = ("Options", "Options for a benchmark", "Options for your own tables")
        parts: dict[str, list[tuple[str, str]]] = {title: [] for title in titles}
        for param in self.get_params(ctx):
            if isinstance(param, click.Option) and (record := param.get_help_record(ctx)):
                both = param.name in BOTH or param is self.get_help_option(ctx)
                place = 0 if both else 1 if param.name in BENCHMARK else 2
                parts[titles[place]].append(record)
        for title, records in parts.items():
            with formatter.section(title):
                formatter.write_dl(records)


@click.command(cls=_Grouped)
@click.argument("dataset", required=False)
@click.option("--model", default="bagcn-add", show_default=True, help="See bagcn models.")
@click.option("--seeds", default="1", show_default=True, help="How many, or which: 5, 3..7, 1,4.")
@click.option(
    "--set", "settings", metavar="KEY=VALUE", multiple=True, help="Change a setting; repeatable."
)
@click.option("--out", metavar="DIR", help="Default: runs/DATASET; for tables: model.")
@machine_options
@click.option(
    "--precision",
    type=click.Choice(["auto", "fp32", "bf16"]),
    default="auto",
    help="Of attention's products; auto is bf16 on a GPU.",
)
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
@click.option("--variant", default="official", show_default=True, help="official, tuned or best.")
@click.option("--recipe", metavar="FILE", help="A recipe file of your own.")
@click.option("--split", metavar="NAME", help="public, per-class:20/30, random:0.6/0.2, …")
@click.option("--resume", is_flag=True, help="Continue unfinished runs from their checkpoints.")
@click.option(
    "--checkpoint-every",
    type=click.IntRange(0),
    default=50,
    show_default=True,
    help="Epochs between checkpoints; 0 keeps none.",
)
@click.option("--force", is_flag=True, help="Run again what is stored already.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@table_options
@click.pass_context
def train(ctx: click.Context, /, **options: Any) -> None:
    """Train on a benchmark DATASET (cora if none is named), or on your own tables.

    Of a benchmark, every seed is a run: its record and the learning curves go into --out, and a
    run that is there already is not run again. Of your own tables, one model comes out, as a
    folder for bagcn predict, explain and evaluate.

    \b
    Examples:
      bagcn train cora --seeds 5
      bagcn train citeseer --model gcn --seeds 0..19 --set lr=0.02 --out runs/gcn
      bagcn train pubmed --seeds 20 --resume --json > pubmed.json
      bagcn train --nodes nodes.csv --edges edges.csv --label topic --predictions topics.csv
    """
    from bagcn.study.values import parse_settings

    tables = bool(options["nodes"] or options["edges"])
    _refuse_others(ctx, tables)
    settings = parse_settings(options.pop("settings"))
    if (precision := options.pop("precision")) != "auto":
        settings["precision"] = precision
    if tables:
        _on_tables(options, settings)
    else:
        _on_benchmark(options, settings)


def _refuse_others(ctx: click.Context, tables: bool) -> None:
    """Refuse what was given but belongs to the other kind of training."""
    for parameter in ctx.command.params:
        name = parameter.name or ""
        given = ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if not given or name in BOTH or (name in BENCHMARK) != tables:
            continue
        if name == "dataset":
            raise ValueError(
                f"either a benchmark data set ({ctx.params[name]}) or tables of your own "
                "(--nodes, --edges), not both"
            )
        shown = "/".join((*parameter.opts, *parameter.secondary_opts))
        if tables:
            raise ValueError(f"{shown} is for benchmark data sets, not for tables of your own")
        raise ValueError(f"{shown} is for tables of your own: give --nodes and --edges as well")


def _on_benchmark(options: dict[str, Any], settings: dict[str, Any]) -> None:
    from bagcn.cli.benchmark import Benchmark
    from bagcn.study.recipe import load_recipe
    from bagcn.study.seeds import parse_seeds
    from bagcn.training import Checkpoint

    dataset = options["dataset"] or "cora"
    if Path(dataset).is_file():
        raise ValueError(f"{dataset} is a file: give tables of your own as --nodes and --edges")
    seeds = parse_seeds(options["seeds"])
    path = Path(options["recipe"]) if options["recipe"] else None
    recipe = load_recipe(options["model"], dataset, options["variant"], path)
    if options["split"]:
        settings["split"] = options["split"]
    out, every = Path(options["out"] or f"runs/{dataset}"), options["checkpoint_every"]
    if options["resume"] and not every:
        raise ValueError("--resume needs checkpoints: leave --checkpoint-every above 0")
    folder = out / "checkpoints"
    Benchmark(
        recipe,
        settings,
        seeds,
        machine_of(options),
        out,
        checkpoint=Checkpoint(folder, every, resume=options["resume"]) if every else None,
        force=options["force"],
        as_json=options["as_json"],
        quiet=options["quiet"],
    ).train()


def _on_tables(options: dict[str, Any], settings: dict[str, Any]) -> None:
    from bagcn.cli.own import train_tables
    from bagcn.study.seeds import parse_seeds

    seeds = parse_seeds(options.pop("seeds"))
    if len(seeds) > 1:
        raise ValueError(
            f"one model is trained on tables of your own, not {len(seeds)}: "
            "name one seed, like --seeds 7..7"
        )
    others = {name: value for name, value in options.items() if name not in BENCHMARK}
    others["out"] = others["out"] or "model"
    train_tables(**others, seed=seeds[0], settings=settings)
