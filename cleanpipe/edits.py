"""Edits that take units out, what edits make of texts, and the rows for ``edits/`` and
``matches/``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cleanpipe.batch import EDITS, MATCHES, TEXT, Batch, Records, text_views
from cleanpipe.bounds import Numbers
from cleanpipe.spec import Step
from cleanpipe.stage import MATCHED_BY, Codes, Edits, Measures, Rewriter, Rows, Rule
from cleanpipe.text import Segments, buffers, removal_ranges
from cleanpipe.units import Units

EDIT_TEXT_BYTES = 200
"""How much of a removed or replaced passage the edit record shows, bytes of UTF-8."""


REMOVED = ("removed_share", "removed_units")
"""The measures of :func:`removal`: characters removed, separators too, over all (0 for an empty
text); and how many units went."""


def removal(
    units: Units,
    parts: Segments,
    rule: Codes,
    value: Numbers,
    match: Mapping[int, str] | None = None,
) -> tuple[Edits, Measures]:
    """Take some units out of documents: one edit each, with its share of the separators.

    Args:
        units: the documents, shape (n,).
        parts: all units of these documents, shape (s,).
        rule, value: shape (s,), as in :class:`~cleanpipe.stage.Edits`; rule 0 for units to keep.
        match: what broke the rule, by the unit's place. Default: there never is anything.

    Returns:
        The edits, and the measures of :data:`REMOVED`, float64, shape (n,).
    """
    gone = np.flatnonzero(rule)
    document = parts.document[gone]
    start, end = removal_ranges(parts, rule > 0)
    cut = pc.utf8_length(Segments(units.text, document, start, end).texts)
    removed = np.bincount(document, np.asarray(cut, np.float64), minlength=len(units))
    characters = units.number("characters")
    share = np.divide(removed, characters, out=np.zeros(len(units)), where=characters > 0)
    number = np.bincount(document, minlength=len(units)).astype(np.float64)
    shown = None if match is None else [match.get(place) for place in gone.tolist()]
    edits = Edits(document, start, end, rule[gone], value[gone], match=shown)
    return edits, dict(zip(REMOVED, (share, number), strict=True))


def apply_edits(text: pa.Array, edits: Edits) -> tuple[npt.NDArray[np.int64], list[str]]:
    """The texts that edits change.

    Args:
        text: large_string, shape (n,), the texts before.
        edits: sorted by (unit, start), not overlapping.

    Returns:
        Indices of the changed texts, ascending, and the new text of each.

    Errors: ValueError where edits overlap or leave the text, or cut a character in two.
    """
    views = text_views(text)
    changed = np.unique(edits.unit)
    bounds = np.searchsorted(edits.unit, [*changed, len(views)])
    starts, ends = edits.start.tolist(), edits.end.tolist()
    texts = []
    for position, unit in enumerate(changed.tolist()):
        view = views[unit]
        parts: list[bytes | memoryview] = []
        last = 0
        for edit in range(bounds[position], bounds[position + 1]):
            start, end = starts[edit], ends[edit]
            if not last <= start <= end <= len(view):
                raise ValueError(f"edit {start}-{end} after {last} in a text of {len(view)} bytes")
            parts.append(view[last:start])
            if edits.replacement is not None:
                parts.append(edits.replacement[edit].encode())
            last = end
        parts.append(view[last:])
        texts.append(b"".join(parts).decode())
    return changed, texts


def edit_table(
    step: Step, stage: Rewriter, edits: Edits, rows: Rows, text: pa.Array, batch: Batch
) -> pa.Table:
    """The rows for ``edits/`` of sound edits (:func:`apply_edits` has looked at them)."""
    rules = stage.rules()
    chosen = pa.array(edits.rule.astype(np.int64) - 1)
    places = pa.array(rows[edits.unit], pa.int64())
    shown = Segments(text, edits.unit, edits.start, _shown_ends(text, edits)).texts
    columns = {
        "id": batch.id.take(places),
        "file": batch.file.take(places),
        "row": batch.row.take(places),
        "stage": pa.repeat(pa.scalar(step.name, TEXT), len(edits)),
        "rule": pa.array([rule.name for rule in rules], TEXT).take(chosen),
        "measure": pa.array([rule.measure for rule in rules], TEXT).take(chosen),
        "value": pa.array(edits.value, pa.float64(), from_pandas=True),
        "bound": _bounds(rules, edits),
        "start": pa.array(edits.start, pa.int64()),
        "end": pa.array(edits.end, pa.int64()),
        "replacement": pa.array([put or None for put in edits.replacement], TEXT)
        if edits.replacement is not None
        else pa.nulls(len(edits), TEXT),
        "text": shown,
        "match": pa.array(edits.match, TEXT)
        if edits.match is not None
        else pa.nulls(len(edits), TEXT),
    }
    return pa.table([columns[name] for name in EDITS.names], schema=EDITS)


def _shown_ends(text: pa.Array, edits: Edits) -> npt.NDArray[np.int64]:
    """Where what is shown of each edit's text ends: never inside a character."""
    offsets, data = buffers(text)
    ends = np.minimum(edits.end, edits.start + EDIT_TEXT_BYTES)
    cut = ends < edits.end
    for _ in range(3):  # a character has at most three bytes behind its first
        inside = np.flatnonzero(cut)
        inside = inside[data[offsets[edits.unit[inside]] + ends[inside]] >> 6 == 0b10]
        ends[inside] -= 1
    return ends


def _bounds(rules: Sequence[Rule], edits: Edits) -> pa.Array:
    """The bound that each edit's value breaks; worked out once for equal values of a rule."""
    shown = np.empty(len(edits), dtype=object)
    for code in np.unique(edits.rule).tolist():
        mine = edits.rule == code
        values, which = np.unique(edits.value[mine], return_inverse=True)
        texts = [rules[code - 1].broken_by(value) for value in values.tolist()]
        shown[mine] = np.array(texts, dtype=object)[which]
    return pa.array(shown, TEXT)


def match_table(step: Step, found: pa.Table, rows: Rows, batch: Batch) -> pa.Table:
    """The rows for ``matches/`` of what a stage found in these documents of a batch."""
    places = pa.array(rows[found["unit"].to_numpy()], pa.int64())
    which = [getattr(batch, name).take(places) for name in MATCHES.names[:5]]
    stage = pa.array([step.name] * len(found), TEXT)
    said = [found[column.name].cast(column.type) for column in MATCHED_BY]
    return pa.table([*which, stage, *said], schema=MATCHES)


def in_document_order(parts: Sequence[Records], batch: Batch) -> Records:
    """Records of several steps as one: by document, then in the order they were made."""
    return Records(*(_ordered(tables, batch) for tables in zip(Records(), *parts, strict=True)))


def _ordered(tables: Sequence[pa.Table], batch: Batch) -> pa.Table:
    table = pa.concat_tables(tables)
    if sum(len(each) > 0 for each in tables) < 2:
        return table
    # The batch may hold several files, so documents are ordered by their place in it.
    keys = pa.table([batch.file, batch.row], names=["file", "row"]).to_pylist()
    place = {(key["file"], key["row"]): index for index, key in enumerate(keys)}
    order = [
        place[(file, row)]
        for file, row in zip(
            table.column("file").to_pylist(), table.column("row").to_pylist(), strict=True
        )
    ]
    return table.take(pa.array(np.argsort(np.array(order), kind="stable")))
