from __future__ import annotations

from typing import Any

import pytest

from bagcn.study.values import parse_bytes, parse_settings


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.02", 0.02),
        ("5e-4", 5e-4),
        ("64", 64),
        ("true", True),
        ("False", False),
        ("mul", "mul"),
        ("per-class:20/30", "per-class:20/30"),
        ("ego-local", "ego-local"),
        ('"0.5"', "0.5"),
        ("[64, 128]", [64, 128]),
        ("{ a = 1.5 }", {"a": 1.5}),
    ],
)
def test_values_are_toml_or_words(text: str, value: Any) -> None:
    found = parse_settings([f" key = {text} "])
    assert found == {"key": value}
    assert type(found["key"]) is type(value)


def test_the_last_of_one_name_counts() -> None:
    assert parse_settings(["a=1", "b=x", "a=2"]) == {"a": 2, "b": "x"}
    assert parse_settings([]) == {}


@pytest.mark.parametrize("pair", ["lr", "=3", " =3", "a=1 b", "a=", "a=[1", "a=1\nb = 2"])
def test_what_cannot_be_read(pair: str) -> None:
    with pytest.raises(
        ValueError, match=r"expected --set KEY=VALUE|cannot read the value in --set"
    ):
        parse_settings([pair])


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("4GiB", 4 * 2**30),
        ("500MB", 500 * 2**20),
        ("2g", 2 * 2**30),
        ("1.5 k", 1_536),
        ("1024", 1_024),
        ("1TiB", 2**40),
        ("77b", 77),
    ],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_bytes(text) == size


@pytest.mark.parametrize("text", ["", "GiB", "-4GiB", "4 pages", "0", "4GiBB", "1e9"])
def test_other_sizes(text: str) -> None:
    with pytest.raises(ValueError, match="cannot read the size"):
        parse_bytes(text)
