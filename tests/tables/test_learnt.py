"""Every encoder against scikit-learn's own, or a formula, on columns with gaps."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from bagcn.tables import learnt as encoders


def objects(values: list[Any]) -> np.ndarray:
    return np.fromiter(values, dtype=object, count=len(values))


def test_numbers_are_imputed_and_standardised() -> None:
    values = np.array([[1.0], [4.0], [np.nan], [10.0], [np.nan]])
    learnt = encoders.learn_numbers(values)
    filled = SimpleImputer(strategy="median").fit_transform(values)
    expected = np.hstack([StandardScaler().fit_transform(filled), np.isnan(values)])
    assert np.allclose(encoders.apply_numbers(values, learnt), expected, atol=1e-6)
    other = encoders.apply_numbers(np.array([[np.nan], [7.0]]), learnt)
    scale = filled.std()
    assert np.allclose(other, [[(4 - 4.6) / scale, 1], [(7 - 4.6) / scale, 0]])


def test_without_gaps_there_is_no_column_for_them() -> None:
    learnt = encoders.learn_numbers(np.array([[1.0], [3.0]]))
    assert encoders.apply_numbers(np.array([[1.0], [3.0], [np.nan]]), learnt).tolist() == [
        *([-1.0], [1.0]),
        [0.0],  # the median
    ]


def test_numbers_that_are_all_missing_or_equal() -> None:
    for values in ([[np.nan], [np.nan]], [[5.0], [5.0]]):
        learnt = encoders.learn_numbers(np.array(values))
        assert np.isfinite(encoders.apply_numbers(np.array(values), learnt)).all()


def test_booleans() -> None:
    values = np.array([[1.0], [0.0], [1.0], [np.nan]])
    learnt = encoders.learn_booleans(values)
    assert learnt == {"usual": 1.0, "missing": True}
    assert encoders.apply_booleans(values, learnt).tolist() == [[1, 0], [0, 0], [1, 0], [1, 1]]


def test_parts_of_dates() -> None:
    days = [dt.datetime(1969, 12, 31, 23), dt.datetime(2024, 2, 29), dt.datetime(2021, 7, 4, 6, 30)]
    found = encoders.date_parts(np.array([*days, None], dtype="datetime64[s]"))
    start = dt.datetime(1970, 1, 1)
    expected = [
        [(day - start) / dt.timedelta(1), day.month, day.weekday(), day.hour + day.minute / 60]
        for day in days
    ]
    assert np.allclose(found[:3], expected)
    assert np.isnan(found[3]).all()


def test_categories_are_those_of_scikit_learn() -> None:
    texts = objects([*"aabbbcd", "a", None])
    learnt = encoders.learn_categories(texts)
    assert learnt == {"categories": ["a", "b"], "rare": ["c", "d"], "missing": True}
    encoder = OneHotEncoder(handle_unknown="ignore", min_frequency=2, sparse_output=False)
    present = texts[:-1, None]
    expected = encoder.fit(present).transform(present)
    found = encoders.apply_categories(texts, learnt).toarray()
    assert np.array_equal(found[:-1], np.hstack([expected, np.zeros((8, 1))]))
    assert found[-1].tolist() == [0, 0, 0, 1]


def test_an_unseen_category_is_none_of_them() -> None:
    learnt = encoders.learn_categories(objects([*"aabb"]))
    found = encoders.apply_categories(objects(["b", "z", None, "a"]), learnt).toarray()
    assert found.tolist() == [[0, 1], [0, 0], [0, 0], [1, 0]]


def test_the_hundred_most_frequent_categories_are_kept() -> None:
    texts = objects([f"k{i:03d}" for i in range(130) for _ in range(2 + (i < 100))])
    learnt = encoders.learn_categories(texts)
    assert learnt["categories"] == [f"k{i:03d}" for i in range(100)]
    assert learnt["rare"] == [f"k{i:03d}" for i in range(100, 130)]


TEXTS = ["The cat, the dog!", "a dog is a dog", None, "Été déjà vu, cat_1 x", "cat cat cat dog été"]


def test_texts_are_those_of_scikit_learn() -> None:
    learnt = encoders.learn_texts(objects(TEXTS))
    documents = [text or "" for text in TEXTS]
    vectorizer = TfidfVectorizer(sublinear_tf=True, min_df=2).fit(documents)
    assert learnt["terms"] == vectorizer.get_feature_names_out().tolist() == ["cat", "dog", "été"]
    found = encoders.apply_texts(objects(TEXTS), learnt)
    assert np.allclose(found.toarray(), vectorizer.transform(documents).toarray(), atol=1e-6)
    assert found.sum(axis=1)[2] == 0


def test_the_thousand_most_frequent_words_are_kept() -> None:
    words = [f"w{i}" for i in range(1200)]
    texts = objects([" ".join(words), " ".join(words), " ".join(words[:1000])])
    assert set(encoders.learn_texts(texts)["terms"]) == set(words[:1000])


def test_texts_whose_words_never_repeat() -> None:
    assert encoders.learn_texts(objects(["one two", "three four"]))["terms"] == [
        *("four", "one", "three", "two")
    ]


def test_texts_without_words() -> None:
    with pytest.raises(ValueError, match="a text column holds no words of two letters or more"):
        encoders.learn_texts(objects(["a b", "1 !", None]))
