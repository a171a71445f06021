"""Real clicks in a headless Chromium, compared with what the store holds."""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest

from bagcn.report.content import report_content
from bagcn.report.page import render_page
from bagcn.reproduce import NAMES, load_study
from browser import Browser
from report.store import GPU, TESTS, cell, write_store


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    file = folder / "index.html"
    file.write_text(render_page(report_content(write_store(folder / "store"))[0]), "utf-8")
    return file


@pytest.fixture
def shown(browser: Browser, page: Path) -> Iterator[Browser]:
    """The page, opened; in the end there is nothing that the console complains of."""
    browser.open(page)
    browser.run("document.documentElement.style.scrollBehavior = 'auto'")
    yield browser
    assert browser.errors() == []
    assert {url.split("#")[0] for url in browser.requests()} == {page.resolve().as_uri()}


SMALL = "#table-small .result"


def column(browser: Browser, table: str, place: int) -> list[str]:
    """The first line of a column's cells, from top to bottom."""
    script = """return [...document.querySelectorAll(arguments[0] + " tbody tr")].map(
      (row) => row.cells[arguments[1]]?.innerText.split("\\n")[0])"""
    found: list[str] = browser.run(script, table, place)
    return found


def press(browser: Browser, selector: str, text: str) -> None:
    """Click the element of this text."""
    script = """const found = [...document.querySelectorAll(arguments[0])].find(
      (each) => each.textContent.trim() === arguments[1]);
      found.id = "pressed"; found.scrollIntoView({ block: "center" })"""
    browser.run(script, selector, text)
    browser.click("#pressed")
    browser.run("document.getElementById('pressed')?.removeAttribute('id')")


def test_it_says_what_is_there_and_what_is_missing(shown: Browser) -> None:
    runs = sum(map(len, TESTS.values()))
    assert shown.text("#overview .tile b") == str(runs)
    small = sum(len(tests) for (study, _, _), tests in TESTS.items() if study == "table-small")
    state = shown.text("#table-small .state")
    assert re.match(
        rf"{small} of [\d,]+ runs are there \(20 seeds a cell\): what is missing", state
    )
    assert shown.count("nav a") == shown.count("section") == 2 + len(NAMES)


def test_numbers_stand_beside_the_paper_s(shown: Browser) -> None:
    script = """return [...document.querySelectorAll("#table-small .result tbody tr")].find(
      (row) => row.cells[0].innerText === arguments[0]).cells[1].innerText.split("\\n")"""
    tests = TESTS["table-small", "GCN", "Cora"]
    mean, sd = statistics.fmean(tests), statistics.stdev(tests)
    assert shown.run(script, "GCN") == [
        f"{mean:.1f} ± {sd:.1f}",
        f"{len(tests)} of 20 runs",
        f"paper 81.7 ± 0.4 · −{81.7 - mean:.1f}",
    ]
    assert shown.run(script, "GAT") == ["–", "paper 83.0 ± 0.7"]


def test_a_number_opens_its_recipe_command_and_runs(shown: Browser) -> None:
    recipe = cell(load_study("table-small"), "BAGCN-add", "Cora").recipes[0]
    press(shown, f"{SMALL} [data-number]", "83.5 ± 0.5")
    assert shown.text("#drawer h2") == "BAGCN-add on Cora"
    assert f"recipe {recipe.hash}" in shown.text("#drawer .where")
    assert shown.text("#drawer .big") == "83.50 ± 0.51"
    assert shown.text("#drawer .command code") == "bagcn train cora --model bagcn-add --seeds 20"
    assert f"recipes/bagcn-add.toml, official: {recipe.source}" in shown.text("#drawer")
    settings = shown.text("#drawer .settings").split("\n")
    assert settings[settings.index("hidden_channels") + 1] == "64"
    assert column(shown, "#drawer", 0) == [str(seed) for seed in range(20)]
    assert column(shown, "#drawer", 5) == [GPU] * 20  # as text, not as markup
    assert column(shown, "#drawer", 7)[0] == f"{recipe.hash}00"
    assert shown.count("#drawer circle") == 20
    address = shown.run("return location.hash")
    assert address.startswith("#number=")
    shown.type("Escape")
    assert shown.run("return document.getElementById('drawer').hidden")
    assert shown.run("return document.activeElement.innerText") == "83.5 ± 0.5"


