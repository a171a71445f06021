"""The nine benchmark data sets: what they hold, where they come from, how they are used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Format = Literal["planetoid", "npz"]

_PLANETOID = "https://github.com/kimiyoung/planetoid/raw/master/data"
_SHCHUR = "https://github.com/shchur/gnn-benchmark/raw/master/data/npz"
_GRAPH2GAUSS = "https://github.com/abojchevski/graph2gauss/raw/master/data"

_PLANETOID_PAPER = "https://arxiv.org/abs/1603.08861"
_SHCHUR_PAPER = "https://arxiv.org/abs/1811.05868"
_GRAPH2GAUSS_PAPER = "https://arxiv.org/abs/1707.03815"


@dataclass(frozen=True)
class RawFile:
    """One file of a data set: its name, its official address, its checksum.

    The checksum is ``"sha256:..."`` or ``"git:..."``, the id that git gives a file's content: of
    the three files that are published in a git repository but are not at hand, it is what the
    repository itself tells.
    """

    name: str
    url: str
    checksum: str


@dataclass(frozen=True)
class DatasetInfo:
    """A benchmark data set as :func:`bagcn.data.load` returns it.

    Args:
        name: The name to load it by.
        title: The name to print.
        nodes: Number of nodes.
        edges: Number of undirected edges, without self-loops and duplicates.
        features: Number of features.
        classes: Number of classes.
        default_split: ``"public"`` where a public split exists, else ``"per-class"``.
        scaling: The feature scaling that suits it, see :func:`bagcn.data.scale_features`.
        format: How its files are read.
        folder: Where the files lie, in PyTorch Geometric's layout.
        files: The raw files.
        homepage: Where the files are published.
        paper: The paper that introduced it.
        largest_component: Whether it is reduced to its largest connected component.
    """

    name: str
    title: str
    nodes: int
    edges: int
    features: int
    classes: int
    default_split: str
    scaling: str
    format: Format
    folder: str
    files: tuple[RawFile, ...]
    homepage: str
    paper: str
    largest_component: bool = False

    @property
    def embedded(self) -> bool:
        """Whether it comes with this package, so that it needs no files."""
        return self.name == "cora"


def _planetoid(
    name: str, title: str, size: tuple[int, int, int, int], sums: dict[str, str]
) -> DatasetInfo:
    files = (f"ind.{name}.{part}" for part in sums)
    nodes, edges, features, classes = size
    return DatasetInfo(
        name=name,
        title=title,
        nodes=nodes,
        edges=edges,
        features=features,
        classes=classes,
        default_split="public",
        scaling="row",
        format="planetoid",
        folder=f"Planetoid/{title}/raw",
        files=tuple(
            RawFile(file, f"{_PLANETOID}/{file}", f"sha256:{sha256}")
            for file, sha256 in zip(files, sums.values(), strict=True)
        ),
        homepage="https://github.com/kimiyoung/planetoid",
        paper=_PLANETOID_PAPER,
    )


def _shchur(
    name: str,
    title: str,
    size: tuple[int, int, int, int],
    folder: str,
    file: str,
    sha256: str,
    *,
    scaling: str = "row",
    largest_component: bool = False,
) -> DatasetInfo:
    nodes, edges, features, classes = size
    return DatasetInfo(
        name=name,
        title=title,
        nodes=nodes,
        edges=edges,
        features=features,
        classes=classes,
        default_split="per-class",
        scaling=scaling,
        format="npz",
        folder=folder,
        files=(RawFile(file, f"{_SHCHUR}/{file}", f"sha256:{sha256}"),),
        homepage="https://github.com/shchur/gnn-benchmark",
        paper=_SHCHUR_PAPER,
        largest_component=largest_component,
    )


def _graph2gauss(
    name: str,
    title: str,
    size: tuple[int, int, int, int],
    stem: str,
    git: str,
    *,
    scaling: str = "row",
) -> DatasetInfo:
    nodes, edges, features, classes = size
    file = f"{stem}.npz"
    return DatasetInfo(
        name=name,
        title=title,
        nodes=nodes,
        edges=edges,
        features=features,
        classes=classes,
        default_split="per-class",
        scaling=scaling,
        format="npz",
        folder=f"CitationFull/{stem}/raw",
        files=(RawFile(file, f"{_GRAPH2GAUSS}/{file}", f"git:{git}"),),
        homepage="https://github.com/abojchevski/graph2gauss",
        paper=_GRAPH2GAUSS_PAPER,
    )


_ALL = (
    _planetoid(
        "cora",
        "Cora",
        (2_708, 5_278, 1_433, 7),
        {
            "x": "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab",
            "tx": "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a",
            "allx": "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543",
            "y": "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1",
            "ty": "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad",
            "ally": "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71",
            "graph": "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d",
            "test.index": "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875",
        },
    ),
    _planetoid(
        "citeseer",
        "CiteSeer",
        (3_327, 4_552, 3_703, 6),
        {
            "x": "d20de19150741e555de0ed037195630fc194114ebc7fd72ced62810148aa22f6",
            "tx": "539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21",
            "allx": "2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668",
            "y": "8ba87e515d8e3ee3cf52f6d2c5b86aa73f11ecad825a808455209ec26cd54924",
            "ty": "55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce",
            "ally": "f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95",
            "graph": "d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7",
            "test.index": "2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4",
        },
    ),
    _planetoid(
        "pubmed",
        "PubMed",
        (19_717, 44_324, 500, 3),
        {
            "x": "fbe9cb5c47200d1b7769a26e579be3b7130b556831f9d850e77c4c74f2599b33",
            "tx": "4eb5f5d0f30f26497eb0ac6ac9719d09c67e284f1ed0385c93f3ef27a671da3d",
            "allx": "508e538e2abdccdd54c4d3e9f49d638b4af7107d85845f66ddea5a5152658b7e",
            "y": "e6c807633307a07ed659249006536a147c7999c797f11a2560752990181b41b3",
            "ty": "ee2e0d4819d9fbcc403689c3bf2e49face401b605932f093bc58ab6461130fdd",
            "ally": "0c37bbe3b5014ec365e9d393cf4791925e5ed94fb194305d74f064a8d7b50f0e",
            "graph": "5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9",
            "test.index": "b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5",
        },
    ),
    _graph2gauss(
        "cora-ml",
        "Cora-ML",
        (2_995, 8_158, 2_879, 7),
        "cora_ml",
        "2df67d57d5c34554a689f8addde7fc3bdf37a415",
    ),
    _shchur(
        "photo",
        "Photo",
        (7_487, 119_043, 745, 8),
        "Amazon/Photo/raw",
        "amazon_electronics_photo.npz",
        "bdb1feb8e6ff42ee44024b04479145029c563fd42fc31bff80af20887ba0439a",
        scaling="binary",
        largest_component=True,
    ),
    _shchur(
        "cs",
        "Coauthor CS",
        (18_333, 81_894, 6_805, 15),
        "Coauthor/CS/raw",
        "ms_academic_cs.npz",
        "933c745734e78908c7eb77172a673fee0503f30e26e5a99b36814d88534c42e3",
    ),
    _shchur(
        "physics",
        "Coauthor Physics",
        (34_493, 247_962, 8_415, 5),
        "Coauthor/Physics/raw",
        "ms_academic_phy.npz",
        "e4d68468eba5fb8f6b280ffd406bd53e6e4295ba1dd2967d6fe99b978e4b3375",
    ),
    _graph2gauss(
        "dblp",
        "DBLP",
        (17_716, 52_867, 1_639, 4),
        "dblp",
        "3e179a9ebf2968d9ad67544c8978bf4759e489d8",
        scaling="row-l2",
    ),
    _graph2gauss(
        "cora-full",
        "Cora-Full",
        (19_793, 63_421, 8_710, 70),
        "cora",
        "7dfe6828aec9c9a337ce1bb8efe088e5870e0666",
    ),
)

DATASETS: dict[str, DatasetInfo] = {info.name: info for info in _ALL}
"""Every benchmark data set by name, in the order of the paper's table."""
