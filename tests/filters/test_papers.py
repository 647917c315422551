"""Named sets against the slow reference, written from the papers alone: the same verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cleanpipe import Pipeline
from cleanpipe.filters.c4 import C4
from cleanpipe.filters.fineweb import FineWeb
from cleanpipe.filters.gopher_quality import GopherQuality
from cleanpipe.filters.gopher_repetition import GopherRepetition
from cleanpipe.filters.olmo2_repetition import Olmo2Repetition
from cleanpipe.stage import NamedSet

from . import reference_papers as papers
from .sets import outcomes

Verdict = tuple[list[str] | None, list[str]]
"""The lines that are left (None where the set changes no text), and the rules that fail."""


def unchanged(rules: Callable[[str], list[str]]) -> Callable[[str], Verdict]:
    return lambda text: (None, rules(text))


SETS: dict[str, tuple[NamedSet, Callable[[str], Verdict]]] = {
    "gopher_quality": (GopherQuality(), unchanged(papers.gopher_quality)),
    "gopher_repetition": (GopherRepetition(), unchanged(papers.gopher_repetition)),
    "fineweb": (FineWeb(), unchanged(papers.fineweb)),
    "olmo2_repetition": (Olmo2Repetition(), unchanged(papers.olmo2_repetition)),
    "c4": (C4(), papers.c4),
    "c4, older": (C4(variant="older"), partial(papers.c4, words=3, sentences=5, newer=False)),
}


def verdicts(name: str, texts: Sequence[str]) -> list[Verdict]:
    changes = name.startswith("c4")
    return [
        (papers.lines(left) if changes else None, failed)
        for left, failed in outcomes(SETS[name][0], texts)
    ]


SAID = (
    "the of and that with a b river walked 3 # ... … - • [1] [edit] {x} JavaScript lorem ipsum "
    "Lorem use cookies 天 天气 很好。 “好。” שלום مرحبا؟ ไทย 🎉 e\u0301 ſ İ don't U.S. end. so!"
)
WORDS = st.sampled_from([*SAID.split(), '"it"', ""])
LINE = st.lists(WORDS, max_size=9).map(" ".join)
BREAK = st.sampled_from(["\n", "\n\n", "\r\n", " \n", "\n\u3000", "\u2028", "\x0c", "\x85"])


@st.composite
def pages(draw: st.DrawFn) -> str:
    """Lines, of which some occur again, a paragraph now and then, and spans said many times."""
    few = draw(st.lists(LINE, min_size=1, max_size=6))
    again = st.sampled_from(few)
    count = draw(st.integers(1, 14))
    rows = [draw(again | LINE) + draw(BREAK) for _ in range(count)]
    times = draw(st.sampled_from([1, 1, 1, 2, 31, 32, 33]))
    return "".join(rows) + (draw(again) + " ") * times


@settings(max_examples=50, deadline=None)
@given(st.lists(pages(), min_size=1, max_size=3))
@pytest.mark.parametrize("name", SETS)
def test_generated_pages(name: str, texts: list[str]) -> None:
    assert verdicts(name, texts) == [SETS[name][1](text) for text in texts]


ROOT = Path(__file__).parents[2] / "examples" / "sample"


@cache
def sample() -> list[str]:
    """The shipped sample, thinned, for the reference is slow."""
    files = {
        "pages": {"paths": "pages.jsonl", "text": "content", "id": "url"},
        "help": {"paths": "help.jsonl.zst"},
        "world": {"paths": "world.parquet", "text": "body", "id": "page"},
        "declarations": {"paths": "declarations.jsonl.gz"},
    }
    sources: Any = {
        name: {**file, "paths": str(ROOT / file["paths"])} for name, file in files.items()
    }
    pipeline = Pipeline.from_dict(
        {"sources": sources, "stages": [{"length": {"chars": [0, 9999]}}]}
    )
    return [str(text) for text in pipeline.run().kept["text"].to_pylist()][::15]


@pytest.mark.parametrize("name", SETS)
def test_the_sample(name: str) -> None:
    expected = [SETS[name][1](text) for text in sample()]
    assert verdicts(name, sample()) == expected
    broken = Counter(rule for _, failed in expected for rule in failed)
    print(f"{name}, {len(expected)} texts: {dict(broken)}")
    assert broken or name == "olmo2_repetition"
    assert any(not failed for _, failed in expected)
