# M members, N nodes.
from __future__ import annotations

import pickle
from dataclasses import replace
from functools import partial

import pytest
import torch
from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks

from bagcn.baselines.gcn import GCN
from bagcn.nn import BAGCN
from bagcn.training import Member
from bagcn.training.memory import (
    DoesNotFitError,
    Footprint,
    as_size,
    available_memory,
    estimate,
    lacking,
    peak_memory,
)
from bagcn.training.stack import Stack
from training.plain import graph
from training.test_population import build

CPU = torch.device("cpu")


@pytest.mark.parametrize(
    ("message", "asked"),
    [
        ("CUDA out of memory. Tried to allocate 4.43 GiB. GPU 0 has a total", 4.43 * 2**30),
        ("CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total", 20 * 2**20),
        ("DefaultCPUAllocator: can't allocate memory: you tried to allocate 512 bytes.", 512),
    ],
)
def test_what_was_asked_for_is_read_from_torchs_message(message: str, asked: float) -> None:
    found = lacking(RuntimeError(message), CPU)
    assert found is not None
    assert found - int(asked) == pytest.approx(peak_memory(CPU), rel=0.01)


def test_another_error_lacks_nothing() -> None:
    assert lacking(RuntimeError("shapes do not match"), CPU) is None


def test_torchs_own_message_is_understood() -> None:
    with pytest.raises(RuntimeError) as error:
        torch.empty(2**50, dtype=torch.uint8)
    found = lacking(error.value, CPU)
    assert found is not None
    assert found > 2**50


def test_the_need_travels_between_processes() -> None:
    error = pickle.loads(pickle.dumps(DoesNotFitError("needs 9 GiB", 9)))
    assert (str(error), error.need) == ("needs 9 GiB", 9)


def test_members_within_a_budget() -> None:
    footprint = Footprint(shared=100, member=10)
    assert [footprint.members_within(b) for b in (0, 105, 110, 129, 130)] == [1, 1, 1, 2, 3]


@pytest.mark.parametrize("count", [1, 4])
def test_a_stack_saves_no_more_than_is_estimated(count: int) -> None:
    """For the backward pass; the estimate is generous, but not by more than a few times."""
    task, split = graph(nodes=900)
    made = partial(build, BAGCN, 0.5)
    footprint = estimate(made, task, Member(0, split))
    stack = Stack(made, task, range(count), {}, CPU)
    labelled = split.masks(task.num_nodes)[0].expand(count, -1)
    saved: dict[int, int] = {}

    def note(tensor: Tensor) -> Tensor:
        if tensor.layout == torch.strided:
            saved[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with saved_tensors_hooks(note, lambda tensor: tensor):
        losses = stack.losses(labelled, torch.zeros((), dtype=torch.int32))
    assert losses.shape == (count,)
    held, estimated = sum(saved.values()), footprint.shared + count * footprint.member
    assert held < estimated < 5 * held


def test_blocks_of_sparse_features_are_estimated_too() -> None:
    """Dropout gives each member entries of its own, whose places are stored for all members."""
    (task, split), count = graph(nodes=300), 4
    x = torch.rand(300, 1000, generator=torch.Generator().manual_seed(0)).relu().to_sparse_csr()
    task = replace(task, x=x)
    made = partial(build, GCN, 0.5)
    footprint = estimate(made, task, Member(0, split))
    stack = Stack(made, task, range(count), {}, CPU)
    labelled = split.masks(task.num_nodes)[0].expand(count, -1)
    stack.losses(labelled, torch.zeros((), dtype=torch.int32)).sum().backward()
    blocks = stack.program._fixed[0].pattern.blocks(count)
    transposed, order = blocks.transposed
    held = (blocks.crow, blocks.col, blocks.row, transposed.crow, transposed.col, order)
    places = sum(tensor.nbytes for tensor in held)
    assert places < count * footprint.member < 2 * places


def test_settings_of_a_members_own_are_looked_at_as_well() -> None:
    task, split = graph()
    made = partial(build, BAGCN, 0.5)
    own = {"lr": 0.1, "weight_decay": 0.0, "dropout": 0.3, "temperature": 0.5}
    plain = estimate(made, task, Member(0, split))
    assert estimate(made, task, Member(0, split, own)).member >= 0.9 * plain.member


def test_memory_of_this_machine() -> None:
    assert 2**26 < available_memory("cpu") < 2**50
    assert 2**26 < peak_memory(CPU) < 2**50


def test_what_torch_keeps_for_itself_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (2000, 9000))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda device: 6000)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda device: 1000)
    assert available_memory("cuda") == int(0.85 * 7000)


def test_sizes_as_people_write_them() -> None:
    sizes = (1000, 4.6 * 2**20, 276 * 2**20, 1.25 * 2**30, 1.5e11, 2**50)
    assert [as_size(size) for size in sizes] == [
        "0.0 MiB",
        "4.6 MiB",
        "276 MiB",
        "1.25 GiB",
        "140 GiB",
        "1,048,576 GiB",
    ]
