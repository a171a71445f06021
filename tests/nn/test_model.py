# N nodes, F features, D hidden, C classes, E edges.
from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import pytest
import torch
from torch import Tensor

from bagcn.nn import BAGCN
from bagcn.ops import SparseMatrix, random_stream, stream_key
from bagcn.ops import dropout as keyed_dropout
from battery import check_all
from nn import dense
from nn.dense import Switches

NODES, FEATURES, HIDDEN, CLASSES = 23, 9, 6, 4
TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-10}

SWITCHES = {
    "the paper's": Switches(),
    "mul": Switches(fusion="mul"),
    "ego-ego": Switches(pair="ego-ego"),
    "local-local": Switches(pair="local-local", fusion="mul"),
    "no attention": Switches(attention="none"),
    "scale 1": Switches(scale=1.0),
    "three hops": Switches(num_hops=3),
    "local-local, two hops": Switches(pair="local-local", num_hops=2),
    "relu": Switches(activation="relu"),
    "mean of views": Switches(inference="mean", fusion="mul"),
    "no consistency": Switches(consistency=0.0),
    "no sharpening": Switches(temperature=1.0),
    "sharp": Switches(temperature=0.2, consistency=2.5),
    "CL2": Switches(target="pairwise"),
    "warm-up": Switches(warmup=7),
    "warm-up is over": Switches(warmup=2),
    "confident nodes": Switches(confidence=0.4),
    "mean of the hops": Switches(field="mean", num_hops=3),
    "the ego view is taught too": Switches(ego_supervision=0.6),
}
EPOCH = 2


def edges() -> Tensor:
    """A directed ring with shortcuts; node 5 has a loop, node 22 no edges, one edge is double."""
    ring = [(i, (i + 1) % 22) for i in range(22)]
    pairs = [*ring, *[(b, a) for a, b in ring[:15]], (5, 5), (3, 17), (17, 3), (0, 1)]
    return torch.tensor(pairs).T


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def graph() -> tuple[Tensor, Tensor, Tensor]:
    """Features with zeros in them, classes, and which are known."""
    x = draw(NODES, FEATURES).clamp(min=0)
    y = torch.arange(NODES) * 5 % CLASSES
    return x, y, torch.arange(NODES) % 3 == 0


def model_of(s: Switches, dtype: torch.dtype = torch.float64, **more: Any) -> BAGCN:
    """A model whose every parameter and running statistic is away from its first value."""
    off = {"input_dropout": 0.0, "dropout": 0.0}
    model = BAGCN(FEATURES, HIDDEN, CLASSES, **{**off, **asdict(s), **more})
    for number, (name, tensor) in enumerate(model.state_dict().items()):
        if tensor.is_floating_point():
            value = 0.7 * draw(*tensor.shape, seed=100 + number)
            # rounded to float32, so that both precisions start from the same numbers
            tensor.copy_((value.abs() + 0.3 if "running_var" in name else value).float())
    return model.to(dtype)


def weights_of(model: BAGCN) -> dense.Weights:
    """Copies in float64 that gradients can flow to."""
    trained = dict(model.named_parameters())
    return {
        name: tensor.detach().double().clone().requires_grad_(name in trained)
        for name, tensor in model.state_dict().items()
    }


def rounded(x: Tensor) -> Tensor:
    return x.float().double()


