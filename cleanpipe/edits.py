"""What a rewriter's edits make of texts, and the rows for ``edits/``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cleanpipe.batch import EDITS, TEXT, Batch, text_views
from cleanpipe.spec import Step
from cleanpipe.stage import Edits, Rewriter, Rows

EDIT_TEXT_BYTES = 200
"""How much of a removed or replaced passage the edit record shows, bytes of UTF-8."""


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
    texts = []
    for position, unit in enumerate(changed.tolist()):
        view = views[unit]
        parts: list[bytes | memoryview] = []
        last = 0
        for edit in range(bounds[position], bounds[position + 1]):
            start, end = int(edits.start[edit]), int(edits.end[edit])
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
    views = text_views(text)
    rules = stage.rules()
    chosen = [rules[code - 1] for code in edits.rule.tolist()]
    places = pa.array(rows[edits.unit], pa.int64())
    shown = [
        bytes(views[unit][start : min(end, start + EDIT_TEXT_BYTES)]).decode(errors="ignore")
        for unit, start, end in zip(
            edits.unit.tolist(), edits.start.tolist(), edits.end.tolist(), strict=True
        )
    ]
    values = edits.value.tolist()
    columns = {
        "id": batch.id.take(places),
        "file": batch.file.take(places),
        "row": batch.row.take(places),
        "stage": pa.array([step.name] * len(edits), TEXT),
        "rule": pa.array([rule.name for rule in chosen], TEXT),
        "measure": pa.array([rule.measure for rule in chosen], TEXT),
        "value": pa.array(edits.value, pa.float64(), from_pandas=True),
        "bound": pa.array(
            [rule.broken_by(value) for rule, value in zip(chosen, values, strict=True)], TEXT
        ),
        "start": pa.array(edits.start, pa.int64()),
        "end": pa.array(edits.end, pa.int64()),
        "replacement": pa.array(edits.replacement, TEXT)
        if edits.replacement is not None
        else pa.nulls(len(edits), TEXT),
        "text": pa.array(shown, TEXT),
        "match": pa.array(edits.match, TEXT)
        if edits.match is not None
        else pa.nulls(len(edits), TEXT),
    }
    return pa.table([columns[name] for name in EDITS.names], schema=EDITS)


def in_document_order(tables: Sequence[pa.Table], batch: Batch) -> pa.Table:
    """Edits of several steps as one table: by document, then in the order they were made."""
    if not tables:
        return EDITS.empty_table()
    table = pa.concat_tables(tables)
    if len(tables) == 1 or not len(table):
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
