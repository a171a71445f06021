"""The site builds without a warning, and its pages load nothing from elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
LOADED = re.compile(
    r'<(?:script|img|iframe|link rel="(?:stylesheet|preconnect)")[^>]*?https?://[^>]*>'
)


def test_site_needs_no_network(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", tmp_path],
        cwd=REPOSITORY,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    pages = {
        page.relative_to(tmp_path): page.read_text("utf-8") for page in tmp_path.rglob("*.html")
    }
    assert {name: LOADED.findall(page) for name, page in pages.items() if LOADED.search(page)} == {}
    assert "bagcn bench [OPTIONS]" in pages[Path("reference/commands.html")]
    assert "Ŷ_gcn = softmax(Â H_c' W_c)" in pages[Path("reference/nn.html")].replace("&#39;", "'")
