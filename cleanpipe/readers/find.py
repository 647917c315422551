"""Patterns -> files: plain paths, globs, folders, fsspec URLs."""

from __future__ import annotations

import datetime
import glob
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import unquote

import fsspec

from cleanpipe.sources import Format

_FORMATS: dict[str, Format] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".ipc": "arrow",
    ".feather": "arrow",
    ".txt": "text",
}
_COMPRESSIONS: dict[str, Literal["gzip", "zstd"]] = {".gz": "gzip", ".zst": "zstd"}
_FOREIGN = frozenset({".bz2", ".xz", ".lz4", ".zip", ".br", ".sz", ".snappy", ".7z", ".tar"})


class Unusable(Exception):
    """A pattern gives nothing to read; the message is the fault."""


@dataclass(frozen=True)
class Found:
    """A file that a pattern matched.

    Attributes:
        file: the path as the pattern yields it.
        location: an absolute path or a URL.
        identity: equal for two names of one file.
        size: bytes.
        stamp: changes when the file changes.
    """

    file: str
    location: str
    identity: str
    size: int
    stamp: str


def kind(name: str) -> tuple[Format | None, Literal["gzip", "zstd", "unknown"] | None]:
    """Format and compression that a file's name says, None where it says none."""
    stem, extension = os.path.splitext(name.rsplit("/", 1)[-1].lower())
    if extension in _FOREIGN:
        return None, "unknown"
    compression = _COMPRESSIONS.get(extension)
    if compression is None:
        return _FORMATS.get(extension), None
    format_ = _FORMATS.get(os.path.splitext(stem)[1])
    return (format_ if format_ in ("jsonl", "text") else None), compression


def expand(pattern: str, base: str, any_name: bool) -> list[Found]:
    """The files of one pattern, each once, in no particular order.

    Args:
        pattern: as written.
        base: where relative paths start.
        any_name: take every file of a folder, whatever its name says.

    Errors: Unusable where there is none, or one cannot be read.
    """
    local = "://" not in pattern or pattern.startswith("file://")
    try:
        found = _local(pattern, base, any_name) if local else _remote(pattern, any_name)
    except (OSError, ImportError, ValueError) as error:
        raise Unusable(f"cannot look up `{pattern}`: {error}") from error
    if not found:
        raise Unusable(f"`{pattern}` matches no file")
    return found


def _hidden(path: str) -> bool:
    return path.startswith((".", "_"))


def _wanted(name: str, any_name: bool) -> bool:
    if _hidden(name):
        return False
    format_, compression = kind(name)
    if compression == "unknown":
        format_ = kind(os.path.splitext(name)[0])[0]
    return any_name or format_ is not None


def _local(pattern: str, base: str, any_name: bool) -> list[Found]:
    prefix, path = "", pattern
    if pattern.startswith("file://"):
        prefix, path = "file://", unquote(pattern.removeprefix("file://"))
    path = os.path.expanduser(path)
    root = os.path.abspath(base)
    names: set[str] = set()
    if os.path.lexists(os.path.join(root, path)) or not glob.has_magic(path):
        matches = [path] if os.path.lexists(os.path.join(root, path)) else []
    else:
        shown = _named_hidden(path)
        matches = [
            match
            for match in glob.glob(path, root_dir=root, recursive=True)
            if not any(_hidden(part) and part not in shown for part in _parts(match))
        ]
    for match in matches:
        full = os.path.join(root, match)
        if not os.path.isdir(full):
            names.add(match)
            continue
        inside = list(_walk(full, match, any_name))
        if not inside and len(matches) == 1:
            raise Unusable(f"the folder `{pattern}` has no file that a reader knows")
        names.update(inside)
    return [_stat(root, name, prefix) for name in names]


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".", "..")]


def _named_hidden(pattern: str) -> set[str]:
    """Hidden names that the pattern spells out, such as ``.cache`` in ``.cache/*.jsonl``."""
    return {part for part in _parts(pattern) if _hidden(part)}


def _walk(full: str, shown: str, any_name: bool) -> Iterator[str]:
    def failed(error: OSError) -> None:
        raise error

    for folder, folders, names in os.walk(full, onerror=failed, followlinks=True):
        folders[:] = sorted(name for name in folders if not _hidden(name))
        inner = os.path.relpath(folder, full)
        start = shown if inner == "." else os.path.join(shown, inner)
        for name in names:
            if _wanted(name, any_name):
                yield os.path.join(start, name)


def _stat(root: str, name: str, prefix: str) -> Found:
    location = os.path.join(root, name)
    stat = os.stat(location)
    if not os.access(location, os.R_OK):
        raise PermissionError(f"`{name}` may not be read")
    return Found(
        prefix + name,
        location,
        os.path.realpath(location),
        stat.st_size,
        str(stat.st_mtime_ns),
    )


def _remote(pattern: str, any_name: bool) -> list[Found]:
    fs, path = fsspec.core.url_to_fs(pattern)
    # What precedes the path in the pattern precedes it in the files' names too.
    prefix = pattern.removesuffix(path) if pattern.endswith(path) else None
    infos: dict[str, dict[str, Any]] = {}
    if glob.has_magic(path) and not fs.exists(path):
        shown = _named_hidden(path)
        matches = {
            name: info
            for name, info in fs.glob(path, detail=True).items()
            if not any(_hidden(part) and part not in shown for part in _parts(name))
        }
    else:
        matches = {path: fs.info(path)}
    for name, info in matches.items():
        if info["type"] != "directory":
            infos[name] = info
            continue
        for inner, detail in fs.find(name, detail=True).items():
            below = _parts(inner.removeprefix(name))
            if not any(map(_hidden, below)) and _wanted(below[-1], any_name):
                infos[inner] = detail
    found = []
    for name, info in infos.items():
        url = fs.unstrip_protocol(name) if prefix is None else prefix + name
        identity = fs.unstrip_protocol(name)
        found.append(Found(url, url, identity, int(info.get("size") or 0), _stamp(info)))
    return found


def state(location: str, local: bool) -> tuple[int, str]:
    """Size and stamp of a file as it is now.

    Errors: OSError where it cannot be reached.
    """
    if local:
        stat = os.stat(location)
        return stat.st_size, str(stat.st_mtime_ns)
    fs, path = fsspec.core.url_to_fs(location)
    fs.invalidate_cache()
    info = fs.info(path)
    return int(info.get("size") or 0), _stamp(info)


def _stamp(info: dict[str, Any]) -> str:
    for key in ("ETag", "etag", "md5Hash", "mtime", "LastModified", "last_modified", "created"):
        value = info.get(key)
        if value:
            # Listings and single look-ups of one file system may show a time differently.
            return str(value.timestamp() if isinstance(value, datetime.datetime) else value)
    return ""
