"""The training loop, for one member or many.

M members, N nodes, C classes. Everything that changes lies in one dictionary of tensors which is
updated in place: so an epoch can be captured as a CUDA graph, and a checkpoint is that dictionary.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from bagcn.training.adam import adam_state, adam_step
from bagcn.training.capture import Captured
from bagcn.training.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from bagcn.training.member import Member, Result
from bagcn.training.settings import TrainSettings
from bagcn.training.stack import Build, Stack
from bagcn.training.task import Task

__all__ = ["train"]

Tensors = dict[str, Tensor]
CURVES = ("loss", "val", "val_loss", "test")


def train(
    build: Build,
    task: Task,
    members: Sequence[Member],
    settings: TrainSettings,
    *,
    device: torch.device | str = "cpu",
    on_epoch: Callable[[int], None] | None = None,
    checkpoint: Checkpoint | None = None,
    resume: bool = False,
    keep_weights: bool = False,
) -> list[Result]:
    """Train the members together and return what came of each.

    After every epoch all nodes are predicted; a member's result is read at the epoch of its best
    validation accuracy, ties broken by the lower validation loss.

    Args:
        build: makes the model from the numbers of features and classes.
        task: the graph.
        members: seeds, splits and settings.
        settings: what the members share.
        device: where to compute.
        on_epoch: called with the number of epochs that are done.
        checkpoint: where to save the state.
        resume: continue from the checkpoint if there is one.
        keep_weights: return the parameters and buffers of the best epoch.
    """
    device = torch.device(device)
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        run = _Loop(build, task, members, settings, device, keep_weights)
        if checkpoint and resume and checkpoint.path.exists():
            load_checkpoint(checkpoint.path, run.state, checkpoint.identity)
        run.until_done(on_epoch, checkpoint)
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
        if device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(device)
        own = _own_settings(members)
        lr = own.pop("lr", [settings.lr] * len(members))
        decay = own.pop("weight_decay", [settings.weight_decay] * len(members))
        self.stack = Stack(build, task, [member.seed for member in members], own, device)
        self.y = task.y.to(device)
        masks = [member.split.masks(task.num_nodes) for member in members]
        self.train, self.val, self.test = (
            torch.stack(part).to(device) for part in zip(*masks, strict=True)
        )
        self.lr = torch.tensor(lr).to(device)
        rates = torch.tensor(decay).to(device)
        factors = _decay_factors(self.stack.parameters, settings.decay)
        self.decay = {name: rates * factor for name, factor in factors.items()}
        self.device, self.keep_weights = device, keep_weights
        self.state = self._initial_state()

    def _initial_state(self) -> Tensors:
        """Return all that changes during training, by name."""
        stack, size, device = self.stack, self.stack.size, self.device
        moving = _prefixed("parameter.", stack.parameters) | _prefixed("buffer.", stack.buffers)
        state = moving | _prefixed("adam.", adam_state(stack.parameters))
        if self.keep_weights:
            state |= {f"best.{name}": tensor.detach().clone() for name, tensor in moving.items()}
        return state | {
            "epoch": torch.zeros((), dtype=torch.int32, device=device),
            "curves": torch.full((self.settings.epochs, len(CURVES), size), torch.nan).to(device),
            "best_val": torch.full((size,), -1.0, device=device),
            "best_val_loss": torch.full((size,), torch.inf, device=device),
            "best_test": torch.zeros(size, device=device),
            "best_epoch": torch.full((size,), -1, dtype=torch.int32, device=device),
            "epochs": torch.zeros(size, dtype=torch.int32, device=device),
            "diverged": torch.full((size,), -1, dtype=torch.int32, device=device),
            "active": torch.ones(size, dtype=torch.bool, device=device),
        }

    def until_done(
        self, on_epoch: Callable[[int], None] | None, checkpoint: Checkpoint | None
    ) -> None:
        """Run the epochs that are left; stop when no member is active any more."""
        on_cpu = self.device.type == "cpu"
        every = 1 if on_cpu else 25  # looking at the flag makes the host wait for the device
        step = self.epoch if on_cpu else Captured(self.epoch)
        for epoch in range(int(self.state["epoch"]), self.settings.epochs):
            can_end = on_cpu or self.settings.patience > 0
            if can_end and epoch % every == 0 and not bool(self.state["active"].any()):
                break
            if on_cpu:  # modules that draw from torch's own generator
                torch.default_generator.manual_seed(self.members[0].seed * 1_000_003 + epoch)
            step()
            if on_epoch:
                on_epoch(epoch + 1)
            if checkpoint and (epoch + 1) % checkpoint.every == 0:
                save_checkpoint(checkpoint.path, self.state, checkpoint.identity)

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
            self._select(losses.detach(), self.stack.logits())
            state["epoch"] += 1

    def _select(self, losses: Tensor, logits: Tensor) -> None:
        """Note the epoch's numbers, and which members are at their best so far."""
        state = self.state
        each = F.cross_entropy(
            logits.flatten(0, 1), self.y.clamp_min(0).repeat(len(logits)), reduction="none"
        ).view(self.train.shape)  # (M, N)
        right = logits.argmax(-1) == self.y  # (M, N)
        val, val_loss, test = _mean(right, self.val), _mean(each, self.val), _mean(right, self.test)
        active, epoch = state["active"], state["epoch"]
        now = torch.stack([losses, val, val_loss, test])[None]
        state["curves"].index_copy_(0, epoch.long()[None], now.where(active, torch.nan))
        failed = active & ~torch.isfinite(losses)
        state["diverged"].copy_(torch.where(failed, epoch, state["diverged"]))
        tied = (val == state["best_val"]) & (val_loss < state["best_val_loss"])
        better = active & ~failed & ((val > state["best_val"]) | tied)
        for name, value in (("val", val), ("val_loss", val_loss), ("test", test), ("epoch", epoch)):
            state[f"best_{name}"].copy_(torch.where(better, value, state[f"best_{name}"]))
        for name, best in _section(state, "best.").items():
            shape = (-1, *[1] * (best.dim() - 1))
            best.copy_(torch.where(better.view(shape), state[name].detach(), best))
        state["epochs"] += active
        active &= ~failed
        if self.settings.patience:
            active &= epoch - state["best_epoch"] < self.settings.patience

    def results(self) -> list[Result]:
        """Read everything back, one result a member."""
        state = {
            name: tensor.detach().cpu()
            for name, tensor in self.state.items()
            if not name.startswith(("parameter.", "buffer.", "adam."))
        }
        seconds = (time.perf_counter() - self.started) / self.stack.size
        peak = _peak_memory(self.device) // self.stack.size
        return [self._result(state, i, seconds, peak) for i in range(self.stack.size)]

    def _result(self, state: Tensors, i: int, seconds: float, peak: int) -> Result:
        epochs, diverged = int(state["epochs"][i]), int(state["diverged"][i])
        curves = state["curves"][:epochs, :, i]
        best = {
            name.split(".", 1)[1]: tensor[i].clone()
            for name, tensor in _section(state, "best.").items()
        }
        return Result(
            seed=self.members[i].seed,
            test=float(state["best_test"][i]),
            val=float(state["best_val"][i]),
            val_loss=float(state["best_val_loss"][i]),
            best_epoch=int(state["best_epoch"][i]),
            epochs=epochs,
            diverged=None if diverged < 0 else diverged,
            seconds=seconds,
            peak_memory=peak,
            curves={name: curves[:, k].tolist() for k, name in enumerate(CURVES)},
            weights=best or None,
        )


