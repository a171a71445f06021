"""The training loop, for one member or many.

M members, N nodes, C classes. Everything that changes lies in one dictionary of tensors which is
updated in place: so an epoch can be captured as a CUDA graph, and a checkpoint is that dictionary.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from bagcn.training.adam import adam_state, adam_step, decay_factors
from bagcn.training.capture import Captured, current
from bagcn.training.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from bagcn.training.member import Member, Result
from bagcn.training.memory import peak_memory
from bagcn.training.probe import fit_probe
from bagcn.training.selection import CURVES, Scores, note_epoch, selection_state
from bagcn.training.settings import TrainSettings
from bagcn.training.stack import Build, Stack
from bagcn.training.task import Task

__all__ = ["train"]

Tensors = dict[str, Tensor]
LOOK_EVERY = 25  # epochs: to look whether anyone still trains makes the host wait for the device


def train(
    build: Build,
    task: Task,
    members: Sequence[Member],
    settings: TrainSettings,
    *,
    device: torch.device | str = "cpu",
    on_epoch: Callable[[int], None] | None = None,
    checkpoint: Checkpoint | None = None,
    keep_weights: bool = False,
    capture: bool = True,
) -> list[Result]:
    """Train the members together, as one stacked computation; return what came of each.

    After every epoch all nodes are predicted; a member's result is read at the epoch of its best
    validation accuracy, ties broken by the lower validation loss.

    Args:
        build: makes the model from the numbers of features and classes; what the model may bring
            besides is in :mod:`bagcn.training.protocol`.
        task: the graph.
        members: seeds, splits and settings.
        settings: what the members share.
        device: where to compute.
        on_epoch: called with the number of epochs that are done.
        checkpoint: where to save the state, and whether to continue from there.
        keep_weights: return the parameters and buffers of the best epoch.
        capture: replay epochs from a CUDA graph, where there is a GPU.
    """
    device = torch.device(device)
    drawn_on = [device] if device.type == "cuda" else []
    with current(device), torch.random.fork_rng(devices=drawn_on):
        run = _Loop(build, task, members, settings, device, keep_weights)
        if checkpoint and checkpoint.resume and checkpoint.path.exists():
            run.resume(checkpoint)
        run.until_done(on_epoch, checkpoint, capture)
        return run.results()


class _Loop:
    """The state of M members and the epoch that advances it."""

    def __init__(
        self,
        build: Build,
        task: Task,
        members: Sequence[Member],
        settings: TrainSettings,
        device: torch.device,
        keep_weights: bool,
    ) -> None:
        self.started, self.members, self.settings = time.perf_counter(), members, settings
        self.count, self.places = len(members), list(range(len(members)))
        self.ended: dict[int, Result] = {}  # by place, of members that are not stacked any more
        if device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(device)
        own = _own_settings(members)
        lr = own.pop("lr", [settings.lr] * len(members))
        decay = own.pop("weight_decay", [settings.weight_decay] * len(members))
        self.stack = Stack(build, task, [member.seed for member in members], own, device)
        self.task, self.device = task, device
        self.train, val, test = (part.to(device) for part in _masks(members, task.num_nodes))
        self.scores = Scores(task.y.to(device), val, test)
        self.lr = torch.tensor(lr).to(device)
        rates = torch.tensor(decay).to(device)
        factors = decay_factors(self.stack.parameters, settings.decay)
        self.decay = {name: rates * factor for name, factor in factors.items()}
        self.by_loss = self.stack.embeds and settings.patience > 0
        self.keep_weights = keep_weights
        self.state = self._initial_state(keep_weights or self.by_loss)

    def _initial_state(self, keep: bool) -> Tensors:
        """Return all that changes during training, by name."""
        stack = self.stack
        moving = _moving(stack)
        state = moving | _prefixed("adam.", adam_state(stack.parameters))
        if self.settings.ema:
            state |= {f"ema.{name}": tensor.detach().clone() for name, tensor in moving.items()}
        if keep:
            state |= {f"best.{name}": tensor.detach().clone() for name, tensor in moving.items()}
        state["seconds"] = torch.zeros((), dtype=torch.float64)  # up to the last checkpoint
        return state | selection_state(stack.size, self.settings.epochs, self.device)

    def resume(self, checkpoint: Checkpoint) -> None:
        """Take the state from the checkpoint, and its time as already spent."""
        load_checkpoint(checkpoint, self.state)
        self.started -= float(self.state["seconds"])

    def until_done(
        self,
        on_epoch: Callable[[int], None] | None,
        checkpoint: Checkpoint | None,
        capture: bool,
    ) -> None:
        """Run the epochs that are left; stop when no member is active any more."""
        on_cpu = self.device.type == "cpu"
        step = self._step(capture)
        for epoch in range(int(self.state["epoch"]), self.settings.epochs):
            if on_cpu or epoch % LOOK_EVERY == 0:
                active = int(self.state["active"].sum())
                if not active:
                    break
                if 2 * active <= self.stack.size and not self.stack.embeds and not checkpoint:
                    del step  # and what a captured one holds
                    self.narrow()
                    step = self._step(capture)
            if on_cpu:  # modules that draw from torch's own generator
                torch.default_generator.manual_seed(self.members[0].seed * 1_000_003 + epoch)
            step()
            if on_epoch:
                on_epoch(epoch + 1)
            if checkpoint and (epoch + 1) % checkpoint.every == 0:
                self.state["seconds"].fill_(time.perf_counter() - self.started)
                save_checkpoint(checkpoint, self.state)

    def _step(self, capture: bool) -> Callable[[], None]:
        return Captured(self.epoch) if capture and self.device.type == "cuda" else self.epoch

    def narrow(self) -> None:
        """Note the results of the members that ended, and go on without them."""
        keep = self.state["active"].nonzero()[:, 0]
        going_on = [self.places[i] for i in keep.tolist()]
        found = dict(zip(self.places, self._results(), strict=True))
        self.ended |= {place: found[place] for place in found if place not in going_on}
        self.members, self.places = [self.members[i] for i in keep.tolist()], going_on
        self.stack.narrow(keep)
        self.scores.narrow(keep)
        self.train, self.lr = self.train[keep], self.lr[keep]
        self.decay = {name: rates[keep] for name, rates in self.decay.items()}
        sliced = {name: _kept(name, tensor, keep) for name, tensor in self.state.items()}
        self.state = sliced | _moving(self.stack)

    def epoch(self) -> None:
        """Take one step and look at all predictions, without waiting for the device."""
        state, parameters = self.state, self.stack.parameters
        losses = self.stack.losses(self.train, state["epoch"])  # (M,)
        gradients = torch.autograd.grad(losses.sum(), list(parameters.values()))
        adam_step(
            parameters,
            dict(zip(parameters, gradients, strict=True)),
            _section(state, "adam."),
            self.lr,
            self.decay,
        )
        with torch.no_grad():
            self._average()
            self._look(losses.detach())
            state["epoch"] += 1

    def _average(self) -> None:
        """Move the averaged weights towards the present ones, quickly in the first epochs."""
        epoch = self.state["epoch"]
        share = ((epoch + 1) / (epoch + 10)).clamp(max=self.settings.ema)
        for name, average in _section(self.state, "ema.").items():
            if average.is_floating_point():
                average.mul_(share).add_(self.state[name] * (1 - share))

    def _shown(self) -> Tensors:
        """Return the weights that predict: the averaged ones if they are kept."""
        return _section(self.state, "ema.") or self.state

    def _logits(self, weights: Tensors) -> Tensor:
        return self.stack.logits(_section(weights, "parameter."), _section(weights, "buffer."))

    def _look(self, losses: Tensor) -> None:
        """Note the epoch's numbers, and which members are at their best so far."""
        state = self.state
        unknown = torch.full_like(losses, torch.nan)
        shown = self._shown()
        scores = (unknown,) * 3 if self.stack.embeds else self.scores(self._logits(shown))
        kept = {
            name: (best, shown[name].detach()) for name, best in _section(state, "best.").items()
        }
        note_epoch(state, kept, torch.stack([losses, *scores]), by_loss=self.stack.embeds)
        if self.settings.patience:
            waited = state["epoch"] - state["best_epoch"]
            state["active"] &= waited < self.settings.patience

    def results(self) -> list[Result]:
        """Read everything back, one result a member."""
        if self.stack.embeds:
            self._probe()
        found = self.ended | dict(zip(self.places, self._results(), strict=True))
        seconds = (time.perf_counter() - self.started) / self.count
        peak = peak_memory(self.device) // self.count
        return [replace(found[i], seconds=seconds, peak_memory=peak) for i in range(self.count)]

    def _results(self) -> list[Result]:
        """Read back what came of the stacked members so far; what they cost is not known yet."""
        weights = self._weights() if self.keep_weights else {}
        shown = ("curves", "best_", "epochs", "diverged")
        state = {n: t.cpu() for n, t in self.state.items() if n.startswith(shown)}
        return [self._result(state, weights, i) for i in range(self.stack.size)]

    def _weights(self) -> Tensors:
        names = "best." if any(name.startswith("best.") for name in self.state) else ""
        return {
            name: self.state[f"{names}{kind}{name}"].detach().cpu()
            for kind, tensors in (
                ("parameter.", self.stack.parameters),
                ("buffer.", self.stack.buffers),
            )
            for name in tensors
        }

    @torch.no_grad()
    def _probe(self) -> None:
        """Fit the classifier of a model that learnt without labels, and score what it predicts."""
        state, probe = self.state, ("buffer.probe.weight", "buffer.probe.bias")
        chosen = _section(state, "best.") if self.by_loss else self._shown()
        for name in [name for name in state if name.startswith(("parameter.", "buffer."))]:
            state[name].copy_(chosen[name])
            if f"best.{name}" in state:
                state[f"best.{name}"].copy_(chosen[name])
        y, classes = self.task.y, self.task.num_classes
        for i, embedding in enumerate(self.stack.embeddings()):
            if torch.isfinite(embedding).all():
                fitted = fit_probe(embedding, y, self.members[i].split, classes)
                for name, value in zip(probe, fitted, strict=True):
                    state[name][i] = value
        for name in probe:
            if f"best.{name}" in state:
                state[f"best.{name}"].copy_(state[name])
        if not self.by_loss:
            state["best_epoch"].copy_(state["epochs"] - 1)
        for name, value in zip(
            ("val", "val_loss", "test"),
            self.scores(self.stack.logits(self.stack.parameters, self.stack.buffers)),
            strict=True,
        ):
            state[f"best_{name}"].copy_(value)

    def _result(self, state: Tensors, weights: Tensors, i: int) -> Result:
        epochs, diverged = int(state["epochs"][i]), int(state["diverged"][i])
        curves = state["curves"][:epochs, :, i]
        return Result(
            seed=self.members[i].seed,
            test=float(state["best_test"][i]),
            val=float(state["best_val"][i]),
            val_loss=float(state["best_val_loss"][i]),
            best_epoch=int(state["best_epoch"][i]),
            epochs=epochs,
            diverged=None if diverged < 0 else diverged,
            seconds=math.nan,
            peak_memory=0,
            together=self.count,
            threads=torch.get_num_threads(),
            curves={name: curves[:, k].tolist() for k, name in enumerate(CURVES)},
            weights={name: tensor[i].clone() for name, tensor in weights.items()} or None,
        )


