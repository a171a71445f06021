"""The few tensor operations that every model here shares."""

from bagcn.ops.adjacency import normalized_adjacency
from bagcn.ops.dropout import dropout, permutation, random_stream, stream_key, uniform
from bagcn.ops.linear import Linear
from bagcn.ops.objective import cross_entropy, sharpened_cross_entropy
from bagcn.ops.partition import partition
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
    "partition",
    "permutation",
    "random_stream",
    "sharpened_cross_entropy",
    "stream_key",
    "uniform",
]
