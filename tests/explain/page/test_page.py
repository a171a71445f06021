# Real clicks in a headless Chromium, compared with the explanations and the owner's tables.
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from bagcn.explain.page import data as data_module
from bagcn.explain.page import render_page
from bagcn.explain.reasons import reasons
from browser import Browser
from explain.library import ALONE, BOOKS, ODD, named, tables


@pytest.fixture
def shown(browser: Browser, page: Path) -> Iterator[Browser]:
    """The page, opened; in the end there is nothing that the console complains of."""
    browser.open(page)
    yield browser
    assert browser.errors() == []
    assert [url.split("#")[0] for url in browser.requests()] == [page.resolve().as_uri()]


def at(browser: Browser) -> str:
    return browser.text("#panel h2")


def rows(browser: Browser, table: str) -> list[list[str]]:
    script = """return [...document.querySelectorAll(arguments[0])].map(
      (row) => [...row.cells].map((cell) => cell.innerText))"""
    found: list[list[str]] = browser.run(script, f"{table} tbody tr")
    return found


def points(row: dict[str, Any]) -> str:
    change = 100 * row["change"]
    if abs(change) < 0.005:
        return "±0"
    return f"{'+' if change > 0 else '−'}{abs(change):.{2 if abs(change) < 1 else 1}f}"


def test_it_opens_at_the_node_with_its_reasons(shown: Browser) -> None:
    found = reasons(named(), "book-000", 6)
    assert shown.text("h1") == shown.run("return document.title") == "A <library> & its books"
    assert at(shown) == "book-000"
    assert f"Predicted {found['prediction']} with" in shown.text("#panel .lead")
    parts = [row for _, row in found["without"].items()]
    for (_, cell), part in zip(rows(shown, "#parts"), parts, strict=True):
        assert cell.startswith(f"{100 * part['probability']:.1f}% {points(part)}")
        assert ("then" in cell) == (part["prediction"] != found["prediction"])
    for (rank, who, weight, without), row in zip(
        rows(shown, "#shortcuts"), found["shortcuts"], strict=True
    ):
        label = f"label {row['label']}" if row["label"] else f"predicted {row['prediction']}"
        hops = "other component" if row["hops"] is None else f"{row['hops']} hops"
        assert who.split("\n") == [row["node"], f"{label}, {hops}"]
        assert weight.split("\n")[1] == f"{row['weight'] * BOOKS:.1f} × even"
        assert points(row["without"]) in without
        assert rank == str(found["shortcuts"].index(row) + 1)
    assert shown.count("#graph .shortcut") == shown.count("#graph .distant") == 6


def test_the_figure_holds_the_neighbours(shown: Browser) -> None:
    _, edges = tables()
    ends = set(edges.itertuples(index=False, name=None))
    around = {b for a, b in ends if a == "book-000"} | {a for a, b in ends if b == "book-000"}
    script = (
        "return [...document.querySelectorAll('#graph .near')].map(g => nodes.id[g.dataset.node])"
    )
    assert set(shown.run(script)) == around
    assert shown.count("#graph .centre") == 1


def test_searching(shown: Browser) -> None:
    shown.type("/")
    shown.type("book-01")
    shown.wait(lambda: shown.count("#found li") == 8)
    assert shown.text("#found li:first-child").startswith("book-010")
    shown.type("ArrowDown")
    shown.type("Enter")
    assert at(shown) == "book-011"
    shown.click("#search")
    shown.type("o'hara")
    shown.click("#found li")
    assert at(shown) == ODD[7]
    shown.click("#search")
    shown.type("no such book")
    assert shown.text("#found") == "No such node"
    shown.type("Escape")
    assert at(shown) == ODD[7]
    assert not shown.run("return document.querySelector('#found').checkVisibility()")


def test_markup_in_ids_is_text(shown: Browser) -> None:
    for place in ODD:
        shown.click("#search")
        shown.type(ODD[place])
        shown.type("Enter")
        assert at(shown) == ODD[place]
        assert shown.count("#panel h2 *") == 0


def test_hovering_tells_the_columns(shown: Browser) -> None:
    nodes, _ = tables()
    shown.hover("#graph .distant circle")
    other = reasons(named(), "book-000", 1)["shortcuts"][0]
    book = nodes.set_index("book").loc[other["node"]]
    told = shown.run(
        """return [...document.querySelectorAll('#tip dt')].map(
          (name) => [name.innerText, name.nextSibling.innerText])"""
    )
    found = dict(told)
    assert shown.text("#tip strong") == other["node"]
    assert found["label"] == (other["label"] or "not known")
    assert found["predicted"].startswith(other["prediction"])
    cells = {name: str(book[name]) for name in ("lent", "place") if not pd.isna(book[name])}
    cells |= {"bought": str(book["bought"])[:10], "pages": f"{book['pages']:g}"}
    assert {name: found[name] for name in found if name in cells} == cells
    assert set(found["about"].split()) == set(book["about"].split())
    assert shown.count(".shortcut.lit") == shown.count("#shortcuts tr.lit") == 1
    shown.hover("h1")
    assert not shown.run("return document.querySelector('#tip').checkVisibility()")
    assert shown.count(".lit") == 0


