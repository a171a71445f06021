"""The browser for the tests of the page."""

from browser import browser

__all__ = ["browser"]
