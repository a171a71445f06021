"""The paper's Table 1 beside the graphs: which of its numbers are wrong."""

from __future__ import annotations

from bagcn.data import DATASETS
from bagcn.data.paper import PAPER_TABLE, differences

WRONG = {
    "cora": {"edges": (5_429, 5_278)},
    "citeseer": {"edges": (4_732, 4_552)},
    "pubmed": {"edges": (44_338, 44_324)},
    "cora-ml": {"edges": (16_316, 8_158)},
    "photo": {},
    "cs": {},
    "physics": {"features": (100, 8_415), "classes": (18, 5)},
    "dblp": {"edges": (105_734, 52_867)},
    "cora-full": {"edges": (126_842, 63_421)},
}


def test_the_counts_that_differ() -> None:
    assert {name: differences(info) for name, info in DATASETS.items()} == WRONG


def test_edges_counted_both_ways_are_twice_as_many() -> None:
    for name, row in PAPER_TABLE.items():
        assert ("both directions" in row.remark) == (row.edges == 2 * DATASETS[name].edges)


def test_where_the_split_does_not_add_up_a_remark_says_so() -> None:
    """Drawn per class, the parts together are all nodes; the public splits leave nodes out."""
    wrong = {
        name
        for name, row in PAPER_TABLE.items()
        if DATASETS[name].default_split == "per-class" and sum(row.split) != row.nodes
    }
    assert wrong == {"cora-ml", "photo", "cora-full"}
    for name in wrong:
        missing = PAPER_TABLE[name].nodes - sum(PAPER_TABLE[name].split[:2])
        assert f"{missing:,}" in PAPER_TABLE[name].remark


def test_a_right_row_has_no_remark() -> None:
    assert [name for name, row in PAPER_TABLE.items() if not row.remark] == ["cs"]
