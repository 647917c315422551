"""Resolving pairs, against a slow reference that settles one document after the other."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cleanpipe.dedup import resolve as module
from cleanpipe.dedup.exact import Exact
from cleanpipe.dedup.resolve import resolve

Edge = tuple[int, int, float, int]
SCHEMA = pa.schema(
    [
        ("later", pa.int64()),
        ("earlier", pa.int64()),
        ("similarity", pa.float64()),
        ("rule", pa.uint16()),
    ]
)


def table(edges: list[Edge]) -> pa.Table:
    if not edges:
        return SCHEMA.empty_table()
    return pa.table([list(column) for column in zip(*edges, strict=True)], schema=SCHEMA)


def rows(tables: Iterator[pa.Table]) -> list[Edge]:
    found: list[Edge] = []
    for each in tables:
        assert each.schema == SCHEMA
        assert each.num_rows
        found += zip(*(each[name].to_pylist() for name in SCHEMA.names), strict=True)
    return found


def windows(edges: list[Edge], cuts: list[int]) -> list[pa.Table]:
    """Tables of edges sorted by the later document, cut before some documents."""
    bounds = [-1, *sorted(cuts), 10**9]
    return [
        table([edge for edge in edges if low < edge[0] <= high]) for low, high in pairwise(bounds)
    ]


def reference(edges: list[Edge], documents: int) -> list[Edge]:
    """One document after the other, as the promise is worded."""
    dropped: dict[int, Edge] = {}
    for document in range(documents):
        survivors = [edge for edge in edges if edge[0] == document and edge[1] not in dropped]
        if survivors:
            dropped[document] = min(survivors, key=lambda edge: (-edge[2], edge[1], edge[3]))
    return list(dropped.values())


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[Edge], int]:
    documents = draw(st.integers(2, 40))
    drawn = draw(
        st.lists(
            st.tuples(
                st.integers(1, documents - 1),
                st.integers(0, documents - 2),
                st.sampled_from([0.8, 0.85, 0.9, 1.0]),
                st.integers(0, 2),
            ),
            max_size=120,
        )
    )
    edges = [edge for edge in drawn if edge[1] < edge[0]]
    return sorted(edges, key=lambda edge: edge[0]), documents


@settings(deadline=None)
@given(graphs(), st.lists(st.integers(0, 40), max_size=6))
def test_against_the_reference(graph: tuple[list[Edge], int], cuts: list[int]) -> None:
    edges, documents = graph
    found = rows(resolve(windows(edges, cuts), documents))
    assert found == reference(edges, documents)


@settings(deadline=None)
@given(graphs(), st.lists(st.integers(0, 40), max_size=6))
def test_a_survivor_is_never_dropped(graph: tuple[list[Edge], int], cuts: list[int]) -> None:
    edges, documents = graph
    found = rows(resolve(windows(edges, cuts), documents))
    dropped = {edge[0] for edge in found}
    assert len(dropped) == len(found)
    for edge in found:
        assert edge in edges
        assert edge[1] not in dropped
    for later, earlier, _, _ in edges:
        assert later in dropped or earlier in dropped


@pytest.mark.parametrize("length", [2, 3, module._ROUNDS, module._ROUNDS + 1, 1_000])
def test_a_chain_drops_every_second(length: int) -> None:
    edges: list[Edge] = [(rank, rank - 1, 0.9, 0) for rank in range(1, length)]
    found = rows(resolve([table(edges)], length))
    assert [edge[0] for edge in found] == list(range(1, length, 2))


def test_long_random_chains_leave_the_rounds() -> None:
    rng = np.random.default_rng(5)
    edges: list[Edge] = []
    for rank in range(1, 600):
        for earlier in rng.integers(max(0, rank - 3), rank, 2).tolist():
            edges.append((rank, earlier, float(rng.choice([0.8, 0.9])), 0))
    assert rows(resolve([table(edges)], 600)) == reference(edges, 600)


@pytest.mark.parametrize(
    ("edges", "survivor"),
    [
        ([(5, 1, 0.8, 0), (5, 3, 0.9, 0)], 3),  # the most similar
        ([(5, 3, 0.9, 0), (5, 1, 0.9, 0)], 1),  # of equals the first in canonical order
        ([(1, 0, 0.9, 0), (5, 1, 1.0, 0), (5, 2, 0.8, 0)], 2),  # 1 is dropped: not through it
    ],
)
def test_who_is_named(edges: list[Edge], survivor: int) -> None:
    assert rows(resolve([table(edges)], 6))[-1][:2] == (5, survivor)


def test_the_first_rule_takes_an_equal_pair() -> None:
    found = rows(resolve([table([(1, 0, 1.0, 2), (1, 0, 1.0, 1)])], 2))
    assert found == [(1, 0, 1.0, 1)]


def test_nothing_in_nothing_out() -> None:
    assert rows(resolve([], 0)) == []
    assert rows(resolve([SCHEMA.empty_table()], 3)) == []


@pytest.mark.parametrize(
    "edges",
    [
        [[(2, 1, 0.9, 0), (1, 0, 0.9, 0)]],
        [[(2, 1, 0.9, 0)], [(2, 0, 0.9, 0)]],
        [[(1, 1, 0.9, 0)]],
        [[(1, 2, 0.9, 0)]],
        [[(1, -1, 0.9, 0)]],
        [[(9, 0, 0.9, 0)]],
    ],
)
def test_edges_that_are_not_as_described_are_refused(edges: list[list[Edge]]) -> None:
    with pytest.raises(ValueError, match="edge"):
        rows(resolve([table(each) for each in edges], 3))


def test_a_bit_a_document() -> None:
    bits = module._Bits(80_000_000)
    assert bits._bytes.nbytes == 10_000_000
    bits.set(np.array([0, 7, 8, 79_999_999]))
    assert bits.get(np.array([0, 1, 7, 8, 9, 79_999_999])).tolist() == [
        True, False, True, True, False, True,
    ]  # fmt: skip


def test_every_rule_resolves_alike() -> None:
    assert rows(Exact.resolve([table([(1, 0, 1.0, 0)])], 2)) == [(1, 0, 1.0, 0)]
