"""Bring runs that were made elsewhere into the store."""

from __future__ import annotations

from pathlib import Path

from bagcn._folder import replaced_file
from bagcn.reproduce.definition import NAMES
from bagcn.study.store import Store

__all__ = ["merge_runs"]


def merge_runs(source: Path, store: Path) -> int:
    """Add the runs that ``python -m bagcn.reproduce`` wrote; return how many were new.

    Args:
        source: the folder with a file of records for each study.
        store: the folder of all run stores.
    """
    files = {store / name: source / f"{name}.jsonl" for name in NAMES}
    files |= {store / name / "attacks": source / f"{name}.attacks.jsonl" for name in NAMES}
    found = {target: file for target, file in files.items() if file.exists()}
    if not found:
        raise ValueError(
            f"{source} holds no runs of a study: expected the folder that "
            "python -m bagcn.reproduce was given as --out"
        )
    for file in sorted(source.glob("*/measures/*.json")):
        with replaced_file(store / file.relative_to(source)) as partial:
            partial.write_bytes(file.read_bytes())
    return sum(Store(target).merge(Store(file)) for target, file in found.items())
