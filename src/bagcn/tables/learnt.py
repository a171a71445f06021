"""The encoder of each kind of column: two functions each, one that learns and one that applies.

scikit-learn learns; what it learnt is a dictionary of plain numbers, texts and arrays, and small
functions apply it, so that a saved model needs no pickle and no scikit-learn of the same version.

N rows, W features of the column.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from bagcn.tables.columns import booleans_of, dates_of, numbers_of, texts_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ENCODINGS"]

Array = np.ndarray
Learnt = dict[str, Any]
Block = Array | sp.csr_matrix

MOST_CATEGORIES, MOST_TERMS = 100, 1000
_WORD = re.compile(r"(?u)\b\w\w+\b")  # as scikit-learn's vectorisers find words


def learn_numbers(values: Array) -> Learnt:
    """Learn median, mean, deviation and whether values are missing of (N, W) numbers."""
    from sklearn.impute import SimpleImputer
    from sklearn.preprocessing import StandardScaler

    imputer = SimpleImputer(strategy="median", keep_empty_features=True).fit(values)
    scaler = StandardScaler().fit(imputer.transform(values))
    return {
        "median": imputer.statistics_.tolist(),
        "mean": scaler.mean_.tolist(),
        "scale": scaler.scale_.tolist(),
        "missing": bool(np.isnan(values).any()),
    }


def apply_numbers(values: Array, learnt: Learnt) -> Array:
    """Fill gaps with the median, standardise, add a column that says where there was a gap."""
    gaps = np.isnan(values)
    filled = np.where(gaps, learnt["median"], values)
    scaled = (filled - learnt["mean"]) / learnt["scale"]
    return _with_gaps(scaled, gaps[:, :1], learnt)


def learn_booleans(values: Array) -> Learnt:
    """Learn the more frequent value of (N, 1) booleans, and whether values are missing."""
    from sklearn.impute import SimpleImputer

    imputer = SimpleImputer(strategy="most_frequent", keep_empty_features=True).fit(values)
    return {"usual": float(imputer.statistics_[0]), "missing": bool(np.isnan(values).any())}


def apply_booleans(values: Array, learnt: Learnt) -> Array:
    """Fill gaps with the usual value, add a column that says where there was a gap."""
    gaps = np.isnan(values)
    return _with_gaps(np.where(gaps, learnt["usual"], values), gaps, learnt)


def _with_gaps(values: Array, gaps: Array, learnt: Learnt) -> Array:
    columns = [values, gaps] if learnt["missing"] else [values]
    return np.hstack(columns).astype(np.float32)


def date_parts(dates: Array) -> Array:
    """Return days since 1970, month, weekday (Monday 0) and hour of (N,) dates: (N, 4)."""
    days = dates.astype("datetime64[D]")
    parts = [
        (dates - np.datetime64(0, "s")) / np.timedelta64(1, "D"),
        dates.astype("datetime64[M]").astype(int) % 12 + 1,
        (days.astype(int) + 3) % 7,
        (dates - days) / np.timedelta64(1, "h"),
    ]
    table = np.stack([part.astype(np.float64) for part in parts], axis=1)
    table[np.isnat(dates)] = np.nan
    return table


def learn_categories(texts: Array) -> Learnt:
    """Learn the categories of (N,) texts; those in few rows, or beyond the 100th, are rare."""
    from sklearn.preprocessing import OneHotEncoder

    present = np.array([text for text in texts if text is not None], dtype=object)
    encoder = OneHotEncoder(
        handle_unknown="ignore",
        min_frequency=max(2, len(texts) // 1000),
        max_categories=MOST_CATEGORIES + 1,
    ).fit(present[:, None])
    rare = encoder.infrequent_categories_[0]
    rare_names = [] if rare is None else rare.tolist()
    hidden = set(rare_names)
    return {
        "categories": [name for name in encoder.categories_[0].tolist() if name not in hidden],
        "rare": rare_names,
        "missing": len(present) < len(texts),
    }


def apply_categories(texts: Array, learnt: Learnt) -> sp.csr_matrix:
    """Return one column a category, then one for the rare ones and one for gaps."""
    place = {name: i for i, name in enumerate(learnt["categories"])}
    width = len(place)
    if learnt["rare"]:
        place |= dict.fromkeys(learnt["rare"], width)
        width += 1
    if learnt["missing"]:
        place[None] = width
        width += 1
    column = np.array([place.get(text, -1) for text in texts], dtype=np.int64)
    row = np.flatnonzero(column >= 0)
    ones = np.ones(len(row), dtype=np.float32)
    return sp.csr_matrix((ones, (row, column[row])), shape=(len(texts), width))


def learn_texts(texts: Array) -> Learnt:
    """Learn the words of (N,) texts and their inverse document frequencies."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    documents = [text or "" for text in texts]
    counts = Counter(word for text in documents for word in set(_WORD.findall(text.lower())))
    if not counts:
        raise ValueError("a text column holds no words of two letters or more: leave it out")
    repeated = max(counts.values()) > 1
    vectorizer = TfidfVectorizer(
        sublinear_tf=True, min_df=2 if repeated else 1, max_features=MOST_TERMS
    ).fit(documents)
    return {"terms": vectorizer.get_feature_names_out().tolist(), "idf": vectorizer.idf_}


