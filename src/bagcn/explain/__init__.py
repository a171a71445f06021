"""Which distant nodes a prediction rests on, and what it would be without them."""

from bagcn.explain.agreement import Agreement, label_agreement
from bagcn.explain.cutting import CutEffect, cut_shortcuts
from bagcn.explain.distance import ELSEWHERE, Distances
from bagcn.explain.mass import Mass, attention_mass
from bagcn.explain.opened import Opened, Weights, weights_of
from bagcn.explain.removal import (
    probabilities,
    probabilities_with_only,
    probabilities_without,
)
from bagcn.explain.shortcuts import (
    Explanation,
    Shortcuts,
    explain_nodes,
    iter_shortcuts,
    shortcuts,
)

__all__ = [
    "ELSEWHERE",
    "Agreement",
    "CutEffect",
    "Distances",
    "Explanation",
    "Mass",
    "Opened",
    "Shortcuts",
    "Weights",
    "attention_mass",
    "cut_shortcuts",
    "explain_nodes",
    "iter_shortcuts",
    "label_agreement",
    "probabilities",
    "probabilities_with_only",
    "probabilities_without",
    "shortcuts",
    "weights_of",
]
