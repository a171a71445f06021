"""What a column holds, by rules: examples of each, and what is read from the cells."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from bagcn.tables.columns import Found, booleans_of, dates_of, detect, numbers_of, texts_of

WORDS = ["one of the many", "two of the few", "three in all", "four or so"]
PROSE = [f"{word} {i}" for i, word in enumerate(WORDS * 6)]


def arrow(values: list[Any], kind: pa.DataType) -> pd.Series[Any]:
    return pd.Series(values, dtype=pd.ArrowDtype(kind))


@pytest.mark.parametrize(
    ("cells", "kind", "why"),
    [
        (["1", "2.5", "-3e4"], "number", "all cells are numbers"),
        (["1", "", "NaN", "n/a", "-", "2"], "number", "all cells are numbers"),
        (["007", "123"], "category", "2 different values"),
        (["0.5", "0"], "number", "all cells are numbers"),
        (["yes", "No", " YES "], "boolean", "true and false words"),
        (["true", "f", "?"], "boolean", "true and false words"),
        (["0", "1"], "number", "all cells are numbers"),
        (["2024-05-31", "2023-01-01T10:00:00"], "date", "all cells are dates"),
        (["2024-05-31", "", "NA"], "date", "all cells are dates"),
        (["31.5.2024", "1.6.2024"], "category", "2 different values"),
        (["red", "green", "red"], "category", "2 different values"),
        (["red", ""], "category", "1 different values"),
        (PROSE, "text", "4 words a cell"),
        (WORDS * 6, "category", "4 different values"),
        ([f"k{i}" for i in range(51)], None, "an identifier: 51 different values"),
        ([f"k{i}" for i in range(50)], "category", "50 different values"),
        ([f"k{i}" for i in range(51)] * 2, "category", "51 different values"),
        (["same"] * 3, None, "all cells equal"),
        (["", ""], None, "empty"),
        ([None, None], None, "empty"),
    ],
)
def test_texts_are_recognised(cells: list[Any], kind: str | None, why: str) -> None:
    found = detect(pd.Series(cells, dtype=object))
    assert (found.kind, found.why) == (kind, why)


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (pd.Series([1.5, None]), "number"),
        (pd.Series([1, None, 3], dtype="Int64"), "number"),
        (pd.Series([True, False]), "boolean"),
        (pd.Series([True, None, False], dtype="boolean"), "boolean"),
        (pd.Series(pd.to_datetime(["2020-01-01", "2021-01-01"])), "date"),
        (pd.Series(pd.date_range("2020", periods=3, tz="Europe/Rome")), "date"),
        (arrow([dt.date(2020, 1, 1), dt.date(2020, 1, 2)], pa.date32()), "date"),
        (pd.Series(pd.to_timedelta([1, 2], unit="h")), "number"),
        (arrow([dt.timedelta(1), dt.timedelta(2)], pa.duration("s")), "number"),
        (pd.Series(["a", "b", None], dtype="category"), "category"),
        (pd.Series([[1], [2]]), None),
        (pd.Series([{"a": 1}, {"a": 2}]), None),
    ],
    ids=lambda value: str(getattr(value, "dtype", value)),
)
def test_stored_types_are_recognised(column: pd.Series[Any], kind: str | None) -> None:
    assert detect(column).kind == kind


@pytest.mark.parametrize(
    ("cells", "share", "kind"),
    [(["1"] * 9 + ["lots"], "90.0%", "number"), (["2024-01-01"] * 4 + ["soon"], "80.0%", "date")],
)
def test_mixed_types_are_a_mistake(cells: list[str], share: str, kind: str) -> None:
    with pytest.raises(ValueError, match="mixed") as refusal:
        detect(pd.Series(cells, name="mixed", dtype=object))
    assert str(refusal.value) == (
        f"column 'mixed' is {share} {kind}s, but row {len(cells)} holds {cells[-1]!r}: --as "
        f"mixed={kind} takes what is no {kind} as missing, --as mixed=category takes all as "
        "words, --drop mixed leaves it out"
    )


def test_a_column_of_words_and_a_few_numbers_is_no_mistake() -> None:
    assert detect(pd.Series(["1", "a", "b", "c"], dtype=object)).kind == "category"


def test_numbers() -> None:
    cells = pd.Series(["1", " 2.5", "", "x", None, "NaN"], dtype=object)
    assert np.array_equal(numbers_of(cells), [1, 2.5, *[np.nan] * 4], equal_nan=True)
    hours = numbers_of(pd.Series(pd.to_timedelta([1, None, 0.5], unit="h")))
    assert np.array_equal(hours, [3600, np.nan, 1800], equal_nan=True)


def test_decimal_commas() -> None:
    cells = pd.Series(["3,5", "-1,250", " 2 ", "", None, "1,5e2", "n/a"], dtype=object)
    assert detect(cells) == Found("number", "all cells are numbers, with a decimal comma")
    for column in (cells, arrow(cells.tolist(), pa.string())):
        found = numbers_of(column)
        assert np.array_equal(found, [3.5, -1.25, 2, np.nan, np.nan, 150, np.nan], equal_nan=True)


@pytest.mark.parametrize(
    "cells", [["1,234", "567"], ["1,234.5", "0.5"], ["3,5", "1.5", "1,234"], ["1,234,567", "3,5"]]
)
def test_a_comma_that_may_part_thousands_is_no_guess(cells: list[str]) -> None:
    column = pd.Series(cells, name="a", dtype=object)
    message = "column 'a' holds '1,234.*', whose comma may part thousands or decimals: write its"
    for ask in (numbers_of, detect) if "1.5" not in cells else (numbers_of,):
        with pytest.raises(ValueError, match=message):
            ask(column)


def test_commas_among_words_are_words() -> None:
    assert detect(pd.Series(["1,234", "a", "b", "c"], dtype=object)).kind == "category"
    assert detect(pd.Series(["3,5", "4.5"], dtype=object)).kind == "category"


def test_infinite_numbers_are_refused() -> None:
    message = r"column 'a' holds infinite values \(2 in all, the first in row 2\): empty these"
    for cells in (["1", "inf", "-inf"], [1.0, np.inf, -np.inf]):
        with pytest.raises(ValueError, match=message):
            numbers_of(pd.Series(cells, name="a"))


def test_booleans() -> None:
    words = pd.Series([" Yes", "t", "1", "no", "F", "0", "", "maybe", None], dtype=object)
    expected = [1, 1, 1, 0, 0, 0, *[np.nan] * 3]
    assert np.array_equal(booleans_of(words), expected, equal_nan=True)
    stored = pd.Series([True, None, False], dtype="boolean")
    assert np.array_equal(booleans_of(stored), [1, np.nan, 0], equal_nan=True)
    assert booleans_of(pd.Series([0, 2])).tolist() == [0, 1]


def test_dates_are_in_utc() -> None:
    cells = pd.Series(["2024-05-31", "2024-05-31T10:00:00+02:00", "", "soon"], dtype=object)
    expected = np.array(["2024-05-31", "2024-05-31T08:00:00", "NaT", "NaT"], "datetime64[s]")
    assert np.array_equal(dates_of(cells), expected, equal_nan=True)
    rome = pd.Series(pd.to_datetime(["2024-01-01"]).tz_localize("Europe/Rome"))
    assert dates_of(rome)[0] == np.datetime64("2023-12-31T23:00:00")


def test_texts_are_the_same_however_gaps_change_the_type() -> None:
    assert texts_of(pd.Series([1, 2])).tolist() == ["1", "2"]
    assert texts_of(pd.Series([1, None])).tolist() == ["1", None]
    assert texts_of(pd.Series([1.5, None])).tolist() == ["1.5", None]
    assert texts_of(pd.Series([1, None], dtype="Int64")).tolist() == ["1", None]
    assert texts_of(pd.Series(["a", "", None], dtype=object)).tolist() == ["a", None, None]
