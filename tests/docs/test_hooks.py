"""What makes Markdown of docstrings and of help texts."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

HOOKS = Path(__file__).parents[2] / "docs" / "hooks"


def hook(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"hooks_{name}", HOOKS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def docstrings() -> ModuleType:
    pytest.importorskip("griffe")
    return hook("docstrings")


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"\hat A^K X W + b", "Âᴷ X W + b"),
        (r"\tilde D^{-1/2}", "D̃^(-1/2)"),
        (r"\mathcal L_{GCN}+\lambda\mathcal L_{con}", "L_GCN+λ L_con"),
        (r"\lVert p_i - q_i \rVert^2", "‖ p_i - q_i ‖²"),
        (r"1/\sqrt d", "1/√d"),
    ],
)
def test_equations_as_text(docstrings: ModuleType, latex: str, text: str) -> None:
    assert docstrings.plain(latex) == text


def test_docstring_as_markdown(docstrings: ModuleType) -> None:
    written = (
        "From `A Paper\n<https://arxiv.org/abs/1>`_.\n\n"
        ".. math::\n    H &= X W, \\\\\n    Z &= \\hat A H\n\n"
        "See :class:`~bagcn.nn.BAGCN`.\n\n"
        "=====  =====\nname   means\n=====  =====\n``a``  one\n       two\n=====  =====\n"
    )
    assert docstrings.markdown(written) == (
        "From [A Paper](https://arxiv.org/abs/1).\n\n\n"
        "```text\nH = X W\nZ = Â H\n```\n\n"
        "See `nn.BAGCN`.\n\n"
        "| name | means |\n| --- | --- |\n| ``a`` | one two |"
    )


def test_examples_of_a_help_text_become_a_block() -> None:
    paragraph = "\b\nExamples:\n  bagcn train cora\n  bagcn models"
    assert hook("commands")._markdown(paragraph) == (
        "Examples:\n\n```sh\nbagcn train cora\nbagcn models\n```"
    )
