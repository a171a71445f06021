from __future__ import annotations

import pytest

from bagcn.data import sources


@pytest.fixture
def attacked_graphs() -> None:
    """Skips where the graphs of Metattack and Nettack are not."""
    own = sources.data_folder(None)
    if own is None or not (own / "ProGNN").is_dir():
        pytest.skip("BAGCN_DATA does not hold the attacked graphs")
