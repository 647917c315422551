"""The native kernels against ``wc -w`` on the same bytes: one core, Arrow in, result out.

    python -m benchmarks kernels

docs/benchmarks.md says how to read the table.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

import cleanpipe as cp
from benchmarks.measuring.clock import Job, Speed, cpu_seconds, one_core, take_turns, wc
from benchmarks.measuring.texts import Corpus, corpora
from cleanpipe import _native
from cleanpipe.dedup.ngram_index import NgramIndex
from cleanpipe.text import segments

ROUNDS = 5
CORPUS_BYTES = 48 << 20
INDEX_ENTRIES = 1_000_000
INDEX_FOUND = 10_000


class Work(NamedTuple):
    """What is done to a batch, and at least how fast, in times ``wc -w`` (None: no matter)."""

    name: str
    run: Callable[[pa.Array], Any]
    target: float | None


def works(corpus: Corpus) -> Iterator[Work]:
    yield Work("tokens, counted", _native.token_counts, None)
    yield Work("tokens and their hashes", _native.tokens, None)
    yield Work("tokens + 5-gram hashes", lambda texts: _native.ngrams(texts, 5), 1.0)
    yield Work("MinHash, 128 permutations, 5-grams", cp.minhash, 0.5)
    for n in (5, 8, 13):
        yield Work(f"query of 1M {n}-grams", index(corpus, n).query, 0.5)
    yield Work("all measures", cp.measures, 0.25)
    yield Work("lines", lambda texts: segments(texts, "line"), None)


def index(corpus: Corpus, n: int) -> NgramIndex:
    """An index of INDEX_ENTRIES n-grams, INDEX_FOUND of them from the texts, evenly chosen."""
    grams = _native.ngrams(corpus.texts, n)[1]
    found = grams[:: max(len(grams) // INDEX_FOUND, 1)][:INDEX_FOUND]
    others = np.random.default_rng(0).integers(0, 2**64, INDEX_ENTRIES - len(found), np.uint64)
    return NgramIndex.build(np.concatenate([found, others]), n)


def do(work: Work, batches: list[pa.Array]) -> None:
    for batch in batches:
        work.run(batch)


def measure(corpus: Corpus) -> None:
    print(f"\n{corpus}", flush=True)
    batches = corpus.batches()
    todo = list(works(corpus))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "texts"
        corpus.write(path)
        jobs: dict[str, Job] = {"wc -w": partial(wc, path)}
        jobs |= {work.name: partial(do, work, batches) for work in todo}
        seconds = take_turns({name: partial(cpu_seconds, jobs[name]) for name in jobs}, ROUNDS)
    speeds = {name: Speed.of(corpus.size, taken) for name, taken in seconds.items()}
    print(f"  {'work':34}{'MB/s':>16}{'times wc -w':>16}{'at least':>10}")
    print(f"  {'wc -w':34}{speeds['wc -w']!s:>16}")
    for work in todo:
        ratio = speeds[work.name].times(speeds["wc -w"])
        print(f"  {work.name:34}{speeds[work.name]!s:>16}{ratio.against(work.target)}")


def main() -> None:
    one_core()
    print(f"one core, CPU time, best (median) of {ROUNDS} rounds")
    for corpus in corpora(CORPUS_BYTES):
        measure(corpus)


if __name__ == "__main__":
    main()