def _own_settings(members: Sequence[Member]) -> dict[str, list[float]]:
    """Return the settings in which members differ, as name to one value a member."""
    names = sorted(members[0].settings)
    for member in members:
        if sorted(member.settings) != names:
            raise ValueError(
                "members of one population must set the same names; "
                f"got {', '.join(names) or 'none'} and {', '.join(sorted(member.settings))}"
            )
    return {name: [float(member.settings[name]) for member in members] for name in names}


def _decay_factors(parameters: Tensors, which: str | Mapping[str, float]) -> dict[str, float]:
    """Return the factor on the weight decay for those (stacked) parameters that it acts on."""
    weights = [name for name, tensor in parameters.items() if tensor.dim() > 2]
    if isinstance(which, str):
        chosen = {"all": list(parameters), "weights": weights, "first": weights[:1]}[which]
        return dict.fromkeys(chosen, 1.0)
    longest = {
        name: max((p for p in which if name.startswith(p)), key=len, default=None)
        for name in parameters
    }
    unused = set(which) - set(longest.values())
    if unused:
        raise ValueError(
            f"decay names {', '.join(sorted(unused))}, but the model's parameters are "
            f"{', '.join(parameters)}"
        )
    return {name: which[prefix] for name, prefix in longest.items() if prefix is not None}


def _prefixed(prefix: str, tensors: Tensors) -> Tensors:
    return {prefix + name: tensor for name, tensor in tensors.items()}


def _section(tensors: Tensors, prefix: str) -> Tensors:
    return {n.removeprefix(prefix): t for n, t in tensors.items() if n.startswith(prefix)}


def _mean(values: Tensor, mask: Tensor) -> Tensor:
    """Return the mean over each member's masked nodes: (M, N), (M, N) to (M,)."""
    return (values * mask).sum(1) / mask.sum(1)


def _peak_memory(device: torch.device) -> int:
    """Return the most bytes held so far: on the GPU, or by this process."""
    if device.type == "cuda":
        return int(torch.cuda.max_memory_allocated(device))
    import resource
    import sys

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
