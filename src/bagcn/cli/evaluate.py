"""``bagcn evaluate``: how good a trained model is, and what the graph brought."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

__all__ = ["evaluate"]


@click.command()
@click.argument("model", type=click.Path())
@click.option("--out", metavar="FOLDER", help="Write evaluation.json and evaluation.png there.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--device", default="auto", help="cpu, cuda, or auto.")
def evaluate(model: str, out: str | None, as_json: bool, device: str) -> None:
    """Measure the model in the folder MODEL on its test nodes, against simple baselines.

    The baselines learn from the same training nodes: always the majority class, a logistic
    regression on the features (no edges), and label propagation (no features).

    \b
    Example:
      bagcn evaluate model/ --out report/
    """
    from bagcn import evaluation
    from bagcn._folder import replaced_file
    from bagcn.bundle import load

    found = evaluation.evaluate(load(model, device))
    if out is not None:
        evaluation.picture(found, Path(out, "evaluation.png"))
        with replaced_file(Path(out, "evaluation.json")) as partial:
            partial.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")
    if as_json:
        click.echo(json.dumps(found, indent=1, ensure_ascii=False))
    else:
        _show(found)
    if out is not None:
        click.echo(f"evaluation.json and evaluation.png are in {out}", err=True)


def _show(found: dict[str, Any]) -> None:
    from rich.console import Console

    from bagcn.cli.own import print_rows

    console = Console(highlight=False, soft_wrap=True)
    console.print(
        f"On {found['nodes']:,} {'test' if found['part'] == 'test' else 'validation'} nodes: "
        f"accuracy [bold]{found['accuracy']:.1%}[/], macro-F1 [bold]{found['macro_f1']:.1%}[/], "
        f"calibration error {found['calibration_error']:.3f}."
    )
    rows = [{"method": "this model", **_both(found)}]
    rows += [{"method": name, **_both(row)} for name, row in found["baselines"].items()]
    print_rows(console, "Against simple baselines, on the same split", rows)
    print_rows(console, "Classes", found["per_class"])
    curve = found["reliability"]
    bins = zip(curve["confidence"], curve["accuracy"], curve["count"], strict=True)
    calibration = [{"confidence": c, "accuracy": a, "nodes": n} for c, a, n in bins]
    print_rows(console, "Calibration", calibration)
    confusion = [
        {"true \\ predicted": name, **dict(zip(found["classes"], row, strict=True))}
        for name, row in zip(found["classes"], found["confusion"], strict=True)
    ]
    if len(confusion) <= 12:
        print_rows(console, "Confusion", confusion)


def _both(row: dict[str, Any]) -> dict[str, str]:
    return {"accuracy": f"{row['accuracy']:.1%}", "macro-F1": f"{row['macro_f1']:.1%}"}
