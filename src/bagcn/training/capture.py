"""A training step on the GPU as a CUDA graph."""

from __future__ import annotations

import logging
from collections.abc import Callable

import torch

__all__ = ["Captured", "current"]

logger = logging.getLogger(__name__)

EAGER_STEPS = 3  # they fill the allocator's pools and every cache, as a capture needs


def current(device: torch.device) -> torch.cuda.device:
    """Make a GPU the current one for a block: streams and graphs are of that; a CPU is no GPU."""
    return torch.cuda.device(device if device.type == "cuda" else -1)


class Captured:
    """A step on the current GPU that runs eagerly at first and is then replayed from a CUDA graph.

    Small graphs spend most of an epoch launching kernels; a replay launches all of them at once.
    A step that cannot be captured goes on eagerly.
    """

    def __init__(self, step: Callable[[], None]) -> None:
        self._step, self._calls = step, 0
        self._stream: torch.cuda.Stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        self._graph: torch.cuda.CUDAGraph | None = None

    def __call__(self) -> None:
        """Take the step."""
        if self._calls == EAGER_STEPS:
            self._capture()
        self._calls += 1
        if self._graph is None:
            self._eagerly()
        else:
            self._graph.replay()

    def _eagerly(self) -> None:
        self._stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self._stream):
            self._step()
        torch.cuda.current_stream().wait_stream(self._stream)

    def _capture(self) -> None:
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph, stream=self._stream):
                self._step()
        except RuntimeError as error:
            logger.warning("the epochs run eagerly, not as a CUDA graph: %s", error)
            return
        self._graph = graph
