"""Tables from files: CSV, TSV and Parquet, gzipped or not, or from standard input.

What separates the columns of a CSV file is the comma, or what else its header shows. Texts are
UTF-8, or UTF-16 with its mark, and lines end as on any system.

Cells of CSV files stay the texts they are, so that no id is changed by reading it; what the
columns mean is found out later, by rules that are printed.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import sys
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FORMATS", "read_table"]

FORMATS = {"csv": ",", "tsv": "\t", "parquet": ""}
"""What tables can be stored in, and what separates their columns."""

_BLOCK = 2**20  # bytes that Arrow reads at a time
_SEPARATORS = (",", ";", "\t", "|")


def read_table(
    path: str | Path, kind: str | None = None, separator: str = "", *, empty: bool = False
) -> pd.DataFrame:
    """Read a table.

    Args:
        path: a file, or ``-`` for standard input.
        kind: a name of :data:`FORMATS`; by the file's ending, if not given, CSV for the rest.
        separator: of the columns; found in the header, if not given.
        empty: whether a table without rows will do.
    """
    content = _content(path)
    kind = kind or _kind_of(str(path), content)
    if separator and kind != "parquet":
        separator = _one_character(separator.replace("\\t", "\t"))
    if kind == "parquet":
        table = _parquet(content, path)
    else:
        table = _separated(_utf8(content, path), path, separator, FORMATS[kind])
    if table.num_rows == 0 and not empty:
        raise ValueError(f"{path} has no rows: expected a header and a row for each node or edge")
    import pandas as pd

    frame: pd.DataFrame = table.to_pandas(types_mapper=pd.ArrowDtype)
    return frame


def _one_character(separator: str) -> str:
    if len(separator) != 1 or separator in '"\r\n':
        raise ValueError(
            f"the separator must be one character, like ';' or a tab (\\t), got {separator!r}"
        )
    return separator


def _content(path: str | Path) -> bytes:
    if str(path) == "-":
        content = sys.stdin.buffer.read()
    else:
        try:
            content = Path(path).read_bytes()
        except FileNotFoundError:
            raise ValueError(f"there is no file {path}") from None
        except OSError as error:
            raise ValueError(f"cannot read {path}: {error.strerror}") from None
    if content[:2] == b"\x1f\x8b":
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(f"{path} is no whole gzip file: {error}") from None
    if not content.strip():
        raise ValueError(f"{path} is empty: expected a table with a header")
    return content


def _kind_of(path: str, content: bytes) -> str:
    if path == "-" and content[:4] == b"PAR1":
        return "parquet"
    name = path.lower().removesuffix(".gz")
    endings = {".parquet": "parquet", ".pq": "parquet", ".tsv": "tsv", ".tab": "tsv"}
    return endings.get(Path(name).suffix, "csv")


def _parquet(content: bytes, path: str | Path) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(pa.BufferReader(content))
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{path} is no readable Parquet file: {_one_line(error)}") from None
    return _usual(table)


def _usual(table: Any) -> Any:
    """Return the columns in types that pandas computes with; UUIDs become their texts."""
    import pyarrow as pa

    casts = {"halffloat": pa.float32(), "string_view": pa.string()}  # by name: not in all versions
    for i, field in enumerate(table.schema):
        column = table.column(i)
        kind = str(field.type)
        if kind == "extension<arrow.uuid>":
            texts = [None if value is None else str(value) for value in column.to_pylist()]
            column = pa.chunked_array([texts], pa.string())
        elif kind in casts:
            column = column.cast(casts[kind])
        table = table.set_column(i, field.name, column)
    return table


def _utf8(content: bytes, path: str | Path) -> bytes:
    """Return a text as UTF-8, with lines that end in a line feed at least."""
    if content[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        try:
            content = content.decode("utf-16").encode()
        except UnicodeDecodeError:
            raise _no_text(path) from None
    if content[:4] == b"PK\3\4" or b"\0" in content[:1000]:
        raise _no_text(path)
    return content if b"\n" in content else content.replace(b"\r", b"\n")


def _separated(content: bytes, path: str | Path, separator: str, usual: str) -> Any:
    """Read all cells as texts: first the header, to know the columns, then the rest at once."""
    import pyarrow as pa
    from pyarrow import csv as arrow

    names, separator = _header(content, path, separator, usual)
    if b"\n" not in content.strip():
        return pa.table({name: pa.array([], pa.string()) for name in names})
    try:
        return arrow.read_csv(
            pa.BufferReader(content),
            # One block needs no threads, and a process that ends at once may trip over them.
            read_options=arrow.ReadOptions(
                column_names=names, skip_rows=1, use_threads=len(content) > _BLOCK
            ),
            parse_options=arrow.ParseOptions(
                delimiter=separator, newlines_in_values=b'"' in content
            ),
            convert_options=arrow.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid as error:
        if "UTF8" in str(error):
            raise _no_text(path) from None
        raise ValueError(
            f"cannot read {path} as a table with {len(names)} columns separated by "
            f"{separator!r}: {_one_line(error)}"
        ) from None


def _header(content: bytes, path: str | Path, separator: str, usual: str) -> tuple[list[str], str]:
    """Return the columns' names, and what separates them."""
    end = content.find(b"\n")
    try:
        line = content[: end if end >= 0 else None].decode("utf-8-sig").rstrip("\r")
    except UnicodeDecodeError:
        raise _no_text(path) from None
    names = _split(line, separator or usual)
    others = [s for s in _SEPARATORS if len(_split(line, s)) > 1]
    if len(names) == 1 and others:
        if separator:
            raise ValueError(
                f"{path} has the single column {names[0]!r}, which looks separated by "
                f"{others[0]!r} and not by {separator!r}: leave out --separator"
            )
        usual = others[0]
        names = _split(line, usual)
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"{path} has several columns with the name {repeated[0]!r}: rename them")
    return names, separator or usual


def _split(line: str, separator: str) -> list[str]:
    return next(csv.reader(io.StringIO(line), delimiter=separator))


def _no_text(path: str | Path) -> ValueError:
    return ValueError(f"{path} is no UTF-8 text: save it as CSV in UTF-8, or as Parquet")


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
