"""Your own graph comes in: tables, PyTorch Geometric, NetworkX and SciPy; columns to features."""

from bagcn.tables.graph import Graph, Layout
from bagcn.tables.inputs import as_graph

__all__ = ["Graph", "Layout", "as_graph"]
