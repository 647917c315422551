"""Resolving pairs, against a slow reference that settles one document after the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cleanpipe.barrier.resolving import complete
from cleanpipe.dedup import resolve as module
from cleanpipe.dedup.exact import Exact
from cleanpipe.dedup.resolve import VERDICTS, resolve
from cleanpipe.stage import Rows

SCHEMA = pa.schema(
    [
        ("later", pa.int64()),
        ("earlier", pa.int64()),
        ("similarity", pa.float64()),
        ("same", pa.bool_()),
        ("rule", pa.uint16()),
    ]
)


class Edge(NamedTuple):
    later: int
    earlier: int
    similarity: float
    same: bool = False
    rule: int = 0


class Verdict(NamedTuple):
    later: int
    earlier: int
    similarity: float
    rule: int = 0


def table(edges: Sequence[Edge]) -> pa.Table:
    if not edges:
        return SCHEMA.empty_table()
    return pa.table([list(column) for column in zip(*edges, strict=True)], schema=SCHEMA)


def rows(tables: Iterable[pa.Table]) -> list[Verdict]:
    """The verdicts, completed from those of the tables before."""
    known: dict[int, dict[str, object]] = {}

    def of(numbers: Rows) -> pa.Table:
        return pa.Table.from_pylist([known[number] for number in numbers.tolist()], VERDICTS)

    found: list[Verdict] = []
    for each in tables:
        assert each.schema == VERDICTS
        assert each.num_rows
        done = complete(each, of)  # of the tables before alone
        known |= {row["later"]: row for row in each.to_pylist()}
        assert not any(done["pending"].to_pylist())
        found += [
            Verdict(*row)
            for row in zip(*(done[name].to_pylist() for name in Verdict._fields), strict=True)
        ]
    return found


@dataclass
class Graph:
    """Edges in canonical order of both documents; ``order`` has the documents' numbers."""

    edges: list[Edge]
    order: list[int]
    identity: list[bool]

    def windows(self, cuts: list[int]) -> list[pa.Table]:
        """The edges, cut before some documents."""
        place = {number: place for place, number in enumerate(self.order)}
        bounds = [-1, *sorted(cuts), len(self.order)]
        return [
            table([edge for edge in self.edges if low < place[edge.later] <= high])
            for low, high in pairwise(bounds)
        ]

    def resolved(self, cuts: list[int]) -> list[Verdict]:
        return rows(resolve(self.windows(cuts), len(self.order), self.identity))


def reference(graph: Graph) -> list[Verdict]:
    """One document after the other, as the promise is worded."""
    dropped: dict[int, Verdict] = {}
    for number in graph.order:
        own = [edge for edge in graph.edges if edge.later == number]
        kept = [edge for edge in own if edge.earlier not in dropped]
        if kept:
            edge = min(kept, key=lambda edge: -edge.similarity)  # the first of equals
            dropped[number] = Verdict(number, edge.earlier, edge.similarity, edge.rule)
            continue
        for edge in own:
            of = dropped[edge.earlier]
            if edge.same and (of.rule == edge.rule or graph.identity[of.rule]):
                dropped[number] = Verdict(number, of.earlier, of.similarity, edge.rule)
                break
    return list(dropped.values())


@st.composite
def graphs(draw: st.DrawFn, identity: Sequence[Sequence[bool]]) -> Graph:
    """Each rule has groups of the same documents, each of which has one that is compared."""
    kinds = list(draw(st.sampled_from(identity)))
    size = draw(st.integers(2, 30))
    order = draw(st.permutations(range(size)))
    edges: set[tuple[int, int, float, bool, int]] = set()  # with places for numbers
    for rule, equal in enumerate(kinds):
        group = draw(st.lists(st.integers(0, size), min_size=size, max_size=size))
        first: dict[int, int] = {}
        for place, name in enumerate(group):
            if name % 2 and first.setdefault(name, place) != place:  # of even ones each is alone
                edges.add((place, first[name], 1.0, True, rule))
        alone = [place for place in range(size) if place in first.values() or not group[place] % 2]
        if not equal and len(alone) > 1:
            pair = st.tuples(st.sampled_from(alone), st.sampled_from(alone))
            similarity = st.sampled_from([0.8, 0.85, 0.9, 1.0])
            for (one, two), alike in draw(st.lists(st.tuples(pair, similarity), max_size=60)):
                if one != two:
                    edges.add((max(one, two), min(one, two), alike, False, rule))
    by_rule = sorted(edges, key=lambda edge: (edge[0], edge[1], edge[4], edge[2]))
    numbered = [
        Edge(order[later], order[earlier], similarity, same, rule)
        for later, earlier, similarity, same, rule in by_rule
    ]
    return Graph(numbered, order, kinds)


