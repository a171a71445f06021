"""The small benchmark data set that the command line's tests use as well."""

from __future__ import annotations

from cli.conftest import toy

__all__ = ["toy"]
