"""The few tensor operations that every model here shares."""

from bagcn.ops.adjacency import normalized_adjacency
from bagcn.ops.dropout import dropout, random_stream, stream_key, uniform
from bagcn.ops.linear import Linear
from bagcn.ops.objective import cross_entropy
from bagcn.ops.segment import Edges
from bagcn.ops.sparse import Matrix, SparseMatrix, as_matrix

__all__ = [
    "Edges",
    "Linear",
    "Matrix",
    "SparseMatrix",
    "as_matrix",
    "cross_entropy",
    "dropout",
    "normalized_adjacency",
    "random_stream",
    "stream_key",
    "uniform",
]
