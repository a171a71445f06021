"""Several members of one model as one computation: their parameters stacked, the graph shared.

M members, N nodes, C classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap
from torch.utils import _pytree as pytree

from bagcn.ops import cross_entropy, random_stream, stream_key
from bagcn.training.task import Task

__all__ = ["Stack"]

Tensors = dict[str, Tensor]
Build = Callable[[int, int], nn.Module]


class Stack:
    """M members of a model on one graph.

    A single member is computed without :func:`torch.vmap`, so that any module can be trained.

    Args:
        build: makes the model from the numbers of features and classes.
        task: the graph; prepared here once for all members.
        seeds: one a member: its initial parameters and its dropout masks.
        settings: arguments of the model that differ between members: name to M values. Every
            module with an attribute of that name reads the member's own value.
        device: where to compute.
    """

    def __init__(
        self,
        build: Build,
        task: Task,
        seeds: Sequence[int],
        settings: Mapping[str, Sequence[float]],
        device: torch.device,
    ) -> None:
        models = [_initialised(build, task, seed) for seed in seeds]
        self.size = len(models)
        self.parameters = _stacked([_trained(model) for model in models], device)
        self.buffers = _stacked([_untrained(model) for model in models], device)
        for parameter in self.parameters.values():
            parameter.requires_grad_()
        model = models[0].to(device)
        self.embeds = hasattr(model, "embed")
        x, graph = task.prepared_for(model, device)
        self.program = _Program(model, x, graph, task.y.to(device))
        self.seeds = torch.tensor([_signed(seed) for seed in seeds], dtype=torch.int32).to(device)
        self.settings = {n: torch.tensor(v).to(device) for n, v in settings.items()}
        for name in settings:
            if not any(name in vars(module) for module in model.modules()):
                raise ValueError(
                    f"{name} cannot differ between members: no part of "
                    f"{type(model).__name__} keeps it as an attribute"
                )

    def narrow(self, keep: Tensor) -> None:
        """Go on with these members only; ``keep`` holds their positions."""
        self.size = len(keep)
        self.parameters = {
            name: parameter.detach()[keep].requires_grad_()
            for name, parameter in self.parameters.items()
        }
        self.buffers = {name: tensor[keep] for name, tensor in self.buffers.items()}
        self.settings = {name: tensor[keep] for name, tensor in self.settings.items()}
        self.seeds = self.seeds[keep]

    def losses(self, labelled: Tensor, epoch: Tensor) -> Tensor:
        """Return the training loss of every member, (M,); ``labelled`` is (M, N)."""

        def loss(parameters: Tensors, buffers: Tensors, *own: Any) -> Tensor:
            seed, mask, settings = own
            with random_stream(stream_key(seed, epoch)):
                return self._run(parameters, buffers, settings, mask, epoch)

        self.program.train()
        own = (self.seeds, labelled, self.settings)
        return self._each(loss, self.parameters, self.buffers, *own)

    @torch.no_grad()
    def logits(self, parameters: Tensors, buffers: Tensors) -> Tensor:
        """Return the predictions of every member with these weights, (M, N, C)."""
        self.program.eval()
        return self._each(self._run, parameters, buffers, self.settings)

    @torch.no_grad()
    def embeddings(self) -> Tensor:
        """Return the embeddings of every member of a model that has them, (M, N, D)."""
        self.program.eval()
        run = partial(self._run, embed=True)
        return self._each(run, self.parameters, self.buffers, self.settings)

    def _run(
        self,
        parameters: Tensors,
        buffers: Tensors,
        settings: Tensors,
        *args: Any,
        embed: bool = False,
    ) -> Tensor:
        """Call the model as one member."""
        tensors = {f"model.{name}": tensor for name, tensor in (parameters | buffers).items()}
        with _overridden(self.program.model, settings):
            out: Tensor = functional_call(
                self.program, tensors, args, {"embed": embed}, strict=True
            )
        return out

    def _each(self, function: Callable[..., Tensor], *args: Any) -> Tensor:
        """Call the function for every member with its own slices of everything."""
        if self.size == 1:
            return function(*pytree.tree_map(lambda tensor: tensor[0], args))[None]
        each: Tensor = vmap(function, randomness="different")(*args)
        return each


class _Program(nn.Module):
    """A model with its graph: the objective while training, predictions or embeddings otherwise."""

    def __init__(self, model: nn.Module, x: Any, graph: Any, y: Tensor) -> None:
        super().__init__()
        self.model = model
        self._fixed = (x, graph, y)

    def forward(self, *step: Tensor, embed: bool = False) -> Tensor:
        x, graph, y = self._fixed
        if embed:
            return self.model.embed(x, graph)  # type: ignore[no-any-return, operator]
        if not step:
            return self.model(x, graph)  # type: ignore[no-any-return]
        labelled, epoch = step
        objective = getattr(self.model, "objective", None)
        if objective is None:
            return cross_entropy(self.model(x, graph), y, labelled)
        return objective(x, graph, y, labelled, epoch)  # type: ignore[no-any-return]


@contextmanager
def _overridden(model: nn.Module, settings: Tensors) -> Iterator[None]:
    """Let the model's modules read these values in place of their own attributes."""
    own = [
        (module, name, getattr(module, name))
        for name in settings
        for module in model.modules()
        if name in vars(module)  # where parameters and modules are not
    ]
    for module, name, _ in own:
        setattr(module, name, settings[name])
    try:
        yield
    finally:
        for module, name, value in own:
            setattr(module, name, value)


def _initialised(build: Build, task: Task, seed: int) -> nn.Module:
    """Build the model with the seed's initial parameters, the same on every device."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return build(task.num_features, task.num_classes)


def _trained(model: nn.Module) -> Tensors:
    return {name: p for name, p in model.named_parameters() if p.requires_grad}


def _untrained(model: nn.Module) -> Tensors:
    fixed = {name: p for name, p in model.named_parameters() if not p.requires_grad}
    return fixed | dict(model.named_buffers())


def _stacked(members: list[Tensors], device: torch.device) -> Tensors:
    return {
        name: torch.stack([member[name].detach() for member in members]).to(device)
        for name in members[0]
    }


def _signed(seed: int) -> int:
    """Fold a seed of any size into a signed 32-bit integer."""
    return (seed ^ seed >> 32) % 2**32 - 2**31
