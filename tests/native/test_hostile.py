"""No text makes time grow faster than its length. tests/accept/test_hostile.py has longer ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from cleanpipe import _native

from ..times import ratio, seconds
from .hostile import HIGH, LOW, TEXTS, array_of, colliding, kernels
from .reference_measures import REFERENCE
from .test_measures import differences

SIZE = 1 << 18
MOST = 12
"""Times as long for four times the text: 4 if nothing else were slower for what no longer fits into
the cache, 16 if it were quadratic."""
PAGES = 20e-9
"""Seconds a byte, beside it: longer results are in new pages, which can take longer than what is
written to them. What is quadratic takes microseconds a byte."""


@pytest.mark.parametrize("name", TEXTS)
def test_time_is_linear(name: str) -> None:
    short, long = (kernels(TEXTS[name](size)) for size in (SIZE, 4 * SIZE))
    for kernel in short:
        assert ratio(long[kernel], short[kernel], MOST, PAGES * 4 * SIZE) < MOST, kernel


@pytest.mark.parametrize("name", TEXTS)
def test_they_equal_the_reference(name: str) -> None:
    assert differences([TEXTS[name](900)]) == []


LINES = tuple(name for name in REFERENCE if "line" in name or "paragraph" in name)
GRAMS = tuple(name for name in REFERENCE if "gram" in name)


def measuring(names: tuple[str, ...], *texts: bytes) -> Callable[[], object]:
    return partial(_native.measures, array_of(*texts), names)


@pytest.mark.parametrize("bits", [LOW, HIGH], ids=["low", "high"])
def test_tokens_whose_hashes_collide(bits: int) -> None:
    """In a table indexed by these bits they share a place, and take tens of times as long."""
    chosen = colliding(bits, 20_000_000)
    assert len(chosen) > 4_000
    others = range(10**7, 10**7 + len(chosen))
    hostile, plain = (
        measuring(("top_2_gram_share",), 2 * b"".join(b"%d " % name for name in names))
        for names in (chosen, others)
    )
    assert ratio(hostile, plain, 10) < 10


@pytest.mark.parametrize("names", [LINES, GRAMS], ids=["lines", "grams"])
def test_a_long_text_costs_later_ones_nothing(names: tuple[str, ...]) -> None:
    """If each cleared what the long one used, they would take a hundred times as long."""
    long, short = TEXTS["the same paragraphs twice"](1 << 21), [b"a\nb\n\na\nb"] * 20_000
    together, alone = measuring(names, long, *short), measuring(names, long)
    best = min(seconds(alone) for _ in range(3)) + min(
        seconds(measuring(names, *short)) for _ in range(3)
    )
    assert min(seconds(together) for _ in range(3)) < 5 * best
