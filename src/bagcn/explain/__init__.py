"""Which distant nodes a prediction rests on, and what it would be without them."""

from bagcn.explain.agreement import Agreement, label_agreement
from bagcn.explain.cutting import CutEffect, cut_shortcuts
from bagcn.explain.distance import ELSEWHERE, Distances
from bagcn.explain.mass import Mass, attention_mass
from bagcn.explain.named import Named
from bagcn.explain.opened import Opened, Weights, weights_of
from bagcn.explain.pairs import write_pairs
from bagcn.explain.reasons import reasons
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
    "Named",
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
    "reasons",
    "shortcuts",
    "weights_of",
    "write_pairs",
]
