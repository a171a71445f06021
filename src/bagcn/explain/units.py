"""Features in the units of their owner: years and not standard deviations.

F features.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from bagcn.tables.arrays import ArrayEncoder
from bagcn.tables.encoders import Encoder, TableEncoder

__all__ = ["own_units"]


def own_units(encoder: Encoder) -> Tensor | None:
    """Return what standardised features are multiplied by, and what is added to them, (2, F).

    Features that were not standardised stay as they are; None if no feature was.
    """
    if isinstance(encoder, ArrayEncoder):
        if encoder.mean is None or encoder.scale is None:
            return None
        return torch.from_numpy(np.stack([encoder.scale, encoder.mean]))
    if not isinstance(encoder, TableEncoder):
        return None
    return torch.cat([_of_column(len(c.names), c.learnt) for c in encoder.used], dim=1)


def _of_column(width: int, learnt: Any) -> Tensor:
    """Return the units of a column's features: what was learnt, then flags of gaps."""
    units = torch.tensor([[1.0], [0.0]], dtype=torch.float64).repeat(1, width)
    if "mean" in learnt:
        own = torch.tensor([learnt["scale"], learnt["mean"]], dtype=torch.float64)
        units[:, : own.shape[1]] = own
    return units
