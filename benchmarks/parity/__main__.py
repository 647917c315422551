"""Gopher's, FineWeb's and C4's rules, ours beside datatrove's, on the English pages of the corpus.

    python -m benchmarks.parity [RULE ...]

Prints the table of docs/parity.md; of the rules named also the pages on which both differ.
datatrove has an environment of its own in .venv/peers, made the first time.
"""

from __future__ import annotations

import sys

from benchmarks.parity.pages import english
from benchmarks.parity.verdicts import LINES, Parity, compare

HEAD = (
    f"{'':50}{'datatrove as it is':>36}   {'on our words':>36}\n"
    f"{'':50}" + 2 * f"{'drops':>9}{'we too':>9}{'keeps':>9}{'we too':>9}   "
)


def row(found: Parity, on_our_words: Parity) -> str:
    both = (
        f"{each.dropped:>9,}{each.of_dropped:>9.1%}{each.kept:>9,}{each.of_kept:>9.1%}"
        for each in (found, on_our_words)
    )
    return f"{found.rule:50}{'   '.join(both)}"


def main(names: list[str]) -> None:
    pages = english()
    print(f"{len(pages):,} English pages of data/corpus/web\n\n{HEAD}", flush=True)
    texts = [page.text for page in pages]
    every = compare(texts)
    for found, on_our_words in zip(every, compare(texts, our_words=True), strict=True):
        print(row(found, on_our_words))
    for found in every:
        if found.rule in names and found.rule != LINES:
            for who, places in (("they", found.only_theirs), ("we", found.only_ours)):
                for place in places:
                    print(f"{found.rule}: only {who} drop {pages[place].id}")


if __name__ == "__main__":
    main(sys.argv[1:])
