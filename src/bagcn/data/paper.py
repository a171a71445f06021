"""The table of data sets in the paper, as printed, and where it differs from the graphs."""

from __future__ import annotations

from dataclasses import dataclass

from .catalogue import DatasetInfo


@dataclass(frozen=True)
class PaperRow:
    """One row of the paper's Table 1.

    Args:
        nodes: Number of nodes.
        edges: Number of edges, counted now one way, now the other.
        split: Nodes that train, validate and test.
        features: Number of features.
        classes: Number of classes.
        remark: What is wrong with the row, and why; empty where nothing is.
    """

    nodes: int
    edges: int
    split: tuple[int, int, int]
    features: int
    classes: int
    remark: str = ""


_LINKS = "The edges are the links as listed: with duplicates, and links of a node to itself."
_BOTH_WAYS = "Every edge is counted in both directions."

PAPER_TABLE: dict[str, PaperRow] = {
    "cora": PaperRow(2_708, 5_429, (140, 500, 1_000), 1_433, 7, _LINKS),
    "citeseer": PaperRow(3_327, 4_732, (120, 500, 1_000), 3_703, 6, _LINKS),
    "pubmed": PaperRow(19_717, 44_338, (60, 500, 1_000), 500, 3, _LINKS),
    "cora-ml": PaperRow(
        2_995,
        16_316,
        (140, 210, 2_545),
        2_879,
        7,
        f"{_BOTH_WAYS} 2,645 nodes remain to test, not 2,545.",
    ),
    "photo": PaperRow(
        7_487, 119_043, (160, 240, 7_084), 745, 8, "7,087 nodes remain to test, not 7,084."
    ),
    "cs": PaperRow(18_333, 81_894, (300, 450, 17_583), 6_805, 15),
    "physics": PaperRow(
        34_493,
        247_962,
        (360, 540, 33_593),
        100,
        18,
        "Features, classes and split are those of another graph, AMiner-CS; with 5 classes the "
        "split is 100/150/34,243.",
    ),
    "dblp": PaperRow(17_716, 105_734, (80, 120, 17_516), 1_639, 4, _BOTH_WAYS),
    "cora-full": PaperRow(
        19_793,
        126_842,
        (1_400, 2_100, 15_293),
        8_710,
        70,
        f"{_BOTH_WAYS} The split cannot be drawn, since some classes have fewer than 50 nodes; "
        "and if it could, 16,293 nodes would remain to test.",
    ),
}
"""The rows by data set, in the paper's order."""


def differences(info: DatasetInfo) -> dict[str, tuple[int, int]]:
    """The counts in which the paper's row and the graph differ: (paper, graph) by name."""
    row = PAPER_TABLE[info.name]
    pairs = {key: (getattr(row, key), getattr(info, key)) for key in _COUNTS}
    return {key: pair for key, pair in pairs.items() if pair[0] != pair[1]}


_COUNTS = ("nodes", "edges", "features", "classes")