def apply_texts(texts: Array, learnt: Learnt) -> sp.csr_matrix:
    """Return (1 + log frequency) times idf of each known word, rows of Euclidean length 1."""
    place = {term: i for i, term in enumerate(learnt["terms"])}
    columns: list[int] = []
    values: list[int] = []
    ends = [0]
    for text in texts:
        words = _WORD.findall(text.lower()) if text else []
        counts = Counter(place[word] for word in words if word in place)
        columns.extend(counts)
        values.extend(counts.values())
        ends.append(len(columns))
    column = np.array(columns, dtype=np.int64)
    weight = (1 + np.log(np.array(values, dtype=np.float64))) * learnt["idf"][column]
    row = np.repeat(np.arange(len(texts)), np.diff(ends))
    length = np.sqrt(np.bincount(row, weight**2, len(texts)))
    scaled = (weight / length[row]).astype(np.float32)
    return sp.csr_matrix((scaled, column, ends), shape=(len(texts), len(place)))


def _gap_names(name: str, learnt: Learnt) -> list[str]:
    return [f"{name} is missing"] if learnt["missing"] else []


def _category_names(name: str, learnt: Learnt) -> list[str]:
    rare = [f"{name} is rare"] if learnt["rare"] else []
    return [f"{name}={value}" for value in learnt["categories"]] + rare + _gap_names(name, learnt)


def _date_names(name: str, learnt: Learnt) -> list[str]:
    parts = [f"{name} ({part})" for part in ("day", "month", "weekday", "hour")]
    return parts + _gap_names(name, learnt)


def _number_cells(column: pd.Series[Any]) -> Array:
    return numbers_of(column)[:, None]


def _boolean_cells(column: pd.Series[Any]) -> Array:
    return booleans_of(column)[:, None]


def _date_cells(column: pd.Series[Any]) -> Array:
    return date_parts(dates_of(column))


ENCODINGS: dict[str, tuple[Any, Any, Any, Any]] = {
    "number": (_number_cells, learn_numbers, apply_numbers, lambda n, k: [n, *_gap_names(n, k)]),
    "boolean": (
        _boolean_cells,
        learn_booleans,
        apply_booleans,
        lambda n, k: [n, *_gap_names(n, k)],
    ),
    "date": (_date_cells, learn_numbers, apply_numbers, _date_names),
    "category": (texts_of, learn_categories, apply_categories, _category_names),
    "text": (texts_of, learn_texts, apply_texts, lambda n, k: [f"{n}:{t}" for t in k["terms"]]),
}
"""By kind: cells from a column, what learns, what applies, and the features' names."""
