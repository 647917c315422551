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
from cleanpipe.stage import Sketch
from cleanpipe.units import Units

DIGEST = pa.binary(16)


@dataclass(frozen=True)
class Exact(DuplicateRule):
    """Drops a document whose text equals that of an earlier one in canonical order.

    Texts are compared by the 128-bit XXH3 hash of their UTF-8 bytes: among 10 billion
    documents the chance that any two different ones share it is 1.5e-19 (n**2 / 2**129).
    Nothing is normalised first. An empty text is a document, so of several one is kept.

    The similarity in drop records is 1.0, named ``exact``.

    Parameters:
        prefer: which of the same documents stays, as for ``minhash``. Default: none, the first
            in source order.
        against: output folders of complete earlier runs with the same kind of stage. Their
            survivors come before every document here, in the order of the list, whatever
            ``prefer`` says; they are not dropped, and ``survivor_run`` names the folder. Default:
            none.
    """

    kind: ClassVar[str] = "exact"
    identity: ClassVar[bool] = True
    measure_name: ClassVar[str] = "exact"
    payload: ClassVar[pa.Schema] = pa.schema([pa.field("digest", DIGEST, nullable=False)])

    def sketch(self, units: Units) -> Sketch:
        """A row a document: its digest. Those of one digest are the same."""
        unit = pa.array(np.arange(len(units), dtype=np.int64))
        digest = digest_column(text_digests(units.text))
        documents = pa.table([unit, digest], names=["unit", "digest"])
        return Sketch(documents, self.buckets(documents))

    def buckets(self, payload: pa.Table) -> pa.Table:
        """A row a document."""
        digests = digest_rows(payload["digest"].combine_chunks())
        return pa.table(
            {
                "unit": pa.array(np.arange(len(payload), dtype=np.int64)),
                "bucket": pa.array(digests[:, 1]),
                "fingerprint": pa.array(digests[:, 0]),
                "compare": pa.array(np.zeros(len(payload), dtype=np.bool_)),
            }
        )


def text_digests(text: pa.LargeStringArray, seed: int = 0) -> npt.NDArray[np.uint64]:
    """XXH3-128 of the UTF-8 of each text: uint64, shape (n, 2), high and low 64 bits."""
    joined = b"".join(xxh3_128_digest(data, seed) for data in _utf8(text))
    return np.frombuffer(joined, dtype=">u8").reshape(len(text), 2).astype(np.uint64)


def digest_column(digests: npt.NDArray[np.uint64]) -> pa.FixedSizeBinaryArray:
    """128-bit numbers as :func:`text_digests` gives them, big-endian as xxHash writes them."""
    data = pa.py_buffer(digests.astype(">u8").tobytes())
    return pa.FixedSizeBinaryArray.from_buffers(DIGEST, len(digests), [None, data])


def digest_rows(column: pa.FixedSizeBinaryArray) -> npt.NDArray[np.uint64]:
    """What :func:`digest_column` was made of: uint64, shape (n, 2)."""
    data = column.buffers()[1] or b""
    numbers = np.frombuffer(data, ">u8", 2 * (column.offset + len(column)))
    return numbers.reshape(-1, 2)[column.offset :].astype(np.uint64)


def _utf8(text: pa.LargeStringArray) -> Iterator[memoryview]:
    """The bytes of each text, not copied."""
    _, offsets, data = text.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64, count=text.offset + len(text) + 1)
    places = ends[text.offset :].tolist()
    view = memoryview(data) if data is not None else memoryview(b"")
    return (view[start:end] for start, end in pairwise(places))
