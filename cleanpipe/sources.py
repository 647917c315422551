"""What a source is: where documents come from, and which of their columns mean what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from cleanpipe.encodings import BY_LINE, UTF8, codec_name
from cleanpipe.parameters import nearest

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
        encoding: of JSON lines and plain text: ``utf-8`` (default), in which ill-formed bytes
            become U+FFFD, or another that Python knows, such as ``gb18030``, in which what cannot
            be decoded is dead. Lines need one of :data:`cleanpipe.encodings.BY_LINE`.
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
    encoding: str = UTF8
    rename: Mapping[str, str] = field(default_factory=dict)

    def check(self) -> list[tuple[str, str]]:
        faults = [] if self.paths else [("paths", "expected at least one path or pattern")]
        if codec_name(self.encoding) is None:
            known = nearest(self.encoding, {*BY_LINE, "utf-16", "utf-32"})
            faults.append(("encoding", f'no encoding is called "{self.encoding}"; {known}'))
        return faults