def agree(found: Tensor, expected: Tensor, dtype: torch.dtype, what: str = "") -> None:
    """Within the precision's tolerance, relative to the largest value where that is above 1."""
    assert found.dtype == dtype
    scale = max(1.0, float(expected.detach().abs().max()))
    error = float((found.detach().double() - expected.detach()).abs().max())
    assert error <= TOLERANCE[dtype] * scale, f"{what}: {error:.2e} apart"


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("name", SWITCHES)
def test_outputs(name: str, dtype: torch.dtype) -> None:
    s, x = SWITCHES[name], rounded(graph()[0])
    model, a = model_of(s, dtype).eval(), dense.adjacency(edges(), NODES)
    expected = dense.logits(weights_of(model), x, a, s)
    agree(model(x.to(dtype), edges()), expected, dtype)


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("name", SWITCHES)
def test_objective_and_its_gradients(name: str, dtype: torch.dtype) -> None:
    s, (x, y, labelled) = SWITCHES[name], graph()
    x = rounded(x)
    model, a = model_of(s, dtype).train(), dense.adjacency(edges(), NODES)
    weights = weights_of(model)
    expected = dense.loss(weights, x, a, y, labelled, EPOCH, s)
    prepared, adjacency = model.prepare(x.to(dtype), edges())
    epoch = torch.tensor(EPOCH, dtype=torch.int32)
    found = model.objective(prepared, adjacency, y, labelled, epoch)
    agree(found, expected, dtype, "loss")
    expected.backward()
    found.backward()
    for parameter, tensor in model.named_parameters():
        wanted = weights[parameter].grad
        if wanted is None:  # takes no part: the fc predictor without consistency, say
            wanted = torch.zeros_like(weights[parameter])
        given = torch.zeros_like(tensor) if tensor.grad is None else tensor.grad
        agree(given, wanted, dtype, parameter)


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_edge_weights_and_their_gradients(dtype: torch.dtype) -> None:
    """Weights reach the loss through Â, in both of its places: what an attack follows."""
    s, (x, y, labelled) = Switches(inference="mean"), graph()
    x, ring = rounded(x), edges()[:, edges()[0] != edges()[1]]
    weight = rounded(draw(ring.shape[1], seed=3).abs() + 0.2)
    model, ours, theirs = model_of(s, dtype).eval(), weight.to(dtype), weight.clone()
    found = model(x.to(dtype), ring, ours.requires_grad_())
    a = dense.adjacency(ring, NODES, theirs.requires_grad_())
    expected = dense.logits(weights_of(model), x, a, s)
    agree(found, expected, dtype)
    found.log_softmax(1)[labelled, y[labelled]].sum().backward()
    dense.softmax(expected)[labelled, y[labelled]].log().sum().backward()
    assert ours.grad is not None
    assert theirs.grad is not None
    agree(ours.grad, theirs.grad, dtype)


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("layout", ["csr", "coo", "prepared"])
def test_sparse_features(layout: str, dtype: torch.dtype) -> None:
    s, x = Switches(fusion="mul"), rounded(graph()[0])
    model = model_of(s, dtype).train()
    sparse: Any = x.to(dtype).to_sparse_coo() if layout == "coo" else x.to(dtype).to_sparse_csr()
    if layout == "prepared":
        sparse = model.prepare(sparse, edges())[0]
        assert isinstance(sparse, SparseMatrix)
    weights, a = weights_of(model), dense.adjacency(edges(), NODES)
    gcn, fc = model.predict_views(sparse, model.prepare(x, edges())[1])
    expected = dense.views(weights, x, a, s, training=True)
    agree(gcn, expected[0], dtype, "gcn")
    agree(fc, expected[1], dtype, "fc")
    (gcn * fc).sum().backward()
    (expected[0] * expected[1]).sum().backward()
    for name in ("layer.local.linear.weight", "layer.ego.linear.weight"):
        agree(model.get_parameter(name).grad, weights[name].grad, dtype, name)


