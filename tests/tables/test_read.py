"""Tables from files: every cell as it is, and one clear line for what is no table."""

from __future__ import annotations

import gzip
import io
import sys
import uuid
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow.csv import ReadOptions

from bagcn.tables import read_table

CSV = b'id,size,note\n007,1.50,\n9007199254740993,,NA\n\xc3\xa9,x," a,b\nc"\n'
ROWS = [["007", "1.50", ""], ["9007199254740993", "", "NA"], ["é", "x", " a,b\nc"]]


def written(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def rows(table: Any) -> list[list[str]]:
    return table.to_numpy().tolist()


@pytest.mark.parametrize(
    ("name", "content", "arguments"),
    [
        ("t.csv", CSV, {}),
        ("t.CSV", b"\xef\xbb\xbf" + CSV, {}),
        ("t.csv", CSV.replace(b"\n", b"\r\n").replace(b"b\r\nc", b"b\nc"), {}),
        ("t.csv", CSV.rstrip(b"\n"), {}),
        ("t.csv", CSV.decode().encode("utf-16"), {}),
        ("t.csv", b"\xfe\xff" + CSV.decode().encode("utf-16-be"), {}),
        ("t.csv", CSV.replace(b",", b";").replace(b"a;b", b"a,b"), {}),
        ("t.tsv", CSV.replace(b",", b"|").replace(b"a|b", b"a,b"), {}),
        ("t.csv.gz", gzip.compress(CSV), {}),
        ("no-ending", gzip.compress(CSV), {}),
        ("t.tsv", CSV.replace(b",", b"\t").replace(b"a\tb", b"a,b"), {}),
        ("t.csv", CSV.replace(b",", b"\t").replace(b"a\tb", b"a,b"), {"separator": r"\t"}),
        ("t.txt", CSV.replace(b",", b";").replace(b"a;b", b"a,b"), {"separator": ";"}),
        ("t.txt", CSV.replace(b",", b"\t").replace(b"a\tb", b"a,b"), {"kind": "tsv"}),
    ],
)
def test_cells_stay_the_texts_they_are(
    tmp_path: Path, name: str, content: bytes, arguments: dict[str, str]
) -> None:
    table = read_table(written(tmp_path, name, content), **arguments)
    assert list(table.columns) == ["id", "size", "note"]
    assert rows(table) == ROWS


def test_lines_that_end_in_a_carriage_return(tmp_path: Path) -> None:
    assert rows(read_table(written(tmp_path, "t.csv", b"a,b\r1,2\r3,4\r"))) == [
        ["1", "2"],
        ["3", "4"],
    ]


@pytest.mark.parametrize("packed", [False, True])
def test_standard_input(monkeypatch: pytest.MonkeyPatch, packed: bool) -> None:
    content = gzip.compress(CSV) if packed else CSV
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    assert rows(read_table("-")) == ROWS


def test_parquet_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    sink = io.BytesIO()
    pq.write_table(pa.table({"id": [2**60 + 1, 2**60]}), sink)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(sink.getvalue())))
    assert rows(read_table("-")) == [[2**60 + 1], [2**60]]


UUIDS = [uuid.UUID(int=5), None]


@pytest.mark.parametrize(
    ("column", "cells"),
    [
        (pa.array([2**63 + 1, None], pa.uint64()), [2**63 + 1, None]),
        (pa.array([-(2**62), 1]), [-(2**62), 1]),
        (pa.array([0.5, None], pa.float16()), [0.5, None]),
        (pa.array(["a", None], pa.string_view()), ["a", None]),
        (pa.array(["a", None]).dictionary_encode(), ["a", None]),
        (
            pa.array([None if u is None else u.bytes for u in UUIDS], pa.uuid()),
            ["00000000-0000-0000-0000-000000000005", None],
        ),
    ],
    ids=str,
)
def test_parquet_keeps_the_cells(tmp_path: Path, column: pa.Array, cells: list[Any]) -> None:
    pq.write_table(pa.table({"c": column}), tmp_path / "t.parquet")
    found = read_table(tmp_path / "t.parquet")["c"].to_numpy(dtype=object, na_value=None).tolist()
    assert found == cells


