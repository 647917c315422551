"""Gopher's, FineWeb's and C4's rules, ours beside datatrove's, on the English pages of the corpus.

    python -m benchmarks.parity [RULE ...]

Prints the table of docs/parity.md; of the rules named also the pages on which both differ.
datatrove has an environment of its own in .venv/peers, made the first time.
"""

from __future__ import annotations

import sys

from benchmarks.parity.pages import english
from benchmarks.parity.verdicts import LINES, Parity, compare

HEAD = f"{'':50}{'drops':>9}{'we too':>9}{'keeps':>9}{'we too':>9}"


def row(found: Parity) -> str:
    return (
        f"{found.rule:50}{found.dropped:>9,}{found.of_dropped:>9.1%}"
        f"{found.kept:>9,}{found.of_kept:>9.1%}"
    )


def main(names: list[str]) -> None:
    pages = english()
    print(f"{len(pages):,} English pages of data/corpus/web\n\n{HEAD}", flush=True)
    every = compare([page.text for page in pages])
    print("\n".join(map(row, every)))
    for found in every:
        if found.rule in names and found.rule != LINES:
            for who, places in (("they", found.only_theirs), ("we", found.only_ours)):
                for place in places:
                    print(f"{found.rule}: only {who} drop {pages[place].id}")


if __name__ == "__main__":
    main(sys.argv[1:])
