"""Where a run took place: hardware, versions, commit."""

from __future__ import annotations

import os
import platform
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch

__all__ = ["commit", "hardware", "versions"]


@cache
def versions() -> dict[str, str]:
    """Return the versions of what computes."""
    found = {"python": platform.python_version()}
    for package in ("torch", "torch-geometric", "numpy", "scipy", "scikit-learn"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


@cache
def commit() -> str:
    """Return the commit of the checkout that this package runs from, if it is one."""
    told = os.environ.get("BAGCN_COMMIT", "")
    if told:
        return told
    here = Path(__file__).parent
    command = ["git", "-C", str(here), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        tracked = subprocess.run(
            ["git", "-C", str(here), "ls-files", "--error-unmatch", __file__],
            capture_output=True,
            timeout=10,
        )
        if tracked.returncode:
            return ""
        done = subprocess.run(command, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def hardware(device: torch.device | str) -> dict[str, Any]:
    """Return what the device is."""
    if torch.device(device).type == "cuda":
        return {"device": "cuda", "name": torch.cuda.get_device_name(device)}
    return {"device": "cpu", "name": _processor(), "cores": os.cpu_count()}


@cache
def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
