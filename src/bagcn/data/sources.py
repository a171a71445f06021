"""Where the files of a data set are: your folder, the cache, the network; in this order."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ._errors import MissingDataError
from .catalogue import DatasetInfo

if TYPE_CHECKING:
    from .download import Progress

TRUE = {"1", "true", "yes", "on"}


def data_folder(data_dir: str | Path | None) -> Path | None:
    """The user's own folder: the argument, else BAGCN_DATA, else none."""
    chosen = data_dir or os.environ.get("BAGCN_DATA")
    return Path(chosen).expanduser() if chosen else None


def cache_folder() -> Path:
    """Where downloads are kept: BAGCN_CACHE, else the platform's folder for such files."""
    chosen = os.environ.get("BAGCN_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "bagcn" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "bagcn"
    xdg = os.environ.get("XDG_CACHE_HOME")
    return (Path(xdg) if xdg else Path.home() / ".cache") / "bagcn"


def network_forbidden(offline: bool) -> bool:
    """Whether nothing may be downloaded: asked for here, or by BAGCN_OFFLINE."""
    return offline or os.environ.get("BAGCN_OFFLINE", "").lower() in TRUE


def missing_files(info: DatasetInfo, folder: Path) -> list[str]:
    """The names of the files that ``folder`` lacks."""
    return [file.name for file in info.files if not (folder / file.name).is_file()]


def find(info: DatasetInfo, data_dir: str | Path | None = None) -> Path | None:
    """The folder that holds all files of the data set: the user's own, else the cache, else none.

    Neither is written to.
    """
    own = data_folder(data_dir)
    if own is not None and not own.is_dir():
        raise MissingDataError(
            f"the data folder {own} does not exist; create it, or name another "
            "(--data-dir, BAGCN_DATA)"
        )
    for root in (own, cache_folder()):
        if root is not None and not missing_files(info, root / info.folder):
            return root / info.folder
    return None


def whereabouts(info: DatasetInfo, data_dir: str | Path | None = None) -> str:
    """Where it would be read from now: ``"your folder"``, ``"cache"``, ``"package"`` or
    ``"to download"``.
    """
    found, own = find(info, data_dir), data_folder(data_dir)
    if found is None:
        return "package" if info.embedded else "to download"
    return "your folder" if own is not None and found == own / info.folder else "cache"


def obtain(
    info: DatasetInfo,
    data_dir: str | Path | None = None,
    *,
    offline: bool = False,
    progress: Progress | None = None,
) -> Path:
    """The folder that holds all files, downloaded into the cache if need be and allowed."""
    found = find(info, data_dir)
    if found is not None:
        return found
    if network_forbidden(offline):
        raise _not_found(info, data_dir, "downloads are switched off (--offline, BAGCN_OFFLINE)")
    from .download import fetch  # only a first use needs the network

    target = cache_folder() / info.folder
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = f"the cache cannot be written to ({error}); BAGCN_CACHE names another folder"
        raise _not_found(info, data_dir, reason) from error
    reasons = fetch(info, target, progress)
    if reasons:
        raise _not_found(info, data_dir, "; ".join(reasons))
    return target


def _not_found(info: DatasetInfo, data_dir: str | Path | None, reason: str) -> MissingDataError:
    """The error that tells which file to put where, and its address."""
    folder = (data_folder(data_dir) or cache_folder()) / info.folder
    missing = missing_files(info, folder)
    files = [file for file in info.files if file.name in missing] or info.files
    names = ", ".join(file.name for file in files)
    addresses = files[0].url.removesuffix(files[0].name) + (names if len(files) == 1 else "FILE")
    return MissingDataError(
        f"cannot get {info.title}: {reason}. Put {names} into {folder}; from {addresses}"
    )
