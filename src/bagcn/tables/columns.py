"""What a column of a table holds: rules that can be read, printed and overruled.

N rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "KINDS",
    "RULES",
    "Found",
    "booleans_of",
    "cells_of",
    "dates_of",
    "detect",
    "numbers_of",
    "texts_of",
]

Array = np.ndarray

KINDS = ("number", "boolean", "category", "date", "text")
"""What a column can hold."""

RULES = """\
A column is left out if all its cells are equal or empty; otherwise it is
  boolean   if its words are true/false, yes/no or t/f,
  number    if all cells are numbers (3.5, or 3,5), none with a leading zero as codes have,
  date      if all cells are ISO dates or times (2024-05-31),
  text      if its cells have three words or more on average and more than 20 differ,
  left out  if more than 50, and more than half, of its cells differ: an identifier,
  category  otherwise."""

_TRUE, _FALSE = ("true", "yes", "t", "y"), ("false", "no", "f", "n")
_MISSING = ("", "na", "n/a", "nan", "null", "none", "-", "?", "<na>")
_COMMA = r"\s*[+-]?\d+,\d+(?:[eE][+-]?\d+)?\s*"
_POINT = r"\s*[+-]?\d*\.\d+(?:[eE][+-]?\d+)?\s*"
_THOUSANDS = r"\s*[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?\s*"
_MOSTLY = 0.8  # from this share of numbers or dates on, the rest looks like a mistake


@dataclass(frozen=True)
class Found:
    """What a column was found to hold: its kind, or None to leave it out, and why."""

    kind: str | None
    why: str


def detect(column: pd.Series[Any]) -> Found:
    """Return what the column holds, by :data:`RULES`."""
    from pandas.api import types

    if _is_list(column):
        return Found(None, "lists")
    distinct = column.nunique()
    if distinct == 0:
        return Found(None, "empty")
    if distinct == 1 and not column.isna().any() and str(column.iloc[0]):
        return Found(None, "all cells equal")
    if types.is_bool_dtype(column.dtype):
        return Found("boolean", "stored as boolean")
    if _is_time(column):
        return Found("date", "stored as date")
    if types.is_numeric_dtype(column.dtype):
        return Found("number", "stored as numbers")
    if _is_duration(column):
        return Found("number", "stored as durations")
    return _detect_words(column)


def _detect_words(column: pd.Series[Any]) -> Found:
    """Return what a column of texts holds."""
    import pandas as pd

    present = pd.Series(texts_of(column)).dropna()
    if present.nunique() == 0:
        return Found(None, "empty")
    if present.nunique() == 1 and len(present) == len(column):
        return Found(None, "all cells equal")
    told = present[~present.str.strip().str.lower().isin(_MISSING)]
    if len(told) and told.str.strip().str.lower().isin(_TRUE + _FALSE).all():
        return Found("boolean", "true and false words")
    for kind, share, example in (_share_of_numbers(told, column.name), _share_of_dates(told)):
        if share == 1:
            comma = ", with a decimal comma" if told.str.contains(",", regex=False).any() else ""
            return Found(kind, f"all cells are {kind}s{comma}")
        if share >= _MOSTLY:
            raise ValueError(_mixed(column, kind, share, example))
    return _detect_prose(present)


def _detect_prose(present: pd.Series[Any]) -> Found:
    distinct = present.nunique()
    words = float(np.mean([len(cell.split()) for cell in present.head(2000)]))
    if words >= 3 and distinct > 20:
        return Found("text", f"{words:.0f} words a cell")
    if distinct > 50 and distinct > len(present) / 2:
        return Found(None, f"an identifier: {distinct:,} different values")
    return Found("category", f"{distinct:,} different values")


def _share_of_numbers(told: pd.Series[Any], name: Any) -> tuple[str, float, Any]:
    """Return which share of the cells are numbers, and the first that is none."""
    import pandas as pd

    if not len(told):
        return "number", 0.0, None
    words, unclear = _with_points(told)
    other = (pd.to_numeric(words, errors="coerce").isna() & ~unclear).to_numpy()
    if unclear.any() and 1 - other.mean() >= _MOSTLY:
        raise _thousands(told[unclear].iloc[0], name)
    if not other.any() and told.str.match(r"\s*0\d").any():
        return "number", 0.0, None
    return "number", 1 - float(other.mean()), _first(told, other)


def _with_points(words: pd.Series[Any]) -> tuple[pd.Series[Any], pd.Series[Any]]:
    """Return numbers like 3,5 with a point, and which cells may hold thousands, like 1,234.

    A comma is a decimal one if the words have no number with a point, and a comma that cannot
    part thousands.
    """
    comma = words.str.contains(",", regex=False, na=False).astype(bool)
    if not comma.any():
        return words, comma
    decimal = words.str.fullmatch(_COMMA, na=False).astype(bool)
    unclear = words.str.fullmatch(_THOUSANDS, na=False).astype(bool)
    if (decimal & ~unclear).any() and not words.str.fullmatch(_POINT, na=False).any():
        return words.mask(decimal, words.str.replace(",", ".", regex=False)), unclear & ~decimal
    return words, unclear


def _thousands(cell: str, name: Any) -> ValueError:
    return ValueError(
        f"column {name!r} holds {cell!r}, whose comma may part thousands or decimals: write its "
        f"numbers without thousands' commas and with a decimal point, or say --as {name}=category"
    )


def _share_of_dates(told: pd.Series[Any]) -> tuple[str, float, Any]:
    if not len(told) or not told.head(100).str.match(r"\s*\d{4}-\d\d").mean() >= _MOSTLY:
        return "date", 0.0, None
    other = np.isnat(_parsed(told, "ISO8601"))
    return "date", 1 - float(other.mean()), _first(told, other)


def _first(told: pd.Series[Any], other: Array) -> Any:
    return (int(told.index[other][0]), told[other].iloc[0]) if other.any() else None


def _mixed(column: pd.Series[Any], kind: str, share: float, example: tuple[int, str]) -> str:
    row, value = example
    return (
        f"column {column.name!r} is {share:.1%} {kind}s, but row {row + 1} holds {value!r}: "
        f"--as {column.name}={kind} takes what is no {kind} as missing, "
        f"--as {column.name}=category takes all as words, --drop {column.name} leaves it out"
    )


def cells_of(column: pd.Series[Any]) -> Array:
    """Return the cells as objects, None where there is nothing: (N,)."""
    cells: Array = column.to_numpy(dtype=object, na_value=None)  # type: ignore[call-overload]
    return cells


def texts_of(column: pd.Series[Any]) -> Array:
    """Return the cells as texts, None where they are missing or empty: (N,) objects.

    Whole numbers are written without a point, also where gaps have made them decimal.
    """
    cells = cells_of(column)
    if column.dtype.kind == "f":
        cells = np.array([_whole(cell) for cell in cells], dtype=object)
    texts = (None if _absent(cell) else str(cell) for cell in cells)
    return np.fromiter(texts, dtype=object, count=len(cells))


def _whole(cell: Any) -> Any:
    return int(cell) if isinstance(cell, float) and cell.is_integer() else cell


def _absent(cell: Any) -> bool:
    return cell is None or cell == "" or bool(cell != cell)


def numbers_of(column: pd.Series[Any]) -> Array:
    """Return the cells, 3.5 or 3,5, as float64, NaN where they are no numbers: (N,)."""
    import pandas as pd

    if _is_duration(column):
        return _seconds(column)
    read = pd.to_numeric(_commas_read(column), errors="coerce")
    numbers = np.asarray(read.to_numpy(dtype=np.float64, na_value=np.nan))
    infinite = np.flatnonzero(np.isinf(numbers))
    if len(infinite):
        raise ValueError(
            f"column {column.name!r} holds infinite values ({len(infinite):,} in all, the first in "
            f"row {infinite[0] + 1}): empty these cells, or leave the column out with "
            f"--drop {column.name}"
        )
    return numbers


def _commas_read(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column of texts with decimal points, any other as it is."""
    import pandas as pd
    from pandas.api import types

    if types.is_numeric_dtype(column.dtype):
        return column
    words, unclear = _with_points(pd.Series(texts_of(column), dtype=object))
    if unclear.any():
        raise _thousands(words[unclear].iloc[0], column.name)
    return words


