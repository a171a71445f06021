"""The paper's studies: which runs each needs, and what they say beside the paper's numbers."""

from bagcn.reproduce.definition import NAMES, Study, load_study
from bagcn.reproduce.kinds import draw, missing, run_missing
from bagcn.reproduce.page import Page, Table, markdown, write_page
from bagcn.reproduce.running import Plan

__all__ = [
    "NAMES",
    "Page",
    "Plan",
    "Study",
    "Table",
    "draw",
    "load_study",
    "markdown",
    "missing",
    "run_missing",
    "write_page",
]
