"""What becomes of the input's columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa

EXTRA = "extra"
"""The column for JSON values that fit no other."""


@dataclass(frozen=True)
class SourceRoles:
    """The input columns of one source that mean something.

    Attributes:
        text: the column with the text; None for plain text, which has no columns.
        id: the column with the id, or None: ids are then ``<file>:<row>``.
        url: the column with the address, or None.
    """

    text: str | None
    id: str | None
    url: str | None


@dataclass(frozen=True)
class Columns:
    """What becomes of the input's columns.

    Attributes:
        schema: the columns passed through, in output order: all but ``text``, ``id`` and
            ``cleanpipe``; last, ``extra`` (large_string, JSON) if any source is JSON lines.
        mapping: for each source, {input column: output column}.
        roles: for each source, its text, id and url column.
        loose: for each source, keys of JSON lines seen with no value a column could hold.
        warnings: sentences about what was seen that is likely a mistake.
    """

    schema: pa.Schema
    mapping: Mapping[str, Mapping[str, str]]
    roles: Mapping[str, SourceRoles]
    loose: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