def booleans_of(column: pd.Series[Any]) -> Array:
    """Return 1 for true, 0 for false, NaN for all else: (N,) float64."""
    from pandas.api import types

    if types.is_bool_dtype(column.dtype) or types.is_numeric_dtype(column.dtype):
        numbers = np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
        return np.where(np.isnan(numbers), numbers, (numbers != 0).astype(np.float64))
    import pandas as pd

    words = pd.Series(texts_of(column)).str.strip().str.lower()
    numbers = np.full(len(words), np.nan)
    numbers[words.isin((*_TRUE, "1")).to_numpy()] = 1
    numbers[words.isin((*_FALSE, "0")).to_numpy()] = 0
    return numbers


def dates_of(column: pd.Series[Any]) -> Array:
    """Return the cells as datetime64[s], in UTC, NaT where they are missing or no dates: (N,)."""
    import pandas as pd

    if _is_time(column):
        return _parsed(column, None)
    return _parsed(pd.Series(texts_of(column)), "mixed")


def _parsed(column: pd.Series[Any], style: str | None) -> Array:
    import pandas as pd

    times = pd.to_datetime(column, format=style, errors="coerce", utc=True)
    plain: Array = times.dt.tz_localize(None).to_numpy(dtype="datetime64[s]")
    return plain


def _is_time(column: pd.Series[Any]) -> bool:
    from pandas.api import types

    return types.is_datetime64_any_dtype(column.dtype) or "date32" in str(column.dtype)


def _is_duration(column: pd.Series[Any]) -> bool:
    from pandas.api import types

    return types.is_timedelta64_dtype(column.dtype) or str(column.dtype).startswith("duration")


def _seconds(column: pd.Series[Any]) -> Array:
    import pandas as pd

    seconds: Array = (
        pd.to_timedelta(column).dt.total_seconds().to_numpy(np.float64, na_value=np.nan)
    )
    return seconds


def _is_list(column: pd.Series[Any]) -> bool:
    filled = column.dropna()
    return len(filled) > 0 and isinstance(filled.iloc[0], list | dict | set | np.ndarray)
