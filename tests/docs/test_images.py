"""The picture of the README is what its script draws."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

REPOSITORY = Path(__file__).parents[2]


def things_in(picture: Path) -> dict[str, int]:
    """Return how many nodes and arrows are drawn; the first patch is the background."""
    groups = ET.parse(picture).getroot().iter("{http://www.w3.org/2000/svg}g")
    names = {group.get("id", ""): group for group in groups}
    uses = "{http://www.w3.org/2000/svg}use"
    dots = [len(list(g.iter(uses))) for name, g in names.items() if "PathCollection" in name]
    return {"nodes": max(dots), "arrows": sum(name.startswith("patch_") for name in names) - 1}


def test_picture_shows_the_graph_and_shortcuts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(REPOSITORY / "scripts")
    import draw_images

    draw_images.main(tmp_path)
    drawn = things_in(tmp_path / "shortcuts.svg")
    assert drawn == things_in(REPOSITORY / "docs" / "images" / "shortcuts.svg")
    assert drawn == {"nodes": 150, "arrows": 8}
