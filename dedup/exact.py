"""The ``exact`` rule: documents whose texts are the same, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from xxhash import xxh3_128_digest

from cleanpipe.dedup.resolve import DuplicateRule
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

    def sketch(self, units: Units) -> pa.Table:
        """A row a document: its digest, and as bucket the digest's low 64 bits."""
        joined = b"".join(map(xxh3_128_digest, _utf8(units.text)))
        digest = pa.FixedSizeBinaryArray.from_buffers(
            _DIGEST, len(units), [None, pa.py_buffer(joined)]
        )
        return pa.table(
            {
                "unit": pa.array(np.arange(len(units), dtype=np.int64)),
                "bucket": pa.array(_halves(joined, len(units))[:, 1]),
                "digest": digest,
            }
        )

    def group(self, members: pa.Table) -> pa.Table:
        """Each document with the first that has its digest, at similarity 1.0."""
        rank = np.asarray(members["rank"].to_numpy(), dtype=np.int64)
        digests = members["digest"].combine_chunks()
        halves = _halves(digests.buffers()[1], len(digests), digests.offset)
        # Sorted by bucket, members of one digest are neighbours but for a collision of 64 bits.
        order = np.lexsort((rank, halves[:, 0], halves[:, 1]))
        rank, halves = rank[order], halves[order]
        begins = np.ones(len(rank), dtype=np.bool_)
        begins[1:] = (halves[1:] != halves[:-1]).any(axis=1)
        first = rank[begins][np.cumsum(begins) - 1] if len(rank) else rank
        later = rank > first
        return pa.table(
            {
                "later": pa.array(rank[later]),
                "earlier": pa.array(first[later]),
                "similarity": pa.array(np.ones(int(later.sum()))),
            }
        )


def _utf8(text: pa.LargeStringArray) -> Iterator[memoryview]:
    """The bytes of each text, not copied."""
    _, offsets, data = text.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64, count=text.offset + len(text) + 1)
    places = ends[text.offset :].tolist()
    view = memoryview(data) if data is not None else memoryview(b"")
    return (view[start:end] for start, end in pairwise(places))


def _halves(digests: bytes | pa.Buffer, size: int, offset: int = 0) -> npt.NDArray[np.uint64]:
    """High and low 64 bits of 16-byte digests (big-endian, as xxHash writes them): (size, 2)."""
    found = np.frombuffer(digests, dtype=">u8", count=2 * (offset + size))[2 * offset :]
    return found.reshape(size, 2).astype(np.uint64)