KINDS = [[False], [True], [True, False], [False, True]]
"""Where a bit a document is enough."""
MORE = [[False, False], [True, False, False], [True, True, False], [False, False, False, True]]
CUTS = st.lists(st.integers(0, 30), max_size=6)


@settings(deadline=None, max_examples=300)
@given(graphs(KINDS + MORE), CUTS)
def test_against_the_reference(graph: Graph, cuts: list[int]) -> None:
    assert graph.resolved(cuts) == graph.resolved([]) == reference(graph)


@settings(deadline=None, max_examples=300)
@given(graphs(KINDS + MORE), CUTS, st.integers(0, 2))
def test_without_rounds(graph: Graph, cuts: list[int], rounds: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_ROUNDS", rounds)
        assert graph.resolved(cuts) == reference(graph)


@settings(deadline=None, max_examples=300)
@given(graphs(KINDS + MORE), CUTS)
def test_a_survivor_is_never_dropped(graph: Graph, cuts: list[int]) -> None:
    found = graph.resolved(cuts)
    dropped = {verdict.later for verdict in found}
    assert len(dropped) == len(found)
    assert not dropped & {verdict.earlier for verdict in found}
    # Nor is a pair left in which both are kept.
    assert all(edge.later in dropped or edge.earlier in dropped for edge in graph.edges)


@settings(deadline=None, max_examples=300)
@given(graphs(KINDS + MORE), CUTS)
def test_the_similarity_is_that_of_the_pair(graph: Graph, cuts: list[int]) -> None:
    """To its rule a document is what it is the same as; so its survivor is similar to it."""
    equal: set[frozenset[int]] = {
        frozenset(edge[:2]) for edge in graph.edges if edge.same and graph.identity[edge.rule]
    }
    for verdict in graph.resolved(cuts):
        same = {verdict.later} | {
            edge.earlier
            for edge in graph.edges
            if edge.later == verdict.later and edge.same and edge.rule == verdict.rule
        }
        direct = {
            (edge.earlier, edge.similarity)
            for edge in graph.edges
            if edge.later in same and edge.rule == verdict.rule
        }
        ends = (verdict.earlier, verdict.similarity)
        # Several rules of identity: the same text, one rule after another.
        texts = set(same)
        while more := {end for pair in equal if pair & texts for end in pair} - texts:
            texts |= more
        assert ends in direct or (verdict.earlier in texts and verdict.similarity == 1.0)


@pytest.mark.parametrize("length", [2, 3, module._ROUNDS, module._ROUNDS + 1, 1_000])
def test_a_chain_drops_every_second(length: int) -> None:
    edges = [Edge(number, number - 1, 0.9) for number in range(1, length)]
    found = rows(resolve([table(edges)], length, [False]))
    assert [verdict.later for verdict in found] == list(range(1, length, 2))


@pytest.mark.parametrize("identity", [[False], [False, False]])
def test_long_random_chains_leave_the_rounds(identity: list[bool]) -> None:
    rng = np.random.default_rng(5)
    edges = [
        Edge(number, earlier, float(rng.choice([0.8, 0.9])), False, number % len(identity))
        for number in range(1, 600)
        for earlier in sorted(rng.integers(max(0, number - 3), number, 2).tolist())
    ]
    graph = Graph(edges, list(range(600)), identity)
    assert graph.resolved([]) == graph.resolved([100, 350]) == reference(graph)


A, B, C, D = 7, 3, 5, 1  # in canonical order, which is not that of their numbers


@pytest.mark.parametrize(
    ("edges", "identity", "last"),
    [
        ([Edge(D, A, 0.8), Edge(D, C, 0.9)], [False], Verdict(D, C, 0.9)),
        # Of equals the first in canonical order, though its number is higher.
        ([Edge(D, A, 0.9), Edge(D, B, 0.9)], [False], Verdict(D, A, 0.9)),
        # B is dropped: not through it.
        ([Edge(B, A, 0.9), Edge(D, B, 0.9)], [False], Verdict(B, A, 0.9)),
        # The same as B, which is dropped: as similar to A as it.
        ([Edge(B, A, 0.9), Edge(D, B, 1.0, True)], [False], Verdict(D, A, 0.9)),
        # Of a kept one that it is similar to rather than of one it goes with.
        (
            [Edge(B, A, 0.9), Edge(D, B, 1.0, True), Edge(D, C, 0.8, False, 1)],
            [False, False],
            Verdict(D, C, 0.8, 1),
        ),
        # Another rule dropped B: nothing is known of A and D ...
        ([Edge(B, A, 0.9), Edge(D, B, 1.0, True, 1)], [False, False], Verdict(B, A, 0.9)),
        ([Edge(B, A, 0.9), Edge(D, B, 1.0, True, 1)], [False, True], Verdict(B, A, 0.9)),
        # ... but if A and B are equal, all is.
        ([Edge(B, A, 1.0, True), Edge(D, B, 1.0, True, 1)], [True, False], Verdict(D, A, 1.0, 1)),
        ([Edge(B, A, 1.0, True), Edge(D, B, 1.0, True, 1)], [True] * 2, Verdict(D, A, 1.0, 1)),
        # The first rule has an equal pair.
        ([Edge(D, A, 1.0, True, 0), Edge(D, A, 1.0, True, 1)], [True, False], Verdict(D, A, 1.0)),
    ],
)
@pytest.mark.parametrize("cuts", [[], [0], [1], [1, 2], [2]])
def test_who_is_named(
    edges: list[Edge], identity: list[bool], last: Verdict, cuts: list[int]
) -> None:
    graph = Graph(edges, [A, B, C, D, 0, 2, 4, 6], identity)
    assert graph.resolved(cuts)[-1] == last
    assert reference(graph)[-1] == last


def test_what_is_pending() -> None:
    first, second, third = (
        table(edges)
        for edges in (
            [Edge(1, 0, 0.9)],
            [Edge(2, 1, 1.0, True), Edge(3, 0, 0.8)],
            [Edge(4, 3, 1.0, True), Edge(5, 1, 1.0, True)],
        )
    )
    found = [each.to_pylist() for each in resolve([first, second, third], 6, [False])]
    assert [[(row["later"], row["earlier"], row["pending"]) for row in t] for t in found] == [
        [(1, 0, False)],
        [(2, 1, True), (3, 0, False)],
        [(4, 3, True), (5, 1, True)],
    ]
    assert found[1][0]["similarity"] == 1.0  # to the one it is the same as


def test_nothing_in_nothing_out() -> None:
    assert rows(resolve([], 0, [])) == []
    assert rows(resolve([SCHEMA.empty_table()], 3, [False])) == []


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([[Edge(2, 1, 0.9), Edge(1, 0, 0.9)]], "does not lead to an earlier"),
        ([[Edge(2, 1, 0.9), Edge(1, 0, 0.9), Edge(2, 0, 0.9)]], "not together"),
        ([[Edge(2, 1, 0.9)], [Edge(2, 0, 0.9)]], "in two tables"),
        ([[Edge(1, 1, 0.9)]], "does not lead to an earlier"),
        ([[Edge(1, -1, 0.9)]], "leads to no document"),
        ([[Edge(1, 3, 0.9)]], "leads to no document"),
        ([[Edge(9, 0, 0.9)]], "or it is none"),
        ([[Edge(-1, 0, 0.9)]], "or it is none"),
    ],
)
def test_edges_that_are_not_as_described_are_refused(edges: list[list[Edge]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rows(resolve([table(each) for each in edges], 3, [False]))


@pytest.mark.parametrize(
    ("identity", "bits"),
    [([False], 1), ([True, False], 1), ([False, False], 2), ([True, False, False], 2)]
    + [([False] * 4, 3), ([True, True], 2)],
)
def test_bits_a_document(identity: list[bool], bits: int) -> None:
    assert module._Rules(identity).bits == bits
    codes = module._Codes(80_000_000, bits)
    assert codes.nbytes == bits * 10_000_000
    places = np.array([0, 7, 8, 79_999_999])
    codes.set(places, np.array([1, 0, 2**bits - 1, 1], dtype=np.uint8))
    assert codes.get(places).tolist() == [1, 0, 2**bits - 1, 1]
    assert codes.get(np.array([1, 9, 6, 79_999_998])).tolist() == [0, 0, 0, 0]


def test_every_rule_resolves_alike() -> None:
    found = rows(Exact.resolve([table([Edge(1, 0, 1.0, True)])], 2, [Exact()]))
    assert found == [Verdict(1, 0, 1.0)]
