"""What can be wrong with a data file. Both errors are ValueErrors with one clear message."""

from __future__ import annotations

from pathlib import Path


class MissingDataError(FileNotFoundError, ValueError):
    """A data file is nowhere to be had; the message says which, where to put it and its address."""


class DataFileError(ValueError):
    """A data file is there, but is not what it should be; the message says what to do."""


def bad_file(path: Path, reason: str) -> DataFileError:
    """The error for the file at ``path``, with the way out."""
    return DataFileError(
        f"cannot read {path}: {reason}. Delete the file and put a fresh copy in its place "
        "(without a data folder of your own it is downloaded again)"
    )
