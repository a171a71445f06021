"""What is public: the names in ``__all__``, all there, all documented, and nothing else."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import subprocess
import sys
from types import ModuleType

import pytest

import bagcn

PUBLIC = {
    "bagcn": {"BAGCN", "BiaffineLayer", "NodeClassifier", "__version__"},
    "bagcn.data": {
        "DATASETS", "SCALINGS", "SPLITS", "DataFileError", "DatasetInfo", "MissingDataError",
        "RawFile", "Split", "load", "make_split", "per_class_split", "public_split",
        "random_split", "scale_features", "synthetic_graph",
    },
    "bagcn.nn": {
        "BAGCN", "BiaffineLayer", "attend", "attention_weights", "biaffine_attention",
        "consistency", "sharpen",
    },
    "bagcn.baselines": {"MODELS", "Card"},
    "bagcn.training": {
        "Checkpoint", "Member", "Result", "Task", "TrainSettings", "train", "train_population",
    },
}  # fmt: skip
"""What users may rely on; a change here is a change for them."""


def rooms() -> list[str]:
    """All packages of this one, by their full names."""
    found = pkgutil.walk_packages(bagcn.__path__, "bagcn.")
    return ["bagcn", *(module.name for module in found if module.ispkg)]


def modules() -> list[str]:
    """All modules of this package, but the ones that run when they are imported."""
    found = pkgutil.walk_packages(bagcn.__path__, "bagcn.")
    return [module.name for module in found if not module.name.endswith("__main__")]


@pytest.mark.parametrize("name", PUBLIC)
def test_the_public_names(name: str) -> None:
    assert set(importlib.import_module(name).__all__) == PUBLIC[name]


@pytest.mark.parametrize("name", rooms())
def test_every_package_says_what_it_is_for(name: str) -> None:
    assert (importlib.import_module(name).__doc__ or "").strip(), name


@pytest.mark.parametrize("name", rooms())
def test_what_is_exported_is_there_and_documented(name: str) -> None:
    module = importlib.import_module(name)
    names = list(getattr(module, "__all__", ()))
    assert len(set(names)) == len(names)
    for exported in names:
        value = getattr(module, exported)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert (value.__doc__ or "").strip(), f"{name}.{exported}"


@pytest.mark.parametrize("name", [*PUBLIC, "bagcn.explain", "bagcn.ops", "bagcn.tables"][1:])
def test_what_is_imported_without_an_underscore_is_exported(name: str) -> None:
    """A package exports every class and function that its modules give it."""
    module = importlib.import_module(name)
    for found, value in vars(module).items():
        own = getattr(value, "__module__", "").startswith("bagcn")
        if own and not found.startswith("_") and not isinstance(value, ModuleType):
            assert found in module.__all__, f"{name}.{found}"


@pytest.mark.parametrize("name", modules())
def test_every_module_exports_what_it_has(name: str) -> None:
    module = importlib.import_module(name)
    missing = [n for n in getattr(module, "__all__", ()) if not hasattr(module, n)]
    assert missing == [], name


def test_star_and_attribute_give_the_same() -> None:
    names: dict[str, object] = {}
    exec("from bagcn import *", names)
    for name in bagcn.__all__:
        assert names[name] is getattr(bagcn, name)
    assert set(bagcn.__all__) <= set(dir(bagcn))
    with pytest.raises(AttributeError, match="module 'bagcn' has no attribute 'Nothing'"):
        bagcn.Nothing  # noqa: B018


def test_the_package_itself_imports_nothing_heavy() -> None:
    code = "import sys, bagcn; print([m for m in ('torch', 'numpy', 'click') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_core_rooms_need_the_core_only() -> None:
    """A bare GPU machine has no click, rich, pandas, pyarrow, matplotlib, plotly or optuna."""
    others = "click rich pandas pyarrow tabulate matplotlib plotly optuna networkx"
    code = (
        "import sys, importlib, pkgutil, warnings\n"
        "warnings.simplefilter('ignore')\n"
        f"for name in {others!r}.split(): sys.modules[name] = None\n"
        "for room in ('data', 'nn', 'ops', 'baselines', 'training', 'study'):\n"
        "    room = importlib.import_module(f'bagcn.{room}')\n"
        "    for module in pkgutil.iter_modules(room.__path__, room.__name__ + '.'):\n"
        "        if not module.name.endswith('__main__'): importlib.import_module(module.name)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