def test_clicking_walks_and_back(shown: Browser) -> None:
    way = ["book-000"]
    for target in (
        "#graph .near circle:last-of-type",
        "#graph .distant circle:last-of-type",
        "#shortcuts .walk",
        ".chips button",
    ):
        shown.click(target)
        way.append(at(shown))
        assert way[-1] != way[-2]
        assert reasons(named(), way[-1])["prediction"] in shown.text("#panel .lead")
    for node in reversed(way[:-1]):
        shown.click("#back")
        shown.wait(lambda node=node: at(shown) == node)  # type: ignore[misc]
    assert shown.run("return document.querySelector('#back').disabled")


def test_an_address_names_its_node(shown: Browser) -> None:
    shown.run("location.hash = 'node=book-020'")
    shown.wait(lambda: at(shown) == "book-020")


def test_keys_alone(shown: Browser) -> None:
    shown.run("document.querySelector('.centre').focus()")
    shown.type("ArrowRight")
    name = shown.run("return document.activeElement.getAttribute('aria-label')")
    shown.wait(lambda: shown.count("#tip:not([hidden])") == 1)
    assert name.startswith(shown.text("#tip strong"))
    shown.type("Enter")
    assert name.startswith(at(shown) + ", ")
    assert shown.run("return document.activeElement.matches('.centre')")
    shown.type("Backspace")
    shown.wait(lambda: at(shown) == "book-000")


def test_zooming_and_moving(shown: Browser) -> None:
    moved = "return document.querySelector('#scene').getAttribute('transform')"
    assert shown.run(moved) is None
    shown.click('[data-zoom="1.25"]')
    assert shown.run(moved).endswith("scale(1.25)")
    shown.click('[data-zoom="0"]')
    assert shown.run(moved) == "translate(0 0) scale(1)"


GROUND = "return getComputedStyle(document.body).backgroundColor"


def test_light_and_dark(shown: Browser, page: Path) -> None:
    light = shown.run(GROUND)
    shown.click("#theme")
    dark = shown.run(GROUND)
    assert sum(channels(light)) > 600 > 150 > sum(channels(dark))

    def again(*, dark: bool) -> str:
        shown.open(page, dark=dark)
        return str(shown.run(GROUND))

    shown.wait(lambda: again(dark=False) == dark)  # it is remembered, as soon as it is written
    shown.run("localStorage.clear()")
    shown.wait(lambda: again(dark=False) == light)
    assert again(dark=True) == dark  # as the system has it


def channels(colour: str) -> list[int]:
    return [int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(",")]


@pytest.mark.parametrize("width", [1280, 400])
def test_nothing_sticks_out_or_overlaps(browser: Browser, page: Path, width: int) -> None:
    browser.open(page, width=width)
    for node in range(0, BOOKS, 7):
        browser.run("walk(arguments[0])", node)
        assert browser.run("return document.documentElement.scrollWidth") == width
        boxes = browser.run(BOXES)
        assert len(boxes) == 6
        for x, y, right, bottom in boxes:
            assert 0 <= x < right <= (width if width < 500 else width - 440)
            assert 0 <= y < bottom <= 800
        for k, (x, y, right, bottom) in enumerate(boxes):
            for other in boxes[k + 1 :]:
                assert right <= other[0] or other[2] <= x or bottom <= other[1] or other[3] <= y


BOXES = """return [...document.querySelectorAll('#graph .distant text')].map((text) => {
  const box = text.getBoundingClientRect();
  return [box.left, box.top, box.right, box.bottom]; })"""


def test_a_part_of_a_large_graph(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, size in (("ALL_UP_TO", 0), ("EXPLAINED", 10), ("LISTED", 30)):
        monkeypatch.setattr(data_module, name, size)
    path = tmp_path / "part.html"
    path.write_text(render_page(named(), ALONE, top=3), "utf-8")
    browser.open(path)
    assert "None: it stands alone." in browser.text("#panel")
    assert browser.text("#cap").startswith(f"This page holds 30 of {BOOKS} nodes")
    assert browser.count("#shortcuts tbody tr") == 3
    browser.run("walk(nodes.id.length - 1)")
    assert "This page holds the reasons for" in browser.text("#panel")
    quoted = "'" + at(browser).replace("'", "'\\''") + "'"
    assert browser.text("#panel code").endswith(f"--node {quoted} --html page.html")
    assert browser.errors() == []


def test_more_shortcuts_than_the_figure_holds(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "many.html"
    path.write_text(render_page(named(), ALONE, top=BOOKS), "utf-8")
    browser.open(path)
    assert browser.count("#shortcuts tbody tr") == BOOKS - 1
    assert browser.count("#graph .shortcut") == 24
    assert f"{BOOKS - 25} weaker shortcuts in the table only." in browser.text("#cap")
    assert browser.errors() == []