def _masks(members: Sequence[Member], nodes: int) -> list[Tensor]:
    """Return which nodes train, validate and test, (M, N) each."""
    for member in members:
        for part in ("train", "val"):
            if getattr(member.split, part).numel() == 0:
                raise ValueError(
                    f"the split {member.split.name!r} has no {part} nodes; "
                    "training needs some to learn from and some to choose the epoch by"
                )
    masks = [member.split.masks(nodes) for member in members]
    return [torch.stack(part) for part in zip(*masks, strict=True)]


def _own_settings(members: Sequence[Member]) -> dict[str, list[float]]:
    """Return the settings in which members differ, as name to one value a member."""
    names = sorted(members[0].settings)
    for member in members:
        if sorted(member.settings) != names:
            other = ", ".join(sorted(member.settings)) or "none"
            raise ValueError(
                "members of one population must set the same names; "
                f"got {', '.join(names) or 'none'} and {other}"
            )
    return {name: [float(member.settings[name]) for member in members] for name in names}


def _moving(stack: Stack) -> Tensors:
    """Return the weights that training changes, as the state names them."""
    return _prefixed("parameter.", stack.parameters) | _prefixed("buffer.", stack.buffers)


def _kept(name: str, tensor: Tensor, keep: Tensor) -> Tensor:
    """Return a tensor of the state for some of the members."""
    if name == "curves":
        return tensor[:, :, keep]
    return tensor[keep] if tensor.dim() else tensor


def _prefixed(prefix: str, tensors: Tensors) -> Tensors:
    return {prefix + name: tensor for name, tensor in tensors.items()}


def _section(tensors: Tensors, prefix: str) -> Tensors:
    return {n.removeprefix(prefix): t for n, t in tensors.items() if n.startswith(prefix)}
