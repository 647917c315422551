"""Which documents go, and for whom: one pass over verified pairs, one bit a document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cleanpipe.bounds import Flags
from cleanpipe.stage import Barrier, Rows

_ROUNDS = 16  # of array operations on a window before the rest goes one document at a time


class DuplicateRule(Barrier):
    """A rule of document de-duplication: all of them are resolved together."""

    @staticmethod
    def resolve(edges: Iterable[pa.Table], documents: int) -> Iterator[pa.Table]:
        """:func:`resolve`."""
        return resolve(edges, documents)


def resolve(edges: Iterable[pa.Table], documents: int) -> Iterator[pa.Table]:
    """Drop each document that a kept, earlier one is similar to; name the most similar one.

    Documents are settled in canonical order, so whether an earlier one is kept is known for
    good when a later one is looked at: a survivor is never dropped, and nothing is dropped
    through a chain. Of equally similar survivors the first in canonical order is named, of
    equal pairs the one that the first rule found.

    Memory: one bit for each of ``documents`` (10 billion take 1.25 GB) and the table at
    hand, however many edges there are.

    Args:
        edges: tables of ``later``, ``earlier`` (int64 ranks below ``documents``, earlier <
            later), ``similarity`` (float64) and ``rule`` (uint16), together sorted by
            ``later``; all edges of one document are in one table. Repeated edges are fine.
        documents: how many documents there are.

    Returns:
        Tables of the same columns, one row a dropped document, in the same order; none for a
        table in which every document is kept.

    Errors: ValueError where edges are not as described.
    """
    gone = _Bits(documents)
    last = -1
    for table in edges:
        if table.num_rows == 0:
            continue
        later, earlier = _ranks(table, "later"), _ranks(table, "earlier")
        if later[0] <= last or (np.diff(later) < 0).any():
            raise ValueError("edges are not sorted by the later document, table by table")
        if (earlier >= later).any() or earlier.min() < 0 or later[-1] >= documents:
            raise ValueError("an edge does not lead from a document to an earlier one")
        last = int(later[-1])
        kept = _to_kept(later, earlier, gone)
        gone.set(later[kept])
        found = table.filter(pa.array(kept))
        if found.num_rows:
            yield found.take(pa.array(_best(found)))


def _to_kept(later: Rows, earlier: Rows, gone: _Bits) -> Flags:
    """Flags, shape (e,): which edges of a window lead to a document that is kept.

    Args:
        later, earlier: the ends of the edges, sorted by ``later``.
        gone: which documents of earlier windows are dropped.
    """
    begins = _begins(later)
    documents, own = later[begins], np.cumsum(begins) - 1
    # An earlier document with edges in this window is settled here, all others are already.
    place = np.searchsorted(documents, earlier)
    inside = documents[np.minimum(place, len(documents) - 1)] == earlier
    kept: Flags = ~inside & ~gone.get(earlier)
    dropped = np.zeros(len(documents), dtype=np.bool_)
    dropped[own[kept]] = True

    # In each round all those documents are settled whose earlier ones are: as many rounds as
    # the longest chain has links.
    settled = dropped.copy()
    open_edges = np.flatnonzero(inside)
    for _ in range(_ROUNDS):
        waiting = np.zeros(len(documents), dtype=np.bool_)
        waiting[own[open_edges]] = True
        settled |= ~waiting
        ready = settled[place[open_edges]]
        if not ready.any():
            break
        now = open_edges[ready]
        kept[now] = ~dropped[place[now]]
        dropped[own[now[kept[now]]]] = True
        settled |= dropped
        open_edges = open_edges[~ready]
    for edge in open_edges.tolist():  # what is left hangs together in long chains
        if not dropped[place[edge]]:
            kept[edge] = True
            dropped[own[edge]] = True
    return kept


def _best(edges: pa.Table) -> Rows:
    """Rows, one a document in the order given: the most similar, then first, then by rule."""
    later = _ranks(edges, "later")
    rows = np.arange(len(later), dtype=np.int64)
    for key in (-edges["similarity"].to_numpy(), _ranks(edges, "earlier"), _ranks(edges, "rule")):
        begins = _begins(later[rows])
        least = np.minimum.reduceat(key[rows], np.flatnonzero(begins))
        rows = rows[key[rows] == least[np.cumsum(begins) - 1]]
    best: Rows = rows[_begins(later[rows])]
    return best


def _begins(later: Rows) -> Flags:
    """Flags, shape (e,): the first edge of each document."""
    return np.append(True, later[1:] != later[:-1])


def _ranks(table: pa.Table, name: str) -> Rows:
    return np.asarray(table[name].to_numpy(), dtype=np.int64)


class _Bits:
    """A bit a document, all 0 at first."""

    def __init__(self, size: int) -> None:
        self._bytes: npt.NDArray[np.uint8] = np.zeros((size + 7) // 8, dtype=np.uint8)

    def get(self, places: Rows) -> Flags:
        bits: npt.NDArray[np.uint8] = self._bytes[places >> 3] >> (places & 7).astype(np.uint8)
        return (bits & 1).astype(np.bool_)

    def set(self, places: Rows) -> None:
        bits = np.left_shift(1, places & 7).astype(np.uint8)
        np.bitwise_or.at(self._bytes, places >> 3, bits)
