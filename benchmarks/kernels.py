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
from numpy.typing import NDArray

import cleanpipe as cp
from benchmarks.measuring.clock import Job, Speed, cpu_seconds, one_core, take_turns, wc
from benchmarks.measuring.texts import Corpus, corpora
from cleanpipe import _native
from cleanpipe.dedup.item_index import ItemIndex
from cleanpipe.dedup.items import Item, Part
from cleanpipe.dedup.ngram_index import NgramIndex
from cleanpipe.text import segments

ROUNDS = 5
CORPUS_BYTES = 48 << 20
INDEX_ENTRIES = 1_000_000
INDEX_FOUND = 10_000
SETS = (1, 20)
"""Test sets among which the same items are dealt out."""
ITEM_TOKENS = (6, 60)
ITEMS_FOUND = 100
"""One item in so many is a sentence of the texts as it stands there."""


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
    dealt = items(corpus)
    for sets in SETS:
        looked_for = item_index(dealt, sets)
        needed = looked_for.needed(None)
        name = f"contamination, 1M n-grams, {sets} set{'s' * (sets > 1)}"
        yield Work(name, partial(looked_for.find, needed=needed), 0.5)
    yield Work("all measures", cp.measures, 0.25)
    yield Work("lines", lambda texts: segments(texts, "line"), None)
    for profile in ("words", "characters"):
        words = learned(corpus, profile)
        prepare = partial(prepared, profile=profile, vocabulary=words)
        yield Work(f"perplexity's {profile}", prepare, None)
    yield Work("CCNet's lines", _native.ccnet_lines, None)
    parts = partial(_native.model_parts, characters=2000, spaced=True, lowered=True)
    yield Work("parts of 2,000 characters", parts, None)


def prepared(texts: pa.Array, profile: str, vocabulary: NDArray[np.uint64]) -> object:
    return _native.prepared(texts, profile, vocabulary)


def learned(corpus: Corpus, profile: str) -> NDArray[np.uint64]:
    """The vocabulary of all words of the texts, as after a while of work."""
    none = np.zeros(17, np.uint64)
    _, _, _, starts, stops, _, _, content = _native.prepared(corpus.texts, profile, none)
    known = np.ones(len(starts), np.uint8)
    return _native.vocabulary_with(none, content, starts, stops, known)


def index(corpus: Corpus, n: int) -> NgramIndex:
    """An index of INDEX_ENTRIES n-grams, INDEX_FOUND of them from the texts, evenly chosen."""
    grams = _native.ngrams(corpus.texts, n)[1]
    found = grams[:: max(len(grams) // INDEX_FOUND, 1)][:INDEX_FOUND]
    others = np.random.default_rng(0).integers(0, 2**64, INDEX_ENTRIES - len(found), np.uint64)
    return NgramIndex.build(np.concatenate([found, others]), n)


def items(corpus: Corpus) -> list[Item]:
    """Sentences of the texts, no two alike, with their tokens in another order but for one in
    ITEMS_FOUND: of INDEX_ENTRIES n-grams or so, evenly chosen."""
    random = np.random.default_rng(0)
    step = max(int(np.sum(_native.token_counts(corpus.texts))) // (2 * INDEX_ENTRIES), 1)
    units = segments(corpus.texts.take(pa.array(range(0, len(corpus.texts), step))), "sentence")
    chosen: list[Item] = []
    seen: set[bytes] = set()
    grams = 0
    for text, start, end in zip(units.document, units.start, units.end, strict=True):
        sentence = units.text[int(text)].as_buffer()[int(start) : int(end)].to_pybytes()
        column = pa.array([sentence.decode()], pa.large_string())
        _, starts, ends, _ = _native.tokens(column)
        if sentence in seen or not ITEM_TOKENS[0] <= len(starts) <= ITEM_TOKENS[1]:
            continue
        seen.add(sentence)
        if len(chosen) % ITEMS_FOUND:
            order = random.permutation(len(starts))
            sentence = b" ".join(sentence[starts[at] : ends[at]] for at in order)
        chosen.append(Item(str(len(chosen)), (Part("text", sentence.decode()),)))
        grams += len(starts) - (4 if len(starts) >= 12 else 2)
        if grams >= INDEX_ENTRIES:
            break
    return chosen


def item_index(dealt: list[Item], sets: int) -> ItemIndex:
    return ItemIndex.build([(f"set {at}", "words", dealt[at::sets]) for at in range(sets)])


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
