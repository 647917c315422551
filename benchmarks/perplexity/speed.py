"""What the stage costs beside the bare calls of the model on the same strings."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from benchmarks.measuring.texts import SHARED, corpora
from cleanpipe.filters.perplexity import Perplexity
from cleanpipe.filters.profiles import ProfileName
from cleanpipe.parameters import LocalPath
from cleanpipe.units import Units

ROUNDS = 5
SIZE = 24 << 20
MODELS: dict[str, tuple[str, ProfileName]] = {
    "English web": ("en", "words"),
    "mixed languages": ("en", "words"),
    "Chinese": ("zh", "characters"),
}


class Cost(NamedTuple):
    """Of texts of one kind.

    Attributes:
        calls, preparing: MB/s of the bare calls, and of preparing alone.
        ratio: the stage's time over that of the bare calls.
    """

    name: str
    calls: float
    preparing: float
    ratio: float


def costs() -> list[Cost]:
    """CPU time of this thread; the best of some rounds of each, which take turns."""
    return [_cost(corpus.name, corpus.batches(), corpus.size / 1e6) for corpus in corpora(SIZE)]


def _cost(name: str, batches: list[pa.Array], size: float) -> Cost:
    language, profile = MODELS[name]
    path = SHARED / "data" / "models" / f"{language}_wiki_5gram.q8.trie.bin"
    stage = Perplexity(LocalPath(str(path)), profile=profile)
    vocabulary, score = stage._vocabulary, stage._model.score

    def whole() -> None:
        for batch in batches:
            stage.measure(Units(batch))

    def preparing() -> None:
        for batch in batches:
            vocabulary.prepared(batch, profile)

    whole()
    prepared = [vocabulary.prepared(batch, profile) for batch in batches]
    scored = [
        sentence
        for each in prepared
        for text in np.flatnonzero(each.tokens >= stage.min_tokens).tolist()
        for sentence in each.sentences(text)
    ]

    def calls() -> None:
        for sentence in scored:
            score(sentence)

    rounds = [[_seconds(each) for each in (whole, calls, preparing)] for _ in range(ROUNDS)]
    took, bare, alone = map(min, zip(*rounds, strict=True))
    return Cost(name, size / bare, size / alone, took / bare)


def _seconds(call: Callable[[], None]) -> float:
    begun = time.thread_time()
    call()
    return time.thread_time() - begun
