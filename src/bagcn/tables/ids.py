"""The user's node ids and class names: kept exactly, matched between tables, written as JSON.

N nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import numpy as np

__all__ = ["from_json", "id_array", "match", "position_of", "to_json"]

Array = np.ndarray


def id_array(values: Sequence[Any] | Array) -> Array:
    """Return ids as an array that changes none of them: integers as such, others as objects."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu":
        return values
    objects = np.fromiter((_plain(value) for value in values), dtype=object, count=len(values))
    if len(objects) and all(type(value) is int for value in objects):
        return _integers(objects)
    return objects


def _integers(objects: Array) -> Array:
    """Return whole numbers as int64 where they fit, else as the Python integers they are."""
    try:
        return objects.astype(np.int64)
    except OverflowError:
        return objects


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def match(ids: Array, wanted: Array) -> Array:
    """Return where each wanted id stands among ``ids``, -1 where it does not: (len(wanted),).

    Ids of one kind are compared as they are; whole numbers in one table and texts in the other
    (Parquet and CSV, say) are compared as texts.
    """
    import pandas as pd

    if _kind(ids) != _kind(wanted):
        ids, wanted = _texts(ids), _texts(wanted)
    found: Array = pd.Index(ids, dtype=ids.dtype).get_indexer(pd.Index(wanted, dtype=wanted.dtype))
    return found


def _kind(ids: Array) -> str:
    if ids.dtype != object:
        return "int"
    kinds = {type(value).__name__ for value in ids}
    return kinds.pop() if len(kinds) == 1 else "object"


def _texts(ids: Array) -> Array:
    return np.fromiter(map(str, ids.tolist()), dtype=object, count=len(ids))


def position_of(ids: Array, wanted: Any) -> int:
    """Return the position of one id, given as it is or as its text (on a command line)."""
    same = [
        i for i, value in enumerate(ids.tolist()) if value == wanted and type(value) is not bool
    ]
    found = same or [i for i, value in enumerate(ids.tolist()) if str(value) == str(wanted)]
    if not found:
        example = ", ".join(repr(value) for value in ids[:3].tolist())
        raise ValueError(f"there is no node with the id {wanted!r}; the ids are like {example}")
    return found[0]


def to_json(values: Array) -> Any:
    """Return ids or class names as JSON that :func:`from_json` reads back exactly."""
    if values.dtype.kind in "iu" and np.array_equal(values, np.arange(len(values))):
        return {"range": len(values)}
    return [_tagged(value) for value in values.tolist()]


def from_json(saved: Any) -> Array:
    """Return the ids or class names that :func:`to_json` was given."""
    if isinstance(saved, dict):
        return np.arange(saved["range"])
    return id_array([_untagged(value) for value in saved])


def _tagged(value: Any) -> Any:
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, UUID):
        return {"uuid": str(value)}
    if isinstance(value, tuple):
        return {"tuple": [_tagged(item) for item in value]}
    raise ValueError(
        f"cannot save the id {value!r} of type {type(value).__name__}: "
        "use texts, whole numbers, UUIDs or tuples of these"
    )


def _untagged(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "uuid" in value:
        return UUID(value["uuid"])
    return tuple(_untagged(item) for item in value["tuple"])
