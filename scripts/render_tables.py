"""Put what commands print into the Markdown pages that show it: ``render_tables.py [--check]``.

A page says which command makes a part of it:

    <!-- made by: bagcn bench gcn --out results/bench --table-only --format md -->
    (replaced by what the command prints)
    <!-- end -->
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
PART = re.compile(r"(<!-- made by: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)


def pages() -> list[Path]:
    """Return the pages that may have such parts."""
    return [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]


def rendered(text: str) -> str:
    """Return the page's text with its parts made anew."""
    return PART.sub(lambda part: f"{part[1]}\n{printed(part[2])}\n\n{part[3]}", text)


def printed(command: str) -> str:
    """Run a command in the repository and return what it prints."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        shlex.split(command),
        cwd=REPOSITORY,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{command}\n{done.stderr}")
    return done.stdout.strip()


def main(check: bool) -> None:
    """Rewrite the pages, or say which are not up to date."""
    stale = []
    for page in pages():
        old = page.read_text("utf-8")
        new = rendered(old)
        if new != old:
            stale.append(str(page.relative_to(REPOSITORY)))
            if not check:
                page.write_text(new, "utf-8")
    if check and stale:
        sys.exit(f"not up to date: {', '.join(stale)}; run make tables")
    for name in stale:
        print(f"{name} is new")


if __name__ == "__main__":
    main("--check" in sys.argv[1:])
