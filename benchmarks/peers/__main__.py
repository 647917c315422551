"""Ours beside rensa, datasketch and datatrove on the same texts: one core, taking turns.

    python -m benchmarks.peers

Each peer has an environment of its own in .venv/peers, made the first time.
docs/benchmarks.md says how to read the table.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

import cleanpipe as cp
from benchmarks.measuring.clock import Speed, cpu_seconds, one_core, take_turns
from benchmarks.measuring.texts import Corpus, corpora
from benchmarks.peers.environments import PEERS, environment

ROUNDS = 3
CORPUS_BYTES = 2 << 20
"""Some of them take ten seconds for it."""
DRIVERS = Path(__file__).parent / "drivers"


class Work(NamedTuple):
    """One job of a peer, which of ours does the same, and how many times as fast it has to be."""

    peer: str
    job: str
    ours: str
    target: float | None = None

    @property
    def name(self) -> str:
        return f"{self.peer}: {self.job}"


WORKS = [
    Work("rensa", "signature", "MinHash", 4),
    Work("datasketch", "signature", "MinHash"),
    Work("datatrove", "signature", "MinHash", 150),
    Work("datatrove", "all filters", "measures", 100),
    Work("datatrove", "Gopher quality", "measures"),
    Work("datatrove", "Gopher repetition", "measures"),
    Work("datatrove", "FineWeb", "measures"),
    Work("datatrove", "C4", "measures"),
]

OURS: dict[str, Callable[[pa.Array], Any]] = {
    "MinHash": cp.minhash,
    "measures": cp.measures,
}


class Driver:
    """A peer's process, which does a job when it is asked to."""

    def __init__(self, peer: str, texts: Path) -> None:
        self._peer = peer
        self._process = subprocess.Popen(
            [environment(peer), DRIVERS / f"{peer}_driver.py", texts],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def seconds(self, job: str) -> float:
        """The CPU time of a job over all texts."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(f"{job}\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            sys.exit(f"the driver of {self._peer} failed; what it says is above")
        return float(answer)

    def __enter__(self) -> Driver:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()


def our_seconds(run: Callable[[pa.Array], Any], batches: list[pa.Array]) -> float:
    """The best of five, as one is over in no time."""
    return min(cpu_seconds(lambda: [run(batch) for batch in batches]) for _ in range(5))


def measure(corpus: Corpus) -> dict[str, Speed]:
    """The speed of each of OURS and WORKS, by its name."""
    batches = corpus.batches()
    with ExitStack() as stack:
        texts = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "texts"
        texts.write_text("".join(f"{json.dumps(text)}\n" for text in corpus.texts.to_pylist()))
        drivers = {peer: stack.enter_context(Driver(peer, texts)) for peer in PEERS}
        clocks = {name: partial(our_seconds, run, batches) for name, run in OURS.items()}
        clocks |= {work.name: partial(drivers[work.peer].seconds, work.job) for work in WORKS}
        seconds = take_turns(clocks, ROUNDS)
    return {name: Speed.of(corpus.size, taken) for name, taken in seconds.items()}


def main() -> None:
    one_core()
    corpus = corpora(CORPUS_BYTES)[0].thinned(CORPUS_BYTES)
    print(f"{corpus}\none core, CPU time, MB/s: best (median) of {ROUNDS} rounds", flush=True)
    speeds = measure(corpus)
    print(f"\n{'peer: work':30}{'theirs':>16}  {'ours':25}{'times theirs':>15}{'at least':>10}")
    for work in WORKS:
        theirs, ours = speeds[work.name], speeds[work.ours]
        ratio = ours.times(theirs).against(work.target)
        print(f"{work.name:30}{theirs!s:>16}  {work.ours:10}{ours!s:>14}{ratio}")


if __name__ == "__main__":
    main()
