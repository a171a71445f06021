"""What every model must do, whatever it computes.

N nodes, F features, C classes, E edges, M members.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from bagcn.data import Split
from bagcn.data.synthetic import synthetic_graph
from bagcn.ops import random_stream, stream_key
from bagcn.training import Member, Task, TrainSettings, train

Build = Callable[[int, int], nn.Module]

NODES, FEATURES, CLASSES = 60, 8, 3


def check_all(
    build: Build,
    *,
    vectorised: bool = True,
    equivariant: bool = True,
    epochs: tuple[int, ...] = (0,),
) -> None:
    """Run every check on the model that ``build(num_features, num_classes)`` makes.

    Args:
        build: makes the model.
        vectorised: whether members of it can be stacked; its card says the same.
        equivariant: whether renumbering the nodes renumbers the predictions and nothing else.
        epochs: in which every parameter is trained at least once.
    """
    data = synthetic_graph(NODES, num_classes=CLASSES, num_features=FEATURES, noise=1.0)
    x, edges = data.x, data.edge_index
    model = make(build)
    check_logits(model, x, edges)
    check_gradients(model, x, edges, data.y, data.train_mask, epochs)
    check_seed_and_reset(build, x, edges)
    check_state_dict(build, x, edges)
    check_prepared_and_sparse(model, x, edges)
    check_bare_graphs(model, x, edges)
    if equivariant:
        check_permutation(model, x, edges)
    check_training(build, data)
    if vectorised:
        check_members(build, data)


def make(build: Build, seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    return build(FEATURES, CLASSES)


@torch.no_grad()
def predict(model: nn.Module, *graph: Tensor) -> Tensor:
    out: Tensor = model.eval()(*graph)
    return out


def check_logits(model: nn.Module, x: Tensor, edges: Tensor) -> None:
    logits = predict(model, x, edges)
    assert logits.shape == (NODES, CLASSES)
    assert logits.dtype == x.dtype
    assert torch.isfinite(logits).all()
    torch.testing.assert_close(logits, predict(model, x, edges))  # nothing random in eval mode


def check_gradients(
    model: nn.Module,
    x: Tensor,
    edges: Tensor,
    y: Tensor,
    mask: Tensor,
    epochs: tuple[int, ...] = (0,),
) -> None:
    """Every parameter that is trained takes part in the objective."""
    model.train().zero_grad()
    for epoch in epochs:
        loss_of(model, x, edges, y, mask, epoch).backward()
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            assert parameter.grad is not None, f"{name} takes no part"
            assert torch.isfinite(parameter.grad).all(), f"{name} has a gradient that is not finite"
            assert parameter.grad.abs().sum() > 0, f"{name} has no gradient"
    model.zero_grad()


def loss_of(
    model: nn.Module, x: Tensor, edges: Tensor, y: Tensor, mask: Tensor, at: int = 0
) -> Tensor:
    prepare = getattr(model, "prepare", None)
    graph = (x, edges) if prepare is None else prepare(x, edges, None)
    objective = getattr(model, "objective", None)
    epoch = torch.tensor(at, dtype=torch.int32)
    with random_stream(stream_key(torch.tensor(1, dtype=torch.int32), epoch)):
        if objective is not None:
            out: Tensor = objective(*graph, y, mask, epoch)
            return out
        return nn.functional.cross_entropy(model(*graph)[mask], y[mask])


def check_seed_and_reset(build: Build, x: Tensor, edges: Tensor) -> None:
    first, again, other = (predict(make(build, seed), x, edges) for seed in (0, 0, 1))
    torch.testing.assert_close(first, again, atol=0, rtol=0)
    if not hasattr(make(build), "embed"):  # an unfitted probe predicts the same for all
        assert not torch.equal(first, other)
    model = make(build)
    before = {name: parameter.clone() for name, parameter in model.named_parameters()}
    torch.manual_seed(0)
    model.reset_parameters()  # type: ignore[operator]
    torch.manual_seed(2)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(7.0)
    model.reset_parameters()  # type: ignore[operator]
    for name, parameter in model.named_parameters():
        assert parameter.shape == before[name].shape
        assert not (parameter == 7.0).all(), f"reset_parameters leaves {name} as it was"


def check_state_dict(build: Build, x: Tensor, edges: Tensor) -> None:
    first, second = make(build, 0), make(build, 1)
    second.load_state_dict(first.state_dict())
    torch.testing.assert_close(predict(first, x, edges), predict(second, x, edges))


def check_prepared_and_sparse(model: nn.Module, x: Tensor, edges: Tensor) -> None:
    """A prepared graph, sparse features and weights of one, of any type, change nothing."""
    expected = predict(model, x, edges)
    near = {"atol": 1e-5, "rtol": 1e-4}
    torch.testing.assert_close(predict(model, x.to_sparse_csr(), edges), expected, **near)
    prepare = getattr(model, "prepare", None)
    if prepare is not None:
        torch.testing.assert_close(predict(model, *prepare(x, edges, None)), expected, **near)
    for dtype in (torch.float32, torch.float64, torch.int64):
        ones = torch.ones(edges.shape[1], dtype=dtype)
        torch.testing.assert_close(predict(model, x, edges, ones), expected, **near)


def check_bare_graphs(model: nn.Module, x: Tensor, edges: Tensor) -> None:
    """No edges at all, and a node without any, are graphs too."""
    assert torch.isfinite(predict(model, x, edges[:, :0])).all()
    alone = edges[:, (edges != 0).all(dim=0)]
    assert torch.isfinite(predict(model, x, alone)).all()


def check_permutation(model: nn.Module, x: Tensor, edges: Tensor) -> None:
    order = torch.randperm(NODES, generator=torch.Generator().manual_seed(3))
    place = torch.argsort(order)
    moved = predict(model, x[order], place[edges])
    torch.testing.assert_close(moved, predict(model, x, edges)[order], atol=1e-5, rtol=1e-4)


def split_of(data: object) -> Split:
    masks = (getattr(data, f"{part}_mask").nonzero().flatten() for part in ("train", "val", "test"))
    return Split("synthetic", *masks)


def check_training(build: Build, data: object) -> None:
    """Training lowers the loss, and a seed repeats itself bit for bit."""
    task, members = Task.from_data(data), [Member(5, split_of(data))]
    settings = TrainSettings(epochs=30, lr=0.01, weight_decay=0.0)
    first, second = (train(build, task, members, settings)[0].check() for _ in range(2))
    loss = first.curves["loss"]
    assert sum(loss[-5:]) < sum(loss[:5]), f"the loss does not fall: {loss}"
    assert first.curves == second.curves or str(first.curves) == str(second.curves)
    assert first.test == second.test


def check_members(build: Build, data: object) -> None:
    """Members of a population are the runs that they would be alone, dropout masks included."""
    task, split = Task.from_data(data), split_of(data)
    members = [Member(seed, split) for seed in (3, 8)]
    settings = TrainSettings(epochs=3, lr=0.01)
    together = train(build, task, members, settings)
    for member, result in zip(members, together, strict=True):
        alone = train(build, task, [member], settings)[0]
        expected, found = torch.tensor(alone.curves["loss"]), torch.tensor(result.curves["loss"])
        torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-3)