@pytest.mark.parametrize("target", ["mean", "pairwise"])
@pytest.mark.parametrize("passes", [1, 2])
@pytest.mark.parametrize("node_dropout", [0.0, 0.4])
def test_where_dropout_sits(node_dropout: float, passes: int, target: str) -> None:
    """One mask for each view's features, one before each predictor; new ones in every pass."""
    s, (x, y, labelled) = Switches(target=target, ego_supervision=0.3), graph()
    rates: dict[str, Any] = {"input_dropout": 0.5, "dropout": 0.3, "node_dropout": node_dropout}
    model = model_of(s, passes=passes, **rates).train()
    key = stream_key(*(torch.tensor(n, dtype=torch.int32) for n in (4, EPOCH)))

    def mask(columns: int, rate: float) -> Tensor:
        return keyed_dropout(torch.ones(NODES, columns, dtype=torch.float64), rate)

    def masks() -> list[Tensor]:
        local = mask(FEATURES, 0.5) * mask(1, node_dropout)
        return [local, *(mask(*of) for of in ((FEATURES, 0.5), (HIDDEN, 0.3), (HIDDEN, 0.3)))]

    with random_stream(key):
        drawn = [masks() for _ in range(passes)]
    with random_stream(key):
        found = model.objective(*model.prepare(x, edges()), y, labelled, torch.tensor(EPOCH))
    a = dense.adjacency(edges(), NODES)
    agree(found, dense.loss(weights_of(model), x, a, y, labelled, EPOCH, s, drawn), torch.float64)
    flat = [m for each in drawn for m in each]
    assert not any(m.equal(n) for i, m in enumerate(flat) for n in flat[:i] if m.shape == n.shape)


def test_running_statistics() -> None:
    """Training moves them a tenth of the way to the nodes' mean and unbiased variance."""
    model, x = model_of(Switches()).train(), graph()[0]
    before = weights_of(model)
    model.predict_views(x, edges())
    h = dense.adjacency(edges(), NODES) @ x @ before["layer.local.linear.weight"]
    for name, value in (("running_mean", h.mean(0)), ("running_var", h.var(0, unbiased=True))):
        moved = 0.9 * before[f"layer.local.norm.{name}"] + 0.1 * value
        agree(model.state_dict()[f"layer.local.norm.{name}"], moved, torch.float64, name)
    assert int(model.layer.local.norm.num_batches_tracked) == 1
    model.eval()(x, edges())
    assert int(model.layer.local.norm.num_batches_tracked) == 1


def test_mean_of_views_are_probabilities() -> None:
    model, x = model_of(Switches(inference="mean")).eval(), graph()[0]
    out = model(x, edges())
    agree(out.exp().sum(dim=1), torch.ones(NODES, dtype=torch.float64), torch.float64)
    gcn, fc = model.predict_views(x, edges())
    agree(out.exp(), (gcn.softmax(1) + fc.softmax(1)) / 2, torch.float64)


@pytest.mark.parametrize("epoch", [0, 3, 9, 10, 400])
def test_warm_up_of_the_consistency(epoch: int) -> None:
    s, (x, y, labelled) = Switches(consistency=3.0), graph()
    losses = []
    for consistency, warmup in ((3.0, 10), (0.0, 0), (3.0, 0)):
        model = model_of(replace(s, consistency=consistency, warmup=warmup)).train()
        losses.append(model.objective(*model.prepare(x, edges()), y, labelled, torch.tensor(epoch)))
    share = min(1.0, (epoch + 1) / 10)
    torch.testing.assert_close(
        losses[0], losses[1] + share * (losses[2] - losses[1]), atol=1e-12, rtol=0
    )


@pytest.mark.parametrize("fusion", ["add", "mul"])
def test_battery(fusion: Any) -> None:
    check_all(lambda f, c: BAGCN(f, 8, c, fusion=fusion))


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ({"fusion": "concat"}, "fusion must be one of add, mul; got 'concat'"),
        ({"pair": "local"}, "pair must be one of ego-local, ego-ego, local-local; got 'local'"),
        ({"attention": "linear"}, "attention must be one of"),
        ({"activation": "elu"}, "activation must be one of relu, none; got 'elu'"),
        ({"inference": "fc"}, "inference must be one of gcn, mean; got 'fc'"),
        ({"target": "kl"}, "target must be one of mean, pairwise; got 'kl'"),
        ({"num_hops": 0}, "num_hops must be at least 1, got 0"),
        ({"temperature": 0.0}, "temperature must be above 0, got 0.0"),
        ({"precision": "fp16"}, "precision must be one of auto, fp32, bf16; got 'fp16'"),
        ({"passes": 0}, "passes must be at least 1, got 0"),
        ({"warmup": -5}, "warmup must not be negative, got -5"),
    ],
)
def test_bad_arguments(argument: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BAGCN(FEATURES, HIDDEN, CLASSES, **argument)
