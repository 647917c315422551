"""The texts that people hand to a function: lists, Arrow arrays, pandas Series."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from cleanpipe.text import buffers


def text_column(texts: Any) -> pa.LargeStringArray:
    """The texts as one array; None, and what pandas takes for missing, is null.

    Args:
        texts: n texts: a list or tuple of ``str`` and None, an Arrow array or chunked
            array of strings, a pandas Series, or what else exports an Arrow stream.

    Errors: TypeError where these are not texts; ValueError for a ``str`` with a lone
    surrogate, which is no text.
    """
    if isinstance(texts, (str, bytes)):
        raise TypeError(f"expected a list of texts, got one {type(texts).__name__}")
    if isinstance(texts, Sequence):
        wrong = next((text for text in texts if not isinstance(text, (str, type(None)))), None)
        if wrong is not None:
            raise TypeError(f"expected texts, got {type(wrong).__name__}")
        return pa.array(texts, pa.large_string())
    if hasattr(texts, "columns"):
        raise TypeError('expected texts, got a table: choose a column, such as frame["text"]')
    if hasattr(texts, "isna"):  # a pandas Series: NaN, None and NA are all missing
        return text_column(texts.astype(object).where(texts.notna(), None).tolist())
    if hasattr(texts, "__arrow_c_stream__"):
        return _strings(pa.chunked_array(texts))
    if hasattr(texts, "__arrow_c_array__"):
        return _strings(pa.chunked_array([pa.array(texts)]))
    raise TypeError(f"expected texts, got {type(texts).__name__}")


def _strings(column: pa.ChunkedArray[Any]) -> pa.LargeStringArray:
    if str(column.type) not in ("string", "large_string", "string_view", "null"):
        raise TypeError(f"expected an Arrow array of strings, got one of {column.type}")
    array: Any = column.cast(pa.large_string()).combine_chunks()
    return array


def slices(column: pa.LargeStringArray, size: int = 1 << 23) -> Iterator[tuple[int, int]]:
    """Rows [begin, end) of parts of about ``size`` bytes, or of one longer text."""
    offsets, _ = buffers(column)
    part = (offsets[:-1] - offsets[0]) // size
    edges = [0, *(np.flatnonzero(np.diff(part)) + 1).tolist(), len(column)]
    return pairwise(edges) if len(column) else iter(())
