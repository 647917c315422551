"""Junk planted into clean text, and clean text alone: what a recipe drops and takes out, by rule.

    python -m benchmarks.rules [RECIPE:LANGUAGE ...] [--half test] [--number 200] [--seed 1]

It needs CLEANPIPE_SHARED. docs/benchmarks.md says how to read it.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np

from benchmarks.measuring.texts import SHARED
from benchmarks.rules.judging import Verdict, judge
from benchmarks.rules.junk import KINDS, Planted, planted
from benchmarks.rules.reference import Clean, Half, some

RECIPES = ("web-en:en", "web-zh:zh", "web-multi:en", "web-multi:zh")
WRONGLY, CAUGHT = 0.02, 0.8
"""Of clean documents dropped less; of each kind of junk dropped or removed at least."""


@dataclass(frozen=True)
class Outcome:
    """What a recipe made of a language.

    Attributes:
        clean: the clean documents and their verdicts.
        junk: the texts with junk and the rule that caught each, or None.
    """

    clean: Sequence[tuple[Clean, Verdict]]
    junk: Sequence[tuple[Planted, str | None]]

    @property
    def wrongly(self) -> float:
        """Share of clean documents that were dropped."""
        return sum(verdict.dropped is not None for _, verdict in self.clean) / len(self.clean)

    def caught(self, kind: str, alone: bool | None = None) -> float:
        """Share of a kind that was caught: alone, in a clean document, or both (None)."""
        mine = [
            rule is not None
            for text, rule in self.junk
            if text.kind == kind and alone in (None, text.alone)
        ]
        return sum(mine) / len(mine)


def outcome(recipe: str, language: str, half: Half, number: int, seed: int) -> Outcome:
    """Run a recipe over the clean documents of a language and over junk made of them."""
    clean = some(language, half)
    junk = planted(language, half, number, seed)
    verdicts = judge(recipe, [*(one.text for one in clean), *(one.text for one in junk)])
    caught = (
        verdict.caught(one.spans) for one, verdict in zip(junk, verdicts[len(clean) :], strict=True)
    )
    return Outcome(list(zip(clean, verdicts, strict=False)), list(zip(junk, caught, strict=True)))


def table(found: Outcome) -> list[str]:
    """The lines to print: a row for each rule, a column for clean text and for each kind."""
    kinds = list(KINDS)
    width = max(len(rule) for rule in [*_rules(found), "taken from clean documents, characters"])
    heads = ["clean", *(kind.replace("_", " ") for kind in kinds)]
    lines = [" " * width + "".join(f"{head:>18}" for head in heads)]

    def row(name: str, shares: Sequence[float | None]) -> None:
        shown = ("" if share is None else f"{100 * share:.1f} %" for share in shares)
        lines.append(f"{name:{width}}" + "".join(f"{each:>18}" for each in shown))

    row("dropped or removed", [found.wrongly, *(found.caught(kind) for kind in kinds)])
    row("  junk alone", [None, *(found.caught(kind, True) for kind in kinds)])
    row("  in a clean document", [None, *(found.caught(kind, False) for kind in kinds)])
    for source in dict.fromkeys(one.source for one, _ in found.clean):
        mine = [verdict.dropped is not None for one, verdict in found.clean if one.source == source]
        row(f"  of {len(mine)} in {source}", [sum(mine) / len(mine)])
    taken = [np.mean(verdict.gone > 0) for _, verdict in found.clean if verdict.dropped is None]
    row("taken from clean documents", [float(np.mean(taken))])
    lines.append("")
    sizes = Counter(one.kind for one, _ in found.junk)
    for rule in _rules(found):
        wrong = sum(verdict.dropped == rule for _, verdict in found.clean) / len(found.clean)
        right = [
            sum(by == rule and one.kind == kind for one, by in found.junk) / sizes[kind]
            for kind in kinds
        ]
        row(rule, [share or None for share in (wrong, *right)])
    return lines


def _rules(found: Outcome) -> list[str]:
    said = [verdict.dropped for _, verdict in found.clean] + [rule for _, rule in found.junk]
    return [rule for rule, _ in Counter(filter(None, said)).most_common()]


def examples(found: Outcome, number: int, seed: int) -> list[str]:
    """Some clean documents that were dropped and some junk that was not, to be read."""
    wrong = [(one, verdict) for one, verdict in found.clean if verdict.dropped]
    missed = [one for one, rule in found.junk if rule is None]
    chance = random.Random(seed)
    lines = [
        f"clean, dropped by {verdict.dropped}: {one.source} {one.id}\n    {one.text[:300]!r}"
        for one, verdict in chance.sample(wrong, min(number, len(wrong)))
    ]
    for one in chance.sample(missed, min(number, len(missed))):
        start, end = one.spans[0][0], one.spans[-1][1]
        shown = one.text.encode()[start:end].decode()[:300]
        lines.append(
            f"missed {one.kind}, {'alone' if one.alone else 'in a document'}\n    {shown!r}"
        )
    return lines


def main() -> None:
    options = _options().parse_args()
    if not (SHARED / "data" / "corpus").is_dir():
        sys.exit(f"no {SHARED / 'data' / 'corpus'}: set CLEANPIPE_SHARED")
    for each in options.recipes or RECIPES:
        recipe, _, language = each.rpartition(":")
        found = outcome(recipe, language, options.half, options.number, options.seed)
        print(
            f"\n{recipe} on {language}: {len(found.clean):,} clean documents, of each kind "
            f"{options.number} alone and {options.number} in one, half {options.half}, "
            f"seed {options.seed}\n"
        )
        print(*table(found), sep="\n")
        if options.examples:
            print("", *examples(found, options.examples, options.seed), sep="\n")


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks.rules", description=__doc__)
    parser.add_argument("recipes", nargs="*", help=f"recipe or file, and language ({RECIPES})")
    parser.add_argument("--half", choices=get_args(Half), default="test", help="of the text (test)")
    parser.add_argument("--number", type=int, default=200, help="of a kind and form (200)")
    parser.add_argument("--seed", type=int, default=1, help="of all chance (1)")
    parser.add_argument("--examples", type=int, default=0, help="of each fault to print (0)")
    return parser


if __name__ == "__main__":
    main()
