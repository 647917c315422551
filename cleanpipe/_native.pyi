"""The native kernels over Arrow strings (sources in `cleanpipe/native/`).

Every function takes `texts`: whatever exports Arrow strings through `__arrow_c_array__` or
`__arrow_c_stream__` (a `pyarrow.Array` or `pyarrow.ChunkedArray` of `string` or `large_string`,
other libraries' arrays alike), zero-copy, sliced or not; a column of type `null` counts as texts
that are all null. n is the number of texts, nulls included; a null has no tokens and nothing
ill-formed in it. The GIL is released while texts are read; results are new arrays.

All functions raise
    TypeError: `texts` is not Arrow data, or not strings; the message names the type given.
    ValueError: the Arrow data is invalid (offsets that decrease), or its stream failed.
    MemoryError: an allocation failed.
"""

from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

class _ArrowArray(Protocol):
    def __arrow_c_array__(self, requested_schema: Any = None) -> Any: ...

class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...

UNICODE_VERSION: str
"""The Unicode version of the token tables, such as `15.0.0`."""

TOKEN_TABLE_VERSION: int
"""Raised whenever any text's tokens or hashes change; stored with signatures and indexes."""

MEASURES: tuple[str, ...]
"""The names of all surface measures, in the order of docs/measures.md."""

MEASURES_VERSION: int
"""Raised whenever any text's measure changes; part of a plan's fingerprint."""

def measures(
    texts: _ArrowArray | _ArrowStream, names: tuple[str, ...], /
) -> NDArray[np.float64]:
    """Surface measures of each text, as docs/measures.md defines them; no others are computed.

    Args:
        names: of the measures, in any order: the keys of `cleanpipe.surface.SURFACE`.

    Returns float64 of shape (len(names), n); a null is an empty text.

    KeyError is raised for an unknown name, MemoryError also for a text of 4 GiB or more.
    """

def token_counts(texts: _ArrowArray | _ArrowStream, /) -> NDArray[np.int64]:
    """The number of tokens of each text, as docs/tokens.md defines them.

    Returns int64 of shape (n,).
    """

def tokens(
    texts: _ArrowArray | _ArrowStream, /
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.uint64]]:
    """The tokens of all texts, with their hashes (docs/tokens.md).

    Returns (offsets, starts, ends, hashes), t being the number of all tokens:
        offsets: int64 of shape (n + 1,); text i has the tokens offsets[i] to offsets[i + 1] - 1.
        starts, ends: int64 of shape (t,); half-open byte offsets into the UTF-8 of the token's own
            text, counted from that text's first byte.
        hashes: uint64 of shape (t,); of the case-folded token.

    MemoryError is also raised for a text of 4 GiB or more.
    """

def ngrams(
    texts: _ArrowArray | _ArrowStream, n: int, /
) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """The hashes of the n-grams of each text (docs/tokens.md).

    A text of fewer than n tokens has one gram, of all its tokens; one without tokens has none.

    Args:
        n: tokens a gram, 1 or more; any n costs the same.

    Returns (offsets, hashes), g being the number of all grams:
        offsets: int64 of shape (n + 1,); text i has the grams offsets[i] to offsets[i + 1] - 1,
            in the order of the tokens they begin at.
        hashes: uint64 of shape (g,).

    ValueError is also raised for n < 1.
    """

def segments(
    texts: _ArrowArray | _ArrowStream, unit: Literal["paragraph", "line", "sentence"], /
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The lines, paragraphs or sentences of each text (cleanpipe/text.py defines them).

    Returns (offsets, starts, ends), s being the number of all units:
        offsets: int64 of shape (n + 1,); text i has the units offsets[i] to offsets[i + 1] - 1.
        starts, ends: int64 of shape (s,); half-open byte offsets into the UTF-8 of the unit's own
            text, counted from that text's first byte.

    ValueError is also raised for another unit, MemoryError for a text of 4 GiB or more.
    """

def replaced(texts: _ArrowArray | _ArrowStream, /) -> NDArray[np.int64]:
    """The number of ill-formed UTF-8 sequences in each text.

    That is how many U+FFFD a decoder would put in their place, one per maximal subpart, as
    Unicode recommends and `bytes.decode(errors="replace")` does. A U+FFFD that is in the text
    already does not count.

    Returns int64 of shape (n,).
    """

def _lines(texts: _ArrowArray | _ArrowStream, wanted: int = 31, /) -> NDArray[np.uint64]:
    """Temporary: `cp_line_counts` of each text, uint64 of shape (12 n,)."""

def _markup(texts: _ArrowArray | _ArrowStream, /) -> NDArray[np.uint64]:
    """Temporary: `cp_markup_counts` of each text, uint64 of shape (7 n,)."""

def _segment_counts(
    texts: _ArrowArray | _ArrowStream, unit: Literal["paragraph", "line", "sentence"], /
) -> NDArray[np.uint64]:
    """Temporary: `cp_segments_count` of each text, uint64 of shape (n,)."""
def _repetition(
    texts: _ArrowArray | _ArrowStream, wanted: int = 0x7FD, /
) -> NDArray[np.uint64]: ...  # for tests only: goes with its block in binding.c
