"""Docstrings are written as PyTorch Geometric writes them; the site wants Markdown.

Nothing that typesets equations can be loaded on a page that works without a network: so they
become lines of text, such as ``Ŷ_gcn = softmax(Â H_c' W_c)``.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any

import griffe

ROLE = re.compile(r":(?:class|func|meth|mod|data|attr):`~?([^`]+)`")
MATHS = re.compile(r":math:`([^`]+)`")
LINK = re.compile(r"`([^`<]+?)\s*<(https?://[^>]+)>`_")
EQUATION = re.compile(r"^( *)\.\. math::\n((?:\1 +.*\n|\n)+)", re.MULTILINE)
TABLE = re.compile(r"^=+ [= ]*\n(?:.*\n)*?(?:=+ [= ]*\n(?:.*\n)*?)?=+ [= ]*$", re.MULTILINE)

SIGNS = {
    **{"lambda": "λ", "theta": "θ", "alpha": "α", "beta": "β", "gamma": "γ", "sigma": "σ"},
    **{"tau": "τ", "pi": "π", "phi": "φ", "epsilon": "ε", "Theta": "Θ", "Pi": "Π", "mu": "μ"},
    **{"odot": "⊙", "circ": "∘", "cdot": "·", "times": "×", "top": "ᵀ", "sum": "Σ", "prod": "∏"},
    **{"in": "∈", "le": "≤", "ge": "≥", "leq": "≤", "geq": "≥", "ne": "≠", "approx": "≈"},
    **{"to": "→", "infty": "∞", "lVert": "‖", "rVert": "‖", "Vert": "‖", "mid": "|", "ldots": "…"},
    **{"dots": "…", "cup": "∪", "setminus": "∖", "partial": "∂", "log": "log", "exp": "exp"},
    **{"max": "max", "min": "min", "quad": " ", "qquad": "   ", "mathbf 1": "1", "oplus": "⊕"},
}
ACCENTS = {"hat": "\u0302", "tilde": "\u0303", "bar": "\u0304"}
POWERS = str.maketrans("0123456789+-()ijklnKLT", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁱʲᵏˡⁿᴷᴸᵀ")


def markdown(text: str) -> str:
    """Return a docstring as Markdown."""
    text = EQUATION.sub(_equation, text + "\n").rstrip()
    text = TABLE.sub(_table, text)
    text = LINK.sub(lambda link: f"[{' '.join(link[1].split())}]({link[2]})", text)
    text = MATHS.sub(lambda maths: f"`{plain(maths[1])}`", text)
    return ROLE.sub(lambda role: f"`{role[1].removeprefix('bagcn.')}`", text)


def plain(formula: str) -> str:
    """Return LaTeX as a line of text."""
    text = " ".join(formula.split())
    text = re.sub(r"\\(?:left|right|big|Big|bigg|displaystyle|limits)(?![a-z])", "", text)
    text = re.sub(
        r"\\(?:mathrm|mathcal|mathbf|mathbb|text|operatorname) *(\{[^{}]*\}|\w)", r" \1", text
    )
    text = re.sub(r"\\sqrt *(\{[^{}]*\}|\w)", r"√\1", text)
    text = re.sub(r"\\[td]?frac *(\{[^{}]*\}|\w) *(\{[^{}]*\}|\w)", r"\1/\2", text)
    for name, accent in ACCENTS.items():
        text = re.sub(rf"\\{name} *\{{?(\w)\}}?", rf"\1{accent}", text)
    text = re.sub(r"\\([A-Za-z]+)", lambda sign: SIGNS.get(sign[1], sign[0]), text)
    text = re.sub(r"\^(?:\{([^{}]*)\}|(\S))", _power, text)
    text = re.sub(r"\{([^{}\s]{1,12})\}", r"\1", text)
    text = text.replace("\\{", "⦃").replace("\\}", "⦄").replace("{", "(").replace("}", ")")
    text = re.sub(r"\\[,;! ]", " ", text.replace("⦃", "{").replace("⦄", "}")).replace("&", "")
    text = unicodedata.normalize("NFC", text.replace("( ", "(").replace(" )", ")"))
    return " ".join(text.split())


def _power(match: re.Match[str]) -> str:
    inside = match[1] or match[2]
    raised = inside.translate(POWERS)
    known = all(
        after in "ᵀ'" or before != after for before, after in zip(inside, raised, strict=True)
    )
    return raised if known else f"^({inside})" if len(inside) > 1 else f"^{inside}"


def _equation(match: re.Match[str]) -> str:
    indent = match[1]
    lines = [plain(line) for line in re.split(r"\\\\|\\qquad|&(?= *\\?[A-Z])", match[2])]
    inside = "\n".join(indent + line.rstrip(",") for line in lines if line)
    return f"\n{indent}```text\n{inside}\n{indent}```\n\n"


def _table(match: re.Match[str]) -> str:
    """Return a table whose columns are marked by rules of equal signs."""
    lines = match[0].splitlines()
    columns = [(rule.start(), rule.end()) for rule in re.finditer("=+", lines[0])]
    rows: list[list[str]] = []
    for line in lines:
        if line.startswith("="):
            continue
        ends = [*(start for start, _ in columns[1:]), None]
        cells = [line[start:end].strip() for (start, _), end in zip(columns, ends, strict=True)]
        if cells[0] or not rows:
            rows.append(cells)
        else:  # the line before goes on
            rows[-1] = [f"{a} {b}".strip() for a, b in zip(rows[-1], cells, strict=True)]
    if not any(line.startswith("=") for line in lines[1:-1]):
        rows.insert(0, [""] * len(columns))
    rows.insert(1, ["---"] * len(columns))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


class PlainDocstrings(griffe.Extension):
    """Rewrites every docstring of the package."""

    def on_object(self, *, obj: Any, **kwargs: Any) -> None:
        """Rewrite the object's docstring."""
        if obj.docstring is not None:
            obj.docstring.value = markdown(obj.docstring.value)
