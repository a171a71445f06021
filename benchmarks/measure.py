"""Time and memory of a function, and where the result of a benchmark is written."""

from __future__ import annotations

import gc
import json
import resource
import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

from bagcn.study.environment import commit, hardware, versions

RESULTS = Path(__file__).parent / "results"


def timed(step: Callable[[], Any], device: torch.device, repeats: int, warmup: int = 5) -> float:
    """Return the median seconds of a step."""
    for _ in range(warmup):
        step()
    seconds = []
    for _ in range(repeats):
        _wait(device)
        start = time.perf_counter()
        step()
        _wait(device)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def forget_peak(device: torch.device) -> None:
    """Begin to look for the most GPU memory held; of a process's own memory there is one peak."""
    if device.type == "cuda":
        gc.collect()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats(device)


def peak_gib(device: torch.device) -> float:
    """Return the most memory held, in GiB: on the GPU since :func:`forget_peak`.

    A replayed CUDA graph allocates nothing, so the steps before its capture have to be among
    those that were looked at.
    """
    if device.type == "cpu":
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    torch.cuda.synchronize()
    return torch.cuda.max_memory_allocated(device) / 2**30


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


def report(name: str, device: torch.device, numbers: dict[str, Any], out: Path | None) -> None:
    """Print the numbers, and append them to ``NAME.jsonl`` with date, hardware and versions."""
    for key, value in numbers.items():
        print(f"{name:12} {key:42} {value:.4g}" if isinstance(value, float) else f"{key} {value}")
    line = {
        "benchmark": name,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "hardware": hardware(device),
        "threads": torch.get_num_threads(),
        "versions": versions(),
        "commit": commit(),
        **numbers,
    }
    folder = out or RESULTS
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{name}.jsonl").open("a") as file:
        file.write(json.dumps(line) + "\n")