def test_a_link_to_a_number_opens_it(shown: Browser, page: Path) -> None:
    press(shown, f"{SMALL} [data-number]", "60.0 ± 0.0")
    address = shown.run("return location.href")
    shown.run("location.href = 'about:blank'")
    shown.run("location.href = arguments[0]", address)
    shown.wait(lambda: bool(shown.count("#drawer h2")))
    assert shown.text("#drawer h2") == "MLP on Cora"
    shown.click("#drawer .close")
    assert shown.run("return document.getElementById('drawer').hidden")


def test_tables_sort_with_what_is_missing_below(shown: Browser) -> None:
    names = column(shown, SMALL, 0)
    for order in (["BAGCN-add", "GCN", "MLP"], ["MLP", "GCN", "BAGCN-add"]):
        press(shown, f"{SMALL} th button", "Cora")
        assert column(shown, SMALL, 0)[:3] == order
        assert set(column(shown, SMALL, 1)[3:]) == {"–"}
    press(shown, f"{SMALL} th button", "Cora")
    assert column(shown, SMALL, 0) == names
    assert shown.count(f"{SMALL} th[aria-sort]") == 0
    press(shown, f"{SMALL} th button", "model")
    assert column(shown, SMALL, 0) == sorted(names, key=str.casefold)


def test_rows_can_be_filtered(shown: Browser) -> None:
    press(shown, f"{SMALL} .chip", "official")
    shown.click(f"{SMALL} input")
    shown.type("bagcn")
    assert column(shown, SMALL, 0) == ["BAGCN-mul", "BAGCN-add"]
    shown.type("zzz")
    assert column(shown, SMALL, 0) == ["Nothing fits."]


def test_curves_say_their_values_and_can_be_hidden(shown: Browser) -> None:
    line = "#lambda [data-line='Cora']"
    assert shown.count(f"{line} circle") == 3  # λ = 0, 1 (the recipe itself) and 4
    shown.run("arguments; document.querySelector('#lambda .plots').scrollIntoView()")
    shown.hover(f"{line} circle")
    assert shown.text("#tip").split("\n") == ["λ: 0", "Cora", "80.0 ± 0.0"]
    press(shown, "#lambda .legend .chip", "Cora")
    assert shown.count(line) == 0
    press(shown, "#lambda .legend .chip", "Cora")
    assert shown.count(f"{line} circle") == 3


def test_one_of_many_tables_is_chosen(shown: Browser) -> None:
    assert "random edges added: 100 %" in shown.text("#robustness thead")
    assert column(shown, "#robustness .result", 2)[0] == "66.0 ± 1.4"
    press(shown, "#robustness .chip", "PR-BCD, adaptive")
    assert column(shown, "#robustness .result", 5)[0] == "20.0"
    press(shown, "#robustness [data-number]", "20.0")
    assert "attack adaptive:0.25" in shown.text("#drawer .where")
    assert shown.text("#drawer .command code") == "bagcn reproduce robustness"
    shown.type("Escape")
    press(shown, "#robustness .chip", "Cora-ML")
    assert set(column(shown, "#robustness .result", 5)) == {"–"}


def test_claims_can_be_filtered_by_verdict(shown: Browser) -> None:
    every = shown.count("#overview tbody tr")
    press(shown, "#overview .chip", "not enough runs")
    verdicts = set(column(shown, "#overview", 3)) | set(column(shown, "#overview", 4))
    assert "not enough runs" in verdicts
    assert 0 < shown.count("#overview tbody tr") <= every
    press(shown, "#overview .chip", "all")
    assert shown.count("#overview tbody tr") == every


def test_light_and_dark(shown: Browser, page: Path) -> None:
    ground = "return getComputedStyle(document.body).backgroundColor"
    light = shown.run(ground)
    shown.click("#theme")
    assert shown.run(ground) != light
    shown.click("#theme")
    assert shown.run(ground) == light
    shown.run("localStorage.clear()")
    shown.open(page, dark=True)
    assert shown.run("return document.documentElement.dataset.theme") == "dark"
    assert shown.run(ground) != light


def test_nothing_is_wider_than_a_small_screen(shown: Browser, page: Path) -> None:
    shown.open(page, width=400, height=800)
    assert shown.run("return document.documentElement.scrollWidth") <= 400


def test_the_data_cannot_end_their_element(page: Path) -> None:
    text = page.read_text("utf-8")
    raw = text.split('type="application/json">')[1].split("</script>")[0]
    assert "<" not in raw
    assert GPU in json.loads(raw)["words"]
