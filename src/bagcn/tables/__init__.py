"""Your own graph comes in: tables, PyTorch Geometric, NetworkX and SciPy; columns to features."""

from bagcn.tables.columns import KINDS, RULES
from bagcn.tables.frames import from_frames
from bagcn.tables.graph import Graph, Layout
from bagcn.tables.inputs import as_graph
from bagcn.tables.read import FORMATS, read_table
from bagcn.tables.write import OUTPUTS, prediction_table, write_table

__all__ = [
    "FORMATS",
    "KINDS",
    "OUTPUTS",
    "RULES",
    "Graph",
    "Layout",
    "as_graph",
    "from_frames",
    "prediction_table",
    "read_table",
    "write_table",
]
