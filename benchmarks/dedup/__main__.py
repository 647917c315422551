"""Ours beside rensa, datasketch and datatrove on real near-duplicates, each on the same one core.

    python -m benchmarks.dedup [NAME ...]
    python -m benchmarks.dedup --languages

The first prints a table for the licence texts in CLEANPIPE_SHARED, of the contenders named (the
beginning of a name will do) or of all. The second prints what docs/near-duplicates.md says about
languages. docs/benchmarks.md says how to read either.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from benchmarks.dedup import languages
from benchmarks.dedup.contenders import OURS, PEERS, Outcome, run, write_texts
from benchmarks.dedup.licences import read_texts
from benchmarks.dedup.scores import Score, score
from benchmarks.dedup.truth import gram_sets, similar_pairs
from benchmarks.measuring.clock import one_core
from benchmarks.measuring.texts import SHARED

COLUMNS = (
    f"{'':22}{'kept':>7}{'recall':>9}{'recall':>9}{'both kept':>11}{'kept in':>9}{'wrong':>7}"
    f"{'of them':>9}{'mis-':>7}{'seconds':>9}{'peak':>8}\n"
    f"{'':22}{'':>7}{'>= 0.8':>9}{'>= 0.9':>9}{'>= 0.9':>11}{'>= 0.82':>9}{'drops':>7}"
    f"{'< 0.75':>9}{'named':>7}{'':>9}{'MB':>8}"
)


def row(name: str, result: Score, outcome: Outcome) -> str:
    misnamed = "-" if result.misnamed is None else result.misnamed
    return (
        f"{name:22}{result.kept:>7,}{result.recall_08:>9.2%}{result.recall_09:>9.2%}"
        f"{result.kept_pairs_09:>11,}{result.in_kept_pairs:>9.2%}{result.wrong:>7,}"
        f"{result.far:>9,}{misnamed:>7}"
        f"{outcome.seen.seconds:>9.1f}{outcome.seen.together / 1e6:>8.0f}"
    )


def licences(chosen: list[str]) -> None:
    texts = read_texts(SHARED / "data" / "neardup")
    sets = gram_sets(texts)
    pairs = similar_pairs(sets, 0.75)
    size = sum(len(text.encode()) for text in texts)
    counts = [sum(near >= least for near in pairs.values()) for least in (0.8, 0.9)]
    print(f"{len(texts):,} licence texts, {size / 1e6:.1f} MB, on one core")
    print(f"pairs of Jaccard >= 0.8: {counts[0]:,}; >= 0.9: {counts[1]:,}\n\n{COLUMNS}", flush=True)
    one_core()
    with tempfile.TemporaryDirectory() as place:
        source = Path(place, "texts.jsonl")
        write_texts(source, texts)
        for name in chosen:
            folder = Path(place, name.replace(" ", "-").replace(",", ""))
            folder.mkdir()
            outcome = run(name, source, folder)
            print(row(name, score(outcome.verdicts, pairs, sets), outcome), flush=True)


def main() -> None:
    if sys.argv[1:] == ["--languages"]:
        languages.main()
        return
    known = [*OURS, *PEERS]
    chosen = [name for name in known if name.startswith(tuple(sys.argv[1:] or [""]))]
    if not chosen:
        sys.exit(f"no contender is called that; known: {'; '.join(known)}")
    licences(chosen)


if __name__ == "__main__":
    main()
