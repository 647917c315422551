"""What a source is: where documents come from, and which of their columns mean what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Format = Literal["jsonl", "parquet", "arrow", "text"]


@dataclass(frozen=True)
class Source:
    """One entry of ``sources`` in a pipeline file.

    Attributes:
        name: its name, the ``source`` of its documents.
        paths: patterns as written: files, globs (``**`` too), folders, fsspec URLs.
        base: the folder relative patterns start from; never part of a plan.
        text: column with the text, or None (default) for ``text``.
        id: column with the id, or None (default) for ``id`` where there is one; a missing
            id is ``<file>:<row>``.
        url: column with the address, or None (default) for ``url`` where there is one.
        format: how to read the files, or None (default) to go by their names.
        document: for plain text, whether a ``file`` (default) or a ``line`` is a document.
        rename: new names for other columns, ``{old: new}``. Default: none.
    """

    name: str
    paths: tuple[str, ...]
    base: str = "."
    text: str | None = None
    id: str | None = None
    url: str | None = None
    format: Format | None = None
    document: Literal["file", "line"] = "file"
    rename: Mapping[str, str] = field(default_factory=dict)

    def check(self) -> list[tuple[str, str]]:
        return [] if self.paths else [("paths", "expected at least one path or pattern")]
