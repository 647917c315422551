"""Gopher's, FineWeb's and C4's rules on English pages, against datatrove: docs/parity.md."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.parity.__main__ import HEAD, row
from benchmarks.parity.pages import english
from benchmarks.parity.verdicts import Parity, compare

AT_LEAST = 0.95

EXPLAINED = {
    "gopher_repetition.duplicate_paragraph_share": "lines are stripped here; seven pages",
    "gopher_repetition.duplicate_line_character_share": "lines are stripped here; 14 pages",
    "fineweb": "quotation marks and white space at the end of lines",
    "fineweb.terminal_punctuation_line_share": "the same",
}
"""Rules that agree less of what datatrove drops, and why; docs/parity.md has examples."""


@pytest.fixture(scope="module")
def parities(shared: Path) -> list[Parity]:
    texts = [page.text for page in english()]
    assert len(texts) > 700
    return compare(texts)


def test_rules_agree(parities: list[Parity]) -> None:
    print(f"\n{HEAD}\n" + "\n".join(map(row, parities)))
    for found in parities:
        assert found.of_kept >= AT_LEAST, found.rule
        assert found.of_dropped >= AT_LEAST or found.rule in EXPLAINED, found.rule
