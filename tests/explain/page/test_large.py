# The page of 20,000 nodes: its size, how soon it opens, how smoothly it goes on.
from __future__ import annotations

import statistics
from pathlib import Path

import pytest
import torch

from bagcn.data import synthetic_graph
from bagcn.explain import Named
from bagcn.explain.page import data as data_module
from bagcn.explain.page import render_page
from bagcn.nn import BAGCN
from browser import Browser

NODES, FEATURES = 20_000, 24


def large() -> Named:
    data = synthetic_graph(NODES, num_classes=5, num_features=FEATURES, degree=10.0)
    model = BAGCN(FEATURES, 8, 5)
    x, graph = model.prepare(data.x, data.edge_index)
    ids = [f"a rather long name of the node {node:09d}" for node in range(NODES)]
    columns = [f"column {place}" for place in range(FEATURES)]
    y = torch.where(data.train_mask, data.y, -1)
    train = data.train_mask.nonzero()[:, 0]
    return Named(model, x, graph, y, ids, list("abcde"), columns, train)


@pytest.mark.slow
def test_a_large_page(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_module, "EXPLAINED", 100)
    page = tmp_path / "page.html"
    page.write_text(render_page(large(), 7), "utf-8")
    assert 3e6 < page.stat().st_size < 10e6
    browser.open(page)
    browser.wait(lambda: browser.run(OPENED) > 0)
    assert browser.run(OPENED) < 2000
    assert browser.run("return nodes.id.length") == NODES
    walks = browser.run(WALKS)
    assert max(marks for _, marks in walks) < 200  # only what is shown is drawn
    assert statistics.median(spent for spent, _ in walks) < 50
    assert browser.errors() == []


OPENED = "return performance.getEntriesByType('navigation')[0].loadEventEnd"
WALKS = """const found = [];
for (let k = 1; k <= 50; k += 1) {
  const start = performance.now();
  walk((k * 397) % nodes.id.length);
  document.body.getBoundingClientRect(); // the layout counts
  found.push([performance.now() - start, document.querySelectorAll('#graph .node').length]);
}
return found;"""
