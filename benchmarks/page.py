"""How fast the page of explanations opens and moves in a headless Chromium.

    python benchmarks/page.py                    # 20,000 nodes
    python benchmarks/page.py --nodes 4000

The graph is that of ``examples/make_tables.py``; one epoch makes a model of it. It needs Chromium
and its driver (Debian: chromium, chromium-driver).
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).parents[1]
sys.path += [str(ROOT / "tests"), str(ROOT / "examples")]

from make_tables import make_tables  # noqa: E402

from bagcn import NodeClassifier  # noqa: E402
from bagcn.explain import Named  # noqa: E402
from bagcn.explain.page import render_page  # noqa: E402
from bagcn.tables import Layout  # noqa: E402
from browser import Browser, opened_browser  # noqa: E402
from measure import report  # noqa: E402

OPENED = """const [page] = performance.getEntriesByType('navigation');
const painted = performance.getEntriesByName('first-contentful-paint');
return [page.loadEventEnd, painted.length ? painted[0].startTime : 0];"""
WALKS = """const times = [];
for (let k = 1; k <= 200; k += 1) {
  const start = performance.now();
  walk((k * 97) % nodes.id.length);
  document.body.getBoundingClientRect(); // the layout counts
  times.push(performance.now() - start);
}
return times;"""
SEARCHES = """const times = [];
for (const text of ['a', 'ar', 'art-0', 'art-01', '99', 'none']) {
  const start = performance.now();
  $('search').value = text;
  offer();
  document.body.getBoundingClientRect();
  times.push(performance.now() - start);
}
leave();
return times;"""
FRAMES = """return new Promise((done) => {
  const gaps = [];
  let last = null;
  function frame(now) {
    if (last !== null) gaps.push(now - last);
    last = now;
    zoom(gaps.length % 60 < 30 ? 1.04 : 1 / 1.04, 400, 300);
    if (gaps.length < 180) requestAnimationFrame(frame); else done(gaps);
  }
  requestAnimationFrame(frame);
});"""


def made(num_nodes: int) -> Named:
    """Return a model on a graph of so many nodes."""
    with tempfile.TemporaryDirectory() as folder:
        nodes, edges = make_tables(Path(folder), num_nodes)
    classifier = NodeClassifier(hidden_channels=32, epochs=1, attention="exact", device="cpu")
    layout = Layout(id="article", label="topic", source="citing", target="cited", weight="times")
    return Named.from_classifier(classifier.fit(nodes, edges=edges, layout=layout))


def measured(browser: Browser, page: Path) -> dict[str, Any]:
    """Open the page, walk, search and zoom; return milliseconds."""
    opened = []
    for _ in range(5):
        browser.open(page)
        browser.wait(lambda: all(browser.run(OPENED)))
        opened.append(browser.run(OPENED))
    walks, searches, frames = (browser.run(script) for script in (WALKS, SEARCHES, FRAMES))
    complaints = browser.errors()
    if complaints:
        raise ValueError(f"the page complains: {complaints[0]}")
    return {
        "opened ms": statistics.median(load for load, _ in opened),
        "painted ms": statistics.median(paint for _, paint in opened),
        "walk ms": statistics.median(walks),
        "slowest walk ms": max(walks),
        "slowest search ms": max(searches),
        "frame ms": statistics.median(frames),
        "99th percentile of frames ms": statistics.quantiles(frames, n=100)[-1],
    }


def main() -> None:
    """Make the page, measure it, write the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=20_000)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    named = made(args.nodes)
    start = time.perf_counter()
    text = render_page(named, 0)
    numbers = {"nodes": args.nodes, "seconds to make": time.perf_counter() - start}
    with tempfile.TemporaryDirectory() as folder, opened_browser() as browser:
        page = Path(folder, "page.html")
        page.write_text(text, "utf-8")
        numbers |= {"MB": page.stat().st_size / 1e6, **measured(browser, page)}
    report("page", torch.device("cpu"), numbers, args.out)


if __name__ == "__main__":
    main()
