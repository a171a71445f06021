# The script runs as it stands, and what it trains has learnt something.
from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "examples" / "pyg_script.py"


def test_both_networks_learn() -> None:
    run = subprocess.run(
        [sys.executable, "-W", "ignore", str(SCRIPT), "10"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    found = re.findall(r"^(.+): ([\d.]+)% of the test nodes are right$", run.stdout, re.MULTILINE)
    assert [name for name, _ in found] == ["BAGCN", "own network"]
    assert all(float(accuracy) > 55 for _, accuracy in found)  # a blind guess: 32
