from __future__ import annotations

from pathlib import Path

from bagcn.reproduce import NAMES
from cli.conftest import Bagcn
from report.store import write_store


def test_a_store_becomes_a_page_and_tables(bagcn: Bagcn, tmp_path: Path) -> None:
    store, out = write_store(tmp_path / "store"), tmp_path / "out"
    answer = bagcn("report", "--store", store, "--out", out)
    assert (answer.code, answer.err) == (0, "")
    assert f"{out / 'index.html'}   0." in answer.out
    assert f"{out / 'tables'}   LaTeX, {len(NAMES) + 1} files" in answer.out
    found = sorted(str(file.relative_to(out)) for file in out.rglob("*") if file.is_file())
    tables = [f"tables/{name}.tex" for name in ("bench", *NAMES)]
    pictures = ["lambda.png", "robustness-cora.png", "temperature.png"]
    assert {"index.html", "report.md", *tables, *pictures} <= set(found)
    text = (out / "report.md").read_text("utf-8")
    assert "| GCN | paper | 81.7 ± 0.4 |" in text
    assert "81.3 ± 0.5 (6 runs)" in text
    for picture in (line for line in text.splitlines() if line.startswith("![")):
        assert (out / picture.split("(")[1].rstrip(")")).exists()
    assert bagcn("report", "--store", store, "--out", out, "--quiet").out == ""


def test_a_folder_without_runs_is_refused(bagcn: Bagcn, tmp_path: Path) -> None:
    error = bagcn("report", "--store", tmp_path, "--out", tmp_path / "out").error
    assert "holds no runs: make some with bagcn reproduce" in error
    assert not (tmp_path / "out").exists()
