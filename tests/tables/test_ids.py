"""Ids come back as they went in, and are found however the tables store them."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from bagcn.tables.ids import from_json, id_array, match, position_of, to_json

IDS: list[list[Any]] = [
    ["a", "b", "é", ""],
    ["007", "7", "1e3", "nan"],
    [0, 1, 2],
    [3, -1, 2**53 + 1, 2**62],
    [2**63 + 5, 2**70, 1],
    [UUID(int=7), UUID(int=2**127 + 1)],
    [("a", 1), ("a", UUID(int=3)), ("b", ("c", 2))],
    [1, "1", 1.5],
]


@pytest.mark.parametrize("ids", IDS, ids=str)
def test_ids_survive_json_exactly(ids: list[Any]) -> None:
    found = from_json(json.loads(json.dumps(to_json(id_array(ids))))).tolist()
    assert found == ids
    assert [type(value) for value in found] == [type(value) for value in ids]


def test_unsigned_ids_survive() -> None:
    ids = np.array([2**63 + 1, 2**64 - 1], dtype=np.uint64)
    assert from_json(json.loads(json.dumps(to_json(ids)))).tolist() == ids.tolist()


def test_consecutive_numbers_take_no_room() -> None:
    assert to_json(np.arange(1_000_000)) == {"range": 1_000_000}


@pytest.mark.parametrize("value", [b"a", np.datetime64("2020-01-01"), {"a"}])
def test_what_json_cannot_hold_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"cannot save the id .*: use texts, whole numbers, UUIDs"):
        to_json(np.array([value, None], dtype=object))


@pytest.mark.parametrize(
    ("ids", "wanted", "places"),
    [
        (["a", "b"], ["b", "c", "a"], [1, -1, 0]),
        ([2**53, 2**53 + 1], [2**53 + 1, 2**53 + 2], [1, -1]),
        ([2**53, 2**53 + 1], ["9007199254740993", "9007199254740992"], [1, 0]),
        (["9007199254740993", "007"], [2**53 + 1, 7], [0, -1]),
        ([2**63 + 1, 2**63 + 2], [2**63 + 2], [1]),
        ([UUID(int=1), UUID(int=2)], [UUID(int=2)], [1]),
        ([UUID(int=1), UUID(int=2)], [str(UUID(int=2)), "x"], [1, -1]),
        ([("a", 1)], [("a", 1), ("a", 2)], [0, -1]),
    ],
)
def test_match(ids: list[Any], wanted: list[Any], places: list[int]) -> None:
    assert match(id_array(ids), id_array(wanted)).tolist() == places


def test_an_id_is_found_by_itself_before_its_text() -> None:
    ids = id_array(["a", 5, "5", UUID(int=1)])
    assert [position_of(ids, wanted) for wanted in (5, "5", UUID(int=1), str(UUID(int=1)))] == [
        *(1, 2),
        *(3, 3),
    ]
    assert position_of(np.array([3, 4]), "4") == 1


def test_an_unknown_id_names_some_known_ones() -> None:
    with pytest.raises(
        ValueError, match=r"no node with the id 'x'; the ids are like 'a', 'b', 'c'"
    ):
        position_of(id_array(["a", "b", "c", "d"]), "x")
