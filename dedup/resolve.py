"""Which documents go, and for whom: one pass over verified pairs, one bit a document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cleanpipe.bounds import Flags
from cleanpipe.dedup import preference
from cleanpipe.parameters import LocalPaths
from cleanpipe.stage import Barrier, Rows
from cleanpipe.units import Units

VERDICTS = pa.schema(
    [
        ("later", pa.int64()),
        ("earlier", pa.int64()),
        ("similarity", pa.float64()),
        ("rule", pa.uint16()),
        ("pending", pa.bool_()),
    ]
)
_ROUNDS = 16  # of array operations on a window before the rest goes one document at a time
_KEPT = 0


@dataclass(frozen=True)
class DuplicateRule(Barrier):
    """A rule of document de-duplication: all of them are resolved together.

    Parameters:
        prefer: which of two duplicates stays (:mod:`cleanpipe.dedup.preference`), before
            source order decides. What one rule of a barrier says holds for all. Default: none.
        against: output folders of earlier runs, whose survivors come before all documents.
            Default: none.
    """

    prefer: tuple[preference.Preference, ...] = ()
    against: LocalPaths = ()

    def needs(self) -> tuple[str, ...]:
        """What ``prefer`` looks at."""
        return preference.names(self.prefer)

    def numbers(self) -> tuple[str, ...]:
        """What ``prefer`` takes the highest or lowest of."""
        return preference.numbers(self.prefer)

    def mentions(self) -> Iterable[tuple[str, str]]:
        """The values that ``prefer`` lists."""
        return preference.listed(self.prefer)

    def ordering(self) -> Sequence[object]:
        """``prefer``, as it was written."""
        return self.prefer

    def order(self, units: Units) -> list[npt.NDArray[np.uint64]]:
        """A key for each entry of ``prefer``."""
        return preference.keys(self.prefer, units)

    @staticmethod
    def resolve(
        edges: Iterable[pa.Table], documents: int, stages: Sequence[Barrier]
    ) -> Iterator[pa.Table]:
        """:func:`resolve`."""
        return resolve(edges, documents, [stage.identity for stage in stages])


def resolve(
    edges: Iterable[pa.Table], documents: int, identity: Sequence[bool]
) -> Iterator[pa.Table]:
    """Drop each document that a kept, earlier one is similar to; name the most similar one.

    Documents are settled in canonical order, so whether an earlier one is kept is known for
    good when a later one is looked at: a survivor is never dropped, and nothing is dropped
    through a chain of similar ones.

    An edge that says D and F are the *same* does more: if F is dropped by the edge's rule, or
    by a rule of identity, D goes with it. To that rule they are one document, so that F's
    survivor is D's, and as similar. Where D is in a later table than F, F's row is not at hand
    any more: D's row then has ``earlier`` = F and ``pending`` true, and the engine puts the
    survivor in.

    A document with several edges to kept ones names the most similar; of equally similar ones
    the first in canonical order; of equal pairs the one that the first rule found. Only one
    without any goes with the first that it is the same as.

    The result, once completed, does not depend on where the edges are cut into tables.

    Memory: one bit for each of ``documents`` (10 billion take 1.25 GB) and the table at hand,
    however many edges there are. With more than one rule of identity or more than one other
    rule it is as many bits as the number of rules has: 2 for two or three rules.

    Args:
        edges: tables of ``later``, ``earlier`` (int64 numbers below ``documents``),
            ``similarity`` (float64), ``same`` (bool) and ``rule`` (uint16), together in
            canonical order of the later document. All edges of one document are in one table,
            one after another, in canonical order of the earlier document, then by rule.
            Repeated edges are fine. ``same`` edges of a rule lead to the first document of a
            group, which has no ``same`` edge of that rule itself.
        documents: how many documents there are.
        identity: for each rule, whether its ``same`` edges say that texts are equal.

    Returns:
        Tables of :data:`VERDICTS`, one row a dropped document, in the same order; none for a
        table in which every document is kept. ``rule`` is that of the document's own edge.

    Errors: ValueError where edges are seen not to be as described.
    """
    rules = _Rules(identity)
    gone = _Codes(documents, rules.bits)
    for table in edges:
        if table.num_rows:
            window = _Window(table, rules, gone, documents)
            window.settle()
            gone.set(window.documents, window.codes())
            verdicts = window.verdicts()
            if verdicts.num_rows:
                yield verdicts


class _Rules:
    """What a document's code says: kept, or dropped by which rule.

    Attributes:
        bits: of a code.
        code: uint8, shape (rules,): that of a document which this rule drops.
        passes: flags, shape (rules, codes): whether a document goes that is, to this rule, the
            same as one of this code.
        alike: whether a document that is dropped has the same code whatever dropped it.
    """

    def __init__(self, identity: Sequence[bool]) -> None:
        equal = np.array(identity, dtype=np.bool_)
        # The first of a group of equal texts is not dropped by the one rule of identity, so a
        # document that is dropped and the same as another was dropped by the one other rule.
        self.alike = bool(equal.sum() <= 1 and (~equal).sum() <= 1)
        if self.alike:
            self.bits = 1
            self.code = np.ones(len(equal), dtype=np.uint8)
            self.passes = np.stack([np.zeros_like(equal), ~equal], axis=1)
        else:
            self.bits = len(equal).bit_length()
            self.code = np.arange(1, len(equal) + 1, dtype=np.uint8)
            dropped = np.eye(len(equal), dtype=np.bool_) | equal
            self.passes = np.insert(dropped, 0, False, axis=1)


class _Window:
    """The documents of one table, known by their places in it.

    An edge that its later document goes by has a *key*, the lower the rather it is named: its
    rank where it leads to a kept document, behind all ranks where it leads to one that it goes
    with.

    Attributes:
        documents: int64, shape (d,): their numbers, in canonical order.
        least: int64, shape (d,): the least key of each; ``none`` where there is none.
    """

    def __init__(self, table: pa.Table, rules: _Rules, gone: _Codes, documents: int) -> None:
        later, self.earlier = (table[name].to_numpy() for name in ("later", "earlier"))
        self.similarity, self.same = table["similarity"].to_numpy(), table["same"].to_numpy()
        self.rule, self.rules = table["rule"].to_numpy(), rules
        self.size = len(later)
        begins = np.append(True, later[1:] != later[:-1])
        self.documents: Rows = later[begins]
        self.own = np.cumsum(begins) - 1  # the place of each edge's later document
        order = np.argsort(self.documents, kind="stable")
        numbers = self.documents[order]
        if numbers[0] < 0 or numbers[-1] >= documents or (np.diff(numbers) == 0).any():
            raise ValueError("edges of a document are not together, or it is none")
        if self.earlier.min() < 0 or self.earlier.max() >= documents:
            raise ValueError("an edge leads to no document")
        if (gone.get(self.documents) != _KEPT).any():
            raise ValueError("edges of a document are in two tables")
        # An earlier document with edges in this window is settled here, all others are already.
        found = np.minimum(np.searchsorted(numbers, self.earlier), len(numbers) - 1)
        self.place: Rows = order[found]
        self.inside: Flags = numbers[found] == self.earlier
        if (self.place >= self.own)[self.inside].any():
            raise ValueError("an edge does not lead to an earlier document")

        self.ranked = np.lexsort((-self.similarity, self.own))
        self.rank = np.empty(self.size, dtype=np.int64)
        self.rank[self.ranked] = np.arange(self.size)
        self.none = 2 * self.size
        self.least = np.full(len(self.documents), self.none, dtype=np.int64)
        self.certain = np.zeros(len(self.documents), dtype=np.bool_)
        if rules.alike:  # dropped, whatever becomes of the one that it is the same as
            self.certain[self.own[self.same & rules.passes[self.rule, 1]]] = True
        outside = np.flatnonzero(~self.inside)
        self._look(outside, gone.get(self.earlier[outside]))

    def settle(self) -> None:
        """Find :attr:`least`.

        In each round all those documents are settled whose earlier ones are: as many rounds as
        the longest chain has links.
        """
        edges = np.flatnonzero(self.inside)
        for _ in range(_ROUNDS):
            settled = np.ones(len(self.documents), dtype=np.bool_)
            settled[self.own[edges]] = False
            if self.rules.alike:
                settled |= self.certain | (self.least < self.none)
            ready = settled[self.place[edges]]
            if not ready.any():
                break
            now = edges[ready]
            self._look(now, self.codes()[self.place[now]])
            edges = edges[~ready]
        if len(edges):
            self._look_one_by_one(edges)

    def codes(self) -> npt.NDArray[np.uint8]:
        """What became of the documents that are settled, shape (d,)."""
        code = np.where(self.certain, self.rules.code[0], np.uint8(_KEPT))
        found = self.least < self.none
        code[found] = self.rules.code[self.rule[self._edge(self.least[found])]]
        return code

    def verdicts(self) -> pa.Table:
        """A row of :data:`VERDICTS` for each document that is dropped."""
        dropped = np.flatnonzero(self.least < self.none)
        through = self.least >= self.size
        edge = np.zeros(len(self.documents), dtype=np.int64)
        edge[dropped] = self._edge(self.least[dropped])
        # Whose row a document's own is made of: that of the one it goes with, if it is here.
        root = np.where(through & self.inside[edge], self.place[edge], np.arange(len(edge)))
        while (root[root] != root).any():
            root = root[root]
        of = root[dropped]
        columns = [
            self.documents[dropped],
            self.earlier[edge[of]],
            self.similarity[edge[of]],
            self.rule[edge[dropped]],
            through[of],
        ]
        return pa.table(columns, schema=VERDICTS)

    def _look(self, edges: Rows, code: npt.NDArray[np.uint8]) -> None:
        """Take edges into account, given what became of their earlier documents."""
        goes = self.same[edges] & self.rules.passes[self.rule[edges], code]
        key = np.where(goes, self.size + edges, self.none)
        key = np.where(code == _KEPT, self.rank[edges], key)
        np.minimum.at(self.least, self.own[edges], key)

    def _look_one_by_one(self, edges: Rows) -> None:
        """The same for edges that hang together in long chains."""
        least, code = self.least.tolist(), self.rules.code.tolist()
        rule, ranked = self.rule.tolist(), self.ranked.tolist()
        passes, size, none = self.rules.passes.tolist(), self.size, self.none
        ends = (part[edges].tolist() for part in (self.own, self.place, self.same, self.rank))
        for edge, own, place, same, rank in zip(edges.tolist(), *ends, strict=True):
            key = least[place]
            if key == none:
                least[own] = min(least[own], rank)
            elif same:
                became = code[rule[ranked[key] if key < size else key - size]]
                if passes[rule[edge]][became]:
                    least[own] = min(least[own], size + edge)
        self.least = np.array(least, dtype=np.int64)

    def _edge(self, key: Rows) -> Rows:
        """The edges that have these keys."""
        ranked = self.ranked[np.minimum(key, self.size - 1)]
        return np.where(key < self.size, ranked, key - self.size)


class _Codes:
    """A few bits a document, all 0 at first."""

    def __init__(self, size: int, bits: int) -> None:
        self._planes = np.zeros((bits, (size + 7) // 8), dtype=np.uint8)

    @property
    def nbytes(self) -> int:
        return self._planes.nbytes

    def get(self, places: Rows) -> npt.NDArray[np.uint8]:
        code = np.zeros(len(places), dtype=np.uint8)
        shift = (places & 7).astype(np.uint8)
        for number, plane in enumerate(self._planes):
            code |= (plane[places >> 3] >> shift & 1) << number
        return code

    def set(self, places: Rows, code: npt.NDArray[np.uint8]) -> None:
        """Codes of places that have had none."""
        for number, plane in enumerate(self._planes):
            chosen = places[code >> number & 1 == 1]
            np.bitwise_or.at(plane, chosen >> 3, np.left_shift(1, chosen & 7).astype(np.uint8))
