"""Spend a budget on better settings for one graph, looking at validation nodes only."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bagcn.estimator import NodeClassifier

__all__ = ["read_budget", "search"]

_SECONDS = {"s": 1, "m": 60, "h": 3600}


def read_budget(text: str) -> tuple[int | None, float | None]:
    """Return the number of trials, or the seconds, that a budget like 30, 90s, 10m or 1h means."""
    match = re.fullmatch(r"([1-9]\d*)([smh]?)", text.strip())
    if match is None:
        raise ValueError(
            f"cannot read the budget {text!r}: expected a number of trials, like 30, or a time, "
            "like 90s, 10m or 1h"
        )
    number, unit = int(match[1]), match[2]
    return (None, float(number * _SECONDS[unit])) if unit else (number, None)


def search(
    prepared: NodeClassifier,
    budget: str,
    on_trial: Callable[[int, NodeClassifier], None] | None = None,
) -> NodeClassifier:
    """Return the classifier with the best validation accuracy among those tried.

    The settings that came are tried first, so that the result validates no worse than they do.

    Args:
        prepared: a classifier that knows its graph and is not trained yet.
        budget: a number of trials, or a time; a trial that has begun is finished.
        on_trial: called after each trial with its number and its classifier.
    """
    try:
        import optuna
    except ModuleNotFoundError:
        raise ValueError("tuning needs one more package: pip install 'bagcn[tune]'") from None

    trials, seconds = read_budget(budget)
    best: list[NodeClassifier] = []

    def attempt(trial: Any) -> float:
        settings = _drawn(trial, prepared) if trial.number else {}
        candidate = copy.copy(prepared).set_params(**settings)
        try:
            candidate._learn()
        except (ValueError, RuntimeError):  # it diverged or does not fit; what came must not
            if trial.number:
                raise optuna.TrialPruned from None
            raise
        if not best or _rank(candidate) > _rank(best[0]):
            best[:] = [candidate]
        if on_trial:
            on_trial(trial.number + 1, candidate)
        accuracy, loss = _rank(candidate)
        return accuracy + 0.01 * max(loss, -10.0)

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = optuna.samplers.TPESampler(seed=prepared.seed_)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    study.optimize(attempt, n_trials=trials, timeout=seconds)
    return best[0]


def _rank(classifier: NodeClassifier) -> tuple[float, float]:
    return classifier.result_.val, -classifier.result_.val_loss


def _drawn(trial: Any, prepared: NodeClassifier) -> dict[str, Any]:
    """Draw settings; what a model does not take, or was given as its own, is not drawn."""
    from bagcn.study.models import argument_names

    free = set(argument_names(prepared.model)) - dict(prepared.model_params or {}).keys()
    settings: dict[str, Any] = {
        "lr": trial.suggest_float("lr", 2e-3, 3e-2, log=True),
        "weight_decay": trial.suggest_float("weight_decay", 1e-5, 1e-2, log=True),
    }
    if "hidden_channels" in free:
        settings["hidden_channels"] = trial.suggest_categorical("hidden_channels", [32, 64, 128])
    if "dropout" in free:
        settings["dropout"] = trial.suggest_float("dropout", 0.0, 0.7)
    if "input_dropout" in free:
        settings["input_dropout"] = trial.suggest_float("input_dropout", 0.0, 0.8)
    return settings
