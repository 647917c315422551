"""Clean text that is dropped, junk that is not: the two targets, on the half of the text that
the packs were not made from."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.rules.__main__ import CAUGHT, WRONGLY, outcome, table
from benchmarks.rules.junk import KINDS

NUMBER = 100
"""Of a kind alone, and as many in clean documents: 200 together."""


@pytest.mark.parametrize("language", ["en", "zh"])
def test_clean_text_stays_and_junk_goes(
    shared: Path, language: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = outcome(f"web-{language}", language, "test", NUMBER, seed=1)
    with capsys.disabled():
        print(f"\nweb-{language}\n", *table(found), sep="\n")
    assert all(sum(one.kind == kind for one, _ in found.junk) >= 200 for kind in KINDS)
    assert found.wrongly < WRONGLY
    missed = {kind: found.caught(kind) for kind in KINDS if found.caught(kind) < CAUGHT}
    assert not missed
