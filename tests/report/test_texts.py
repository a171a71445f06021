from __future__ import annotations

from bagcn.report.texts import latex, whole_markdown
from bagcn.reproduce import Page, Table

PAGE = Page(
    name="lambda",
    title="The weight λ",
    where="section 4.6",
    about="About it.",
    state="All 2 runs are there.",
    tables=[
        Table("Cora & co", ["", "λ = 1", "100 %"], [["BAGCN_a", "83.0 ± 0.5", "−1.0"]]),
        Table("", ["claim", ""], [["one\ntwo", "–"]], words=2),
    ],
    notes=["a note"],
)


def test_tables_are_tabulars_for_booktabs() -> None:
    assert (
        latex(PAGE)
        == r"""% \usepackage{booktabs}
% The weight λ. All 2 runs are there.

% Cora & co
\begin{tabular}{lrr}
\toprule
 & $\lambda$ = 1 & 100 \% \\
\midrule
BAGCN\_a & 83.0 $\pm$ 0.5 & $-$1.0 \\
\bottomrule
\end{tabular}

\begin{tabular}{ll}
\toprule
claim &  \\
\midrule
one; two & -- \\
\bottomrule
\end{tabular}
"""
    )


def test_studies_stand_below_one_title() -> None:
    assert (
        whole_markdown("Everything", [PAGE])
        == """# Everything

## The weight λ

The paper: section 4.6. Made with `bagcn reproduce lambda`.

About it.

**All 2 runs are there.**

### Cora & co

|  | λ = 1 | 100 % |
| --- | ---: | ---: |
| BAGCN_a | 83.0 ± 0.5 | −1.0 |

| claim |  |
| --- | --- |
| one<br>two | – |

- a note
"""
    )
