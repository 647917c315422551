"""Items of test sets among texts in memory, in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from cleanpipe.pipeline import Pipeline
from cleanpipe.texts import text_column

_COLUMNS = (
    "id",
    "test_set",
    "test_item",
    "score",
    "match",
    "match_start",
    "match_end",
    "evidence",
)


def contamination(
    texts: Any,
    tests: str | Sequence[str] | Mapping[str, Any],
    *,
    threshold: float | None = None,
) -> pa.Table:
    """Which texts hold items of which test sets, as a pipeline of the stage ``contamination``
    finds them (docs/contamination.md).

    Args:
        texts: n texts: a list or tuple of ``str`` and None, an Arrow array or chunked array of
            strings, a pandas Series, or what else exports an Arrow stream.
        tests: test sets: a path, a list of paths (each file a set, every string field but ``id``
            a part of its items), or a map of name to path or to ``{"paths", "fields", "id",
            "tokens"}``. Paths are relative to the working directory.
        threshold: the share of a part's weight that makes a passage, above 0, at most 1. Default:
            None, by the part's weight.

    Returns:
        A row a hit, by text, then in the order of the sets: ``id`` (int64, the text's position),
        ``test_set``, ``test_item`` (the item's ``id``, else its place in the set, from 0),
        ``score`` (float64: how much of the item's part was found), ``match`` (the passage),
        ``match_start`` and ``match_end`` (int64, its byte offsets in the text's UTF-8) and
        ``evidence`` (which parts were found, such as ``question+answer``).

    Errors: TypeError where these are not texts; ConfigError for tests that cannot be read.
    """
    column = text_column(texts)
    stage = {"tests": tests, "action": "flag", "threshold": threshold}
    pipeline = Pipeline.from_dict({"stages": [{"contamination": stage}]})
    return pipeline.run(column).matches.select(_COLUMNS)
