"""The ``exact`` rule: documents whose texts are the same, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
import pyarrow as pa
from xxhash import xxh3_128_digest

from cleanpipe.dedup.resolve import DuplicateRule
from cleanpipe.stage import Sketch
from cleanpipe.units import Units

_DIGEST = pa.binary(16)


@dataclass(frozen=True)
class Exact(DuplicateRule):
    """Drops a document whose text equals that of an earlier one in canonical order.

    Texts are compared by the 128-bit XXH3 hash of their UTF-8 bytes: among 10 billion
    documents the chance that any two different ones share it is 1.5e-19 (n**2 / 2**129).
    Nothing is normalised first. An empty text is a document, so of several one is kept.

    The similarity in drop records is 1.0, named ``exact``. No parameters.
    """

    kind: ClassVar[str] = "exact"
    measure_name: ClassVar[str] = "exact"
    payload: ClassVar[pa.Schema] = pa.schema([pa.field("digest", _DIGEST, nullable=False)])

    @property
    def compares(self) -> bool:
        """False: equal digests are the same texts."""
        return False

    def sketch(self, units: Units) -> Sketch:
        """A row a document: its digest, the low half as bucket, the high half as fingerprint."""
        joined = b"".join(map(xxh3_128_digest, _utf8(units.text)))
        digest = pa.FixedSizeBinaryArray.from_buffers(
            _DIGEST, len(units), [None, pa.py_buffer(joined)]
        )
        unit = pa.array(np.arange(len(units), dtype=np.int64))
        halves = np.frombuffer(joined, dtype=">u8").reshape(len(units), 2).astype(np.uint64)
        return Sketch(
            pa.table({"unit": unit, "digest": digest}),
            pa.table(
                {
                    "unit": unit,
                    "bucket": pa.array(halves[:, 1]),
                    "fingerprint": pa.array(halves[:, 0]),
                    "compare": pa.array(np.zeros(len(units), dtype=np.bool_)),
                }
            ),
        )


def _utf8(text: pa.LargeStringArray) -> Iterator[memoryview]:
    """The bytes of each text, not copied."""
    _, offsets, data = text.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64, count=text.offset + len(text) + 1)
    places = ends[text.offset :].tolist()
    view = memoryview(data) if data is not None else memoryview(b"")
    return (view[start:end] for start, end in pairwise(places))
