"""How well perplexity tells good text from other text, and what it costs: tables, and a picture.

    python -m benchmarks.perplexity [--seed 1] [--plot docs/perplexity.svg] [--speed]

It needs CLEANPIPE_SHARED. docs/perplexity.md says how to read it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from benchmarks.measuring.texts import SHARED
from benchmarks.perplexity.plot import Box, picture
from benchmarks.perplexity.speed import costs
from benchmarks.perplexity.texts import kinds
from cleanpipe.bounds import Numbers
from cleanpipe.filters.perplexity import Perplexity
from cleanpipe.filters.profiles import ProfileName
from cleanpipe.parameters import LocalPath
from cleanpipe.units import Units

MODELS: dict[str, ProfileName] = {"en": "words", "zh": "characters"}


class Row(NamedTuple):
    """A kind of text under a model.

    Attributes:
        texts: those that are not too short.
        oov: median of the shares of tokens that the model does not know.
        low, middle, high: 10th, 50th, 90th percentile of perplexity.
        auc: the chance that a text of it has a higher perplexity than one of better text.
        pairs: of the same pages in two forms the share of which this one has the higher
            perplexity, or None.
    """

    name: str
    texts: int
    oov: float
    low: float
    middle: float
    high: float
    auc: float
    pairs: float | None


def auc(better: Numbers, other: Numbers) -> float:
    """The chance that a number of the second is above one of the first, ties counted half: the
    area under the ROC curve (Hanley and McNeil 1982)."""
    ordered = np.sort(better)
    below = np.searchsorted(ordered, other, "left") + np.searchsorted(ordered, other, "right")
    return float(below.mean() / 2 / len(ordered))


def rows(language: str, seed: int) -> list[Row]:
    """Every kind of text under the model of a language."""
    path = SHARED / "data" / "models" / f"{language}_wiki_5gram.q8.trie.bin"
    stage = Perplexity(LocalPath(str(path)), profile=MODELS[language])
    made: list[Row] = []
    held: Numbers | None = None
    before: Numbers | None = None
    for kind in kinds(language, seed):
        taken = stage.measure(Units(pa.array(kind.texts, pa.large_string())))
        values, oov = np.asarray(taken["perplexity"]), np.asarray(taken["oov_share"])
        some = values[~np.isnan(values)]
        held = some if held is None else held
        better, pairs = held, None
        if kind.against is not None:
            assert before is not None
            both = ~np.isnan(values) & ~np.isnan(before)
            better, some = before[both], values[both]
            pairs = float((some > better).mean())
        low, middle, high = np.percentile(some, [10, 50, 90])
        made.append(
            Row(kind.name, len(some), float(np.nanmedian(oov)), low, middle, high,
                auc(better, some), pairs)
        )  # fmt: skip
        before = values
    return made


def main() -> int:
    """Print the tables; 0 where it could."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--plot", type=Path, help="draw it")
    parser.add_argument("--speed", action="store_true", help="only what it costs")
    options = parser.parse_args()
    if not (SHARED / "data" / "models").is_dir():
        print(f"no {SHARED}/data/models: set CLEANPIPE_SHARED", file=sys.stderr)
        return 2
    print("\n| text | bare calls, MB/s | preparing, MB/s | stage over bare calls |")
    print("|---|---|---|---|")
    for cost in costs():
        print(f"| {cost.name} | {cost.calls:.0f} | {cost.preparing:.0f} | {cost.ratio:.2f} |")
    if options.speed:
        return 0
    boxes: dict[str, list[Box]] = {}
    for language, profile in MODELS.items():
        found = rows(language, options.seed)
        print(f"\n{language}, profile {profile}\n")
        print("| text | texts | OOV | 10 % | median | 90 % | AUC | pairs |")
        print("|---|---|---|---|---|---|---|---|")
        for row in found:
            pairs = "" if row.pairs is None else f"{row.pairs:.0%}"
            print(
                f"| {row.name} | {row.texts:,} | {row.oov:.0%} | {row.low:,.0f} | "
                f"{row.middle:,.0f} | {row.high:,.0f} | {row.auc:.3f} | {pairs} |"
            )
        boxes[language] = [Box(row.name, row.low, row.middle, row.high) for row in found]
    if options.plot is not None:
        options.plot.write_text(picture(boxes), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
