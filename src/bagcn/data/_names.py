"""One wording for every unknown name: what came, the nearest known one, all of them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def unknown(kind: str, name: str, known: Iterable[str]) -> ValueError:
    """The error for a ``name`` that is not among the ``known`` ones of this ``kind``.

    >>> unknown("data set", "coar", ["cora", "photo"])
    ValueError("unknown data set 'coar'; did you mean 'cora'? Known: cora, photo")
    """
    names = list(known)
    lowered = {candidate.lower(): candidate for candidate in names}
    nearest = difflib.get_close_matches(name.lower(), lowered, n=1)
    hint = f"did you mean {lowered[nearest[0]]!r}? " if nearest else ""
    return ValueError(f"unknown {kind} {name!r}; {hint}Known: {', '.join(names)}")
