"""Make a small, realistic data set: the articles of a library, who cites whom, a few topics known.

The topics are the classes of :func:`bagcn.data.synthetic_graph`: every topic has several distant
circles of articles, and only some circles have labels. Usage: ``make_tables.py FOLDER [NODES]``.
"""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from bagcn.data import synthetic_graph

TOPICS = ["astronomy", "botany", "chess", "dance"]
WORDS = {
    "astronomy": "star planet orbit telescope galaxy light comet moon",
    "botany": "leaf root flower seed forest moss soil pollen",
    "chess": "opening knight endgame queen tempo gambit board rook",
    "dance": "rhythm stage ballet step tango music costume floor",
}
COMMON = "study of the new old long short history first second great notes view field work"
PLACES = ["Lima", "Oslo", "Accra", "Kyoto", "Quito", "Turin"]


def make_tables(
    folder: Path, num_nodes: int = 600, seed: int = 0
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Write ``nodes.csv`` and ``edges.csv`` (and gzipped and Parquet twins); return both.

    Args:
        folder: where to; it is made.
        num_nodes: the number of articles.
        seed: of everything that is drawn.
    """
    graph = synthetic_graph(
        num_nodes, num_classes=4, regions_per_class=3, labelled_regions=2, noise=0.8, seed=seed
    )
    generator = np.random.default_rng(seed)
    topics = np.array(TOPICS)[graph.y.numpy()]
    known = (graph.train_mask | graph.val_mask).numpy()
    nodes = pd.DataFrame(
        {
            "article": [f"art-{i:05d}" for i in range(num_nodes)],
            "pages": _pages(generator, graph.x[:, 0].numpy()),
            "open_access": np.where(generator.random(num_nodes) < 0.6, "yes", "no"),
            "place": _places(generator, graph.y.numpy()),
            "published": _dates(generator, graph.x[:, 1].numpy()),
            "abstract": [_abstract(generator, topic) for topic in topics],
            "topic": np.where(known, topics, ""),
        }
    )
    edges = _citations(generator, nodes["article"].to_numpy(), graph.edge_index.numpy())
    _write(folder, nodes, edges)
    return nodes, edges


def _pages(generator: np.random.Generator, signal: np.ndarray) -> list[str]:
    """Numbers, some of them missing."""
    pages = np.exp(2.5 + 0.3 * signal + 0.3 * generator.standard_normal(len(signal)))
    gaps = generator.random(len(signal)) < 0.05
    return ["" if gap else str(round(page)) for gap, page in zip(gaps, pages, strict=True)]


def _places(generator: np.random.Generator, y: np.ndarray) -> list[str]:
    """Categories that lean towards the class, a rare one, and gaps."""
    lean = generator.random(len(y)) < 0.3
    place = np.array(PLACES)[np.where(lean, y, generator.integers(len(PLACES), size=len(y)))]
    place[generator.random(len(y)) < 0.03] = ""
    place[:1] = "Nuuk"
    return list(place)


def _dates(generator: np.random.Generator, signal: np.ndarray) -> list[str]:
    days = 14_000 + 1_000 * signal + 500 * generator.standard_normal(len(signal))
    return [str(np.datetime64(int(day), "D")) for day in days]


def _abstract(generator: np.random.Generator, topic: str) -> str:
    """Common words and one of a topic: mostly its own, sometimes another's."""
    about = topic if generator.random() < 0.7 else generator.choice(TOPICS)
    own, common = WORDS[about].split(), COMMON.split()
    return " ".join([*generator.choice(common, 8), *generator.choice(own, 1)])


def _citations(
    generator: np.random.Generator, ids: np.ndarray, edge_index: np.ndarray
) -> pd.DataFrame:
    """Every edge once, in a drawn direction, with a weight; one self-loop, one repeated row."""
    source, target = edge_index[:, edge_index[0] < edge_index[1]]
    turned = generator.random(len(source)) < 0.5
    source, target = np.where(turned, target, source), np.where(turned, source, target)
    edges = pd.DataFrame({"citing": ids[source], "cited": ids[target]})
    edges["times"] = generator.integers(1, 4, size=len(edges))
    extra = pd.DataFrame({"citing": [ids[0]], "cited": [ids[0]], "times": [1]})
    return pd.concat([edges, extra, edges.head(1)], ignore_index=True)


def _write(folder: Path, nodes: pd.DataFrame, edges: pd.DataFrame) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in (("nodes", nodes), ("edges", edges)):
        text = table.to_csv(index=False)
        (folder / f"{name}.csv").write_text(text, "utf-8")
        (folder / f"{name}.csv.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
        table.to_parquet(folder / f"{name}.parquet", index=False)


if __name__ == "__main__":
    made = make_tables(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 600)
    print(f"{len(made[0]):,} articles and {len(made[1]):,} citations in {sys.argv[1]}")
