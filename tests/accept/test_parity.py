"""Gopher's, FineWeb's and C4's rules on English pages, against datatrove: docs/parity.md."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.parity.__main__ import HEAD, row
from benchmarks.parity.pages import english
from benchmarks.parity.verdicts import Parity, compare

AT_LEAST = 0.95

OTHER_WORDS = {"gopher_quality", "gopher_repetition"}
"""Rules that count words, of which datatrove has others: they agree on our words alone."""

EXPLAINED = {
    "gopher_quality": "symbols are no words there",
    "gopher_quality.whitespace_words": "symbols are no words there",
    "gopher_quality.mean_word_length": "symbols are no words there; seven pages",
    "gopher_quality.stop_words": "no capitals there: The is no stop word",
    "gopher_repetition.duplicate_paragraph_share": "lines are stripped here; seven pages",
    "gopher_repetition.duplicate_line_character_share": "lines are stripped here; 14 pages",
    "fineweb": "quotation marks and white space at the end of lines",
    "fineweb.terminal_punctuation_line_share": "the same",
}
"""Rules that agree less of what datatrove drops, and why; docs/parity.md has examples."""


@pytest.fixture(scope="module")
def parities(shared: Path) -> list[tuple[Parity, Parity]]:
    texts = [page.text for page in english()]
    assert len(texts) > 700
    return list(zip(compare(texts), compare(texts, our_words=True), strict=True))


def test_rules_agree(parities: list[tuple[Parity, Parity]]) -> None:
    print(f"\n{HEAD}\n" + "\n".join(row(*each) for each in parities))
    for as_it_is, on_our_words in parities:
        counts_words = as_it_is.rule.partition(".")[0] in OTHER_WORDS
        found = on_our_words if counts_words else as_it_is
        assert found.of_kept >= AT_LEAST, found.rule
        assert as_it_is.of_kept >= AT_LEAST, found.rule
        assert found.of_dropped >= AT_LEAST or found.rule in EXPLAINED, found.rule