def parquet() -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table({"id": list(range(1000))}), sink)
    return sink.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "arguments", "message"),
    [
        ("t.csv", b"", {}, " is empty: expected a table with a header"),
        ("t.csv", b" \n\n", {}, " is empty: expected a table with a header"),
        ("t.csv", b"a,b\n", {}, " has no rows: expected a header and a row for each node or edge"),
        ("t.csv", b"\xff\xfea,b\n1,2\n\n", {}, " is no UTF-8 text: save it as CSV in UTF-8"),
        ("t.xlsx", b"PK\x03\x04,\n1\n", {}, " is no UTF-8 text: save it as CSV in UTF-8, or as"),
        ("t.xls", b"\xd0\xcf\x11\xe0" + bytes(9), {}, " is no UTF-8 text: save it as CSV in UTF-8"),
        ("t.csv", b"a,b\n1,2\n", {"separator": ";"}, " has the single column 'a,b', which looks"),
        ("t.csv", b"a,b,a\n1,2,3\n", {}, " has several columns with the name 'a': rename them"),
        ("t.csv", b"a,b\n1,\xe9\n", {}, " is no UTF-8 text: save it as CSV in UTF-8, or as Parq"),
        ("t.csv", b"\xe9,b\n1,2\n", {}, " is no UTF-8 text: save it as CSV in UTF-8, or as Parq"),
        ("t.csv.gz", gzip.compress(CSV)[:-9], {}, " is no whole gzip file: "),
        ("t.parquet", b"a,b\n1,2\n", {}, " is no readable Parquet file: "),
        ("t.parquet", parquet()[:-20], {}, " is no readable Parquet file: "),
        ("t.pq", parquet()[:9] + bytes(600) + parquet()[609:], {}, " is no readable Parquet file"),
        ("t.bin", CSV, {"kind": "parquet"}, " is no readable Parquet file: "),
    ],
)
def test_what_is_no_table(
    tmp_path: Path, name: str, content: bytes, arguments: dict[str, str], message: str
) -> None:
    path = written(tmp_path, name, content)
    with pytest.raises(ValueError, match=r"^[^\n]*$") as refusal:
        read_table(path, **arguments)
    assert str(refusal.value).startswith(f"{path}{message}")


@pytest.mark.parametrize(("rows", "threads"), [(1, False), (400_000, True)])
def test_only_a_large_table_is_read_with_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int, threads: bool
) -> None:
    asked = []

    def options(**given: Any) -> Any:
        asked.append(given["use_threads"])
        return ReadOptions(**given)

    monkeypatch.setattr("pyarrow.csv.ReadOptions", options)
    assert len(read_table(written(tmp_path, "t.csv", b"a,b\n" + b"1,2\n" * rows))) == rows
    assert asked == [threads]


def test_a_row_that_is_too_short(tmp_path: Path) -> None:
    path = written(tmp_path, "t.csv", b"a,b\n1,2\n3\n")
    message = (
        "as a table with 2 columns separated by ',': CSV parse error: Row #3: Expected 2 columns"
    )
    with pytest.raises(ValueError, match="cannot read .*" + message):
        read_table(path)


@pytest.mark.parametrize("content", [b"a,b", b"a,b\n", b"a;b\r\n"])
def test_a_table_without_rows_where_it_will_do(tmp_path: Path, content: bytes) -> None:
    table = read_table(written(tmp_path, "t.csv", content), empty=True)
    assert (list(table.columns), len(table)) == (["a", "b"], 0)


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^there is no file nowhere\.csv$"):
        read_table("nowhere.csv")
    with pytest.raises(ValueError, match=r"^cannot read .*: Is a directory$"):
        read_table(tmp_path)


@pytest.mark.parametrize("separator", [";;", '"', "\n"])
def test_a_separator_is_one_character(tmp_path: Path, separator: str) -> None:
    with pytest.raises(ValueError, match="the separator must be one character, like ';'"):
        read_table(written(tmp_path, "t.csv", CSV), separator=separator)
