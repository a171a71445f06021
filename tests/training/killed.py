"""A training process that will be killed: ``python killed.py FILE EPOCHS [torn]``.

It tells every epoch that is done. With ``torn`` it kills itself in the middle of writing its
third checkpoint.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from bagcn.training import Checkpoint, Member, Result, TrainSettings, train
from training.plain import bagcn, graph

SETTINGS = {"lr": 0.01, "ema": 0.5}


def trained(file: Path | None, epochs: int, **options: Any) -> Result:
    """Train the model of these tests, with a checkpoint after every third epoch."""
    task, split = graph()
    return train(
        bagcn(warmup=20),
        task,
        [Member(5, split, {"weight_decay": 1e-3})],
        TrainSettings(epochs=epochs, **SETTINGS),
        checkpoint=file and Checkpoint(file, every=3, identity="killed", resume=True),
        keep_weights=True,
        **options,
    )[0]


def _tear_the_third() -> None:
    import safetensors.torch

    save, saved = safetensors.torch.save_file, 0

    def torn(tensors: Any, partial: Path, metadata: Any) -> None:
        nonlocal saved
        save(tensors, partial, metadata)
        saved += 1
        if saved == 3:
            partial.write_bytes(partial.read_bytes()[:2_000])
            os.kill(os.getpid(), signal.SIGKILL)

    safetensors.torch.save_file = torn


def _tell(epoch: int) -> None:
    sys.stdout.write(f"{epoch}\n")
    sys.stdout.flush()
    time.sleep(0.01)  # so that there is time to kill it


if __name__ == "__main__":
    if "torn" in sys.argv:
        _tear_the_third()
    trained(Path(sys.argv[1]), int(sys.argv[2]), on_epoch=_tell)
