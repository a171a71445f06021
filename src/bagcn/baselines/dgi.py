r"""Deep Graph Infomax: node embeddings that know which graph they belong to.

N nodes, F features, D embedding, C classes.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bagcn.baselines.card import Card
from bagcn.baselines.gcn import GraphConvolution
from bagcn.ops import Linear, Matrix, SparseMatrix, as_matrix, normalized_adjacency, permutation

__all__ = ["DGI"]


class DGI(nn.Module):
    r"""Deep Graph Infomax from `Deep Graph Infomax <https://arxiv.org/abs/1809.10341>`_.

    .. math::
        H = \mathrm{PReLU}(\hat A X \Theta + b), \qquad
        \tilde H = \mathrm{PReLU}(\hat A \tilde X \Theta + b), \qquad
        s = \sigma\left(\tfrac1N \sum_i h_i\right)

    where the rows of :math:`\tilde X` are those of X in random order. A discriminator
    :math:`\sigma(h_i^\top W s + w)` learns to tell the rows of H from those of
    :math:`\tilde H`. No label is looked at.

    Args:
        in_channels: F.
        hidden_channels: D.
        out_channels: C, of the classifier on the embeddings.
    """

    def __init__(self, in_channels: int, hidden_channels: int, out_channels: int) -> None:
        super().__init__()
        self.convolution = GraphConvolution(in_channels, hidden_channels)
        self.activation = nn.PReLU()
        self.discriminator = nn.Parameter(torch.empty(hidden_channels, hidden_channels))  # W
        self.offset = nn.Parameter(torch.empty(()))  # w
        self.probe = Linear(hidden_channels, out_channels).requires_grad_(False)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        for module in (self.convolution, self.activation, self.probe):
            module.reset_parameters()
        nn.init.xavier_uniform_(self.discriminator.unsqueeze(0))  # a bilinear form to one number
        nn.init.zeros_(self.offset)

    def prepare(
        self, x: Matrix, edge_index: Tensor, edge_weight: Tensor | None = None
    ) -> tuple[Matrix, SparseMatrix]:
        r"""Return what is computed from the graph once: features fit for products, and Â."""
        dtype = self.discriminator.dtype
        return as_matrix(x), normalized_adjacency(edge_index, edge_weight, x.shape[0], dtype=dtype)

    def embed(self, x: Matrix, graph: SparseMatrix) -> Tensor:
        """Return H, (N, D)."""
        out: Tensor = self.activation(self.convolution(x, graph))
        return out

    def objective(
        self, x: Matrix, graph: SparseMatrix, y: Tensor, labelled: Tensor, epoch: Tensor
    ) -> Tensor:
        """Return how badly the discriminator tells the graph from a shuffled one."""
        features = self.convolution.linear(x)  # (N, D)
        order = permutation(features[:, 0].detach())
        real, fake = (
            self.activation(graph @ rows + self.convolution.bias)
            for rows in (features, features[order])
        )
        summary = self.discriminator @ real.mean(dim=0).sigmoid()  # (D,)
        right = F.logsigmoid(real @ summary + self.offset)
        wrong = F.logsigmoid(-(fake @ summary + self.offset))
        return -(right.mean() + wrong.mean()) / 2

    def forward(
        self, x: Matrix, edge_index: Tensor | SparseMatrix, edge_weight: Tensor | None = None
    ) -> Tensor:
        """Return logits (N, C) of the classifier on the embeddings.

        Args:
            x: features (N, F): dense, sparse CSR or a prepared matrix.
            edge_index: edges (2, E), or the adjacency that :meth:`prepare` returned.
            edge_weight: weights (E,) of the edges; unused with a prepared adjacency.
        """
        if isinstance(edge_index, Tensor):
            x, edge_index = self.prepare(x, edge_index, edge_weight)
        out: Tensor = self.probe(self.embed(x, edge_index))
        return out


CARDS = (
    Card(
        name="dgi",
        model=DGI,
        title="DGI",
        paper="P. Veličković, W. Fedus, W. L. Hamilton, P. Liò, Y. Bengio and R. D. Hjelm. "
        "Deep Graph Infomax. ICLR 2019",
        url="https://arxiv.org/abs/1809.10341",
        written="Here. The shuffled features are X Θ with its rows shuffled, so X is multiplied "
        "once and stays sparse. The classifier is scikit-learn's logistic regression, chosen on "
        "validation; the authors take 100 steps of Adam.",
        checked="The dense formula, and recorded outputs of the authors' code.",
    ),
)
