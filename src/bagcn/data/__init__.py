"""A graph comes in: benchmark data sets, synthetic graphs, splits, feature scaling."""

from ._errors import DataFileError, MissingDataError
from .catalogue import DATASETS, DatasetInfo, RawFile
from .features import SCALINGS, scale_features
from .loader import load
from .splits import SPLITS, Split, make_split, per_class_split, public_split, random_split
from .synthetic import synthetic_graph

__all__ = [
    "DATASETS",
    "SCALINGS",
    "SPLITS",
    "DataFileError",
    "DatasetInfo",
    "MissingDataError",
    "RawFile",
    "Split",
    "load",
    "make_split",
    "per_class_split",
    "public_split",
    "random_split",
    "scale_features",
    "synthetic_graph",
]
