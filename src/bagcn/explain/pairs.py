"""The strongest shortcuts of all nodes as a table, written block by block.

N nodes, B nodes of a block, K shortcuts of each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bagcn._folder import replaced_file
from bagcn.explain.distance import ELSEWHERE
from bagcn.explain.named import Named
from bagcn.explain.opened import Weights
from bagcn.explain.shortcuts import Shortcuts, iter_shortcuts

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["write_pairs"]


def write_pairs(
    named: Named, path: str | Path, top: int = 10, weights: Weights = "prediction"
) -> int:
    """Write the strongest shortcuts of all nodes, and return how many; the file is whole or absent.

    A row is a pair: the node and its predicted class, the rank, the distant node with its
    predicted class and its label if that is known, the weight, and the hops between them, empty
    for another component.

    Args:
        named: the model, the graph and their names.
        path: a file; Parquet if it ends in .parquet or .pq, else CSV.
        top: how many of each node.
        weights: which weights pick them; see :func:`bagcn.explain.shortcuts`.
    """
    path = Path(path)
    tables = _tables(named, iter_shortcuts(named.model, named.x, named.graph, top, weights=weights))
    first = next(tables)  # a model that cannot be explained says so before there is a file
    rows = 0
    with replaced_file(path) as partial, _writer(path, partial, first.schema) as writer:
        for table in chain([first], tables):
            writer.write_table(table)
            rows += len(table)
    return rows


def _writer(path: Path, partial: Path, schema: pa.Schema) -> Any:
    if path.suffix.lower() in (".parquet", ".pq"):
        from pyarrow.parquet import ParquetWriter

        return ParquetWriter(partial, schema)
    from pyarrow.csv import CSVWriter

    return CSVWriter(partial, schema)


def _tables(named: Named, blocks: Iterator[Shortcuts]) -> Iterator[pa.Table]:
    """Yield a table for each block of nodes."""
    import pyarrow as pa

    ids, classes = _column(named.ids), _column(named.classes)
    predicted = named.probabilities.argmax(1)
    label = named.y.cpu()
    for block in blocks:
        there = (block.others >= 0).cpu()  # (B, K)
        rank = there.cumsum(1)[there]
        node = block.nodes.cpu().repeat_interleave(there.sum(1))
        other, hops = block.others.cpu()[there], block.hops.cpu()[there].numpy()
        known = label[other].numpy()
        columns = {
            "node": ids.take(pa.array(node.numpy())),
            "prediction": classes.take(pa.array(predicted[node].numpy())),
            "rank": pa.array(rank.numpy()),
            "shortcut": ids.take(pa.array(other.numpy())),
            "shortcut_prediction": classes.take(pa.array(predicted[other].numpy())),
            "shortcut_label": classes.take(pa.array(known, mask=known < 0)),
            "weight": pa.array(block.weight.cpu()[there].numpy()),
            "hops": pa.array(hops, mask=hops == ELSEWHERE),
        }
        yield pa.table(columns)


def _column(values: Sequence[Any]) -> pa.Array:
    """Return whole numbers or texts as they are, anything else as texts."""
    import pyarrow as pa

    if all(type(value) is int and abs(value) < 2**63 for value in values):
        return pa.array(values, pa.int64())
    return pa.array([str(value) for value in values])
