"""Near-duplicates of 10,054 real licence texts against the truth, and the same ones however a run
goes; one page 300,000 times among other documents."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from benchmarks.dedup import licences
from benchmarks.dedup.scores import Verdicts, kept_pairs, misnamed
from benchmarks.dedup.truth import Grams, Pair, gram_sets, jaccard, similar_pairs
from benchmarks.measuring.clock import cpu_seconds
from benchmarks.scale import corpus
from cleanpipe.runner import InlineRunner

from ..jobs import call, committed, content, jsonl, pipeline, rows, run, start, summary, wait_for
from ..native import reference_tokens

SEEDS = [1, 2, 3, 4, 5]
SHARDS = [1, 7, 64]
PARTITIONS = 5
"""Of the barrier, where a test says how many: texts of this size would have one."""
BARRIER = ("group", "request", "fetch", "verify", "resolve")
"""How the names of a barrier's tasks begin, after "phase0" and before "phase1"."""


@dataclass(frozen=True)
class Licences:
    """The texts, and the truth about them.

    Attributes:
        path: JSON lines with `text` and `id`.
        sets: each text's 5-grams.
        pairs: every pair of Jaccard >= 0.75.
    """

    path: Path
    texts: Sequence[str]
    sets: Sequence[Grams]
    pairs: Mapping[Pair, float]

    def pipeline(self, folder: Path, shards: int = 7, **parameters: Any) -> Path:
        """A pipeline file of `minhash` alone."""
        folder.mkdir(exist_ok=True)
        size = -(-self.path.stat().st_size // shards)
        sources = {"licences": {"paths": str(self.path)}}
        return pipeline(folder, sources, [{"minhash": parameters}], shard_bytes=size)


@pytest.fixture(scope="module")
def texts(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Licences:
    found = licences.read_texts(shared / "neardup")
    path = tmp_path_factory.mktemp("licences") / "licences.jsonl"
    jsonl(path, [{"id": str(number), "text": text} for number, text in enumerate(found)])
    sets = gram_sets(found)
    return Licences(path, found, sets, similar_pairs(sets, 0.75))


@pytest.fixture(scope="module")
def undisturbed(texts: Licences, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 7 shards."""
    folder = tmp_path_factory.mktemp("undisturbed")
    run(texts.pipeline(folder))
    return folder


def verdicts(output: Path, size: int) -> Verdicts:
    """For each row None where it is kept, else the row of its survivor."""
    found: dict[int, int | None] = {row["cleanpipe"]["row"]: None for row in rows(output, "kept")}
    found |= {row["row"]: row["survivor_row"] for row in rows(output, "dropped")}
    assert sorted(found) == list(range(size))
    return [found[row] for row in range(size)]


def test_the_truth(texts: Licences, shared: Path) -> None:
    """It agrees with the tokens' reference, and with the pairs that come with the texts."""
    chosen = random.Random(4).sample(sorted(texts.pairs), 150)
    for one, other in (pair for pair in chosen if all(len(texts.texts[n]) < 3_000 for n in pair)):
        a, b = (grams_of(texts.texts[number]) for number in (one, other))
        assert texts.pairs[one, other] == len(a & b) / len(a | b)
    given = licences.read_pairs(shared / "neardup")
    near = {pair: jaccard(*(texts.sets[n] for n in pair)) for pair in given if given[pair] >= 0.75}
    assert all(texts.pairs[pair] == value for pair, value in near.items() if value >= 0.75)
    differ = [abs(value - given[pair]) > 0.02 for pair, value in near.items()]
    assert sum(differ) <= 0.01 * len(differ)


def grams_of(text: str) -> set[tuple[str, ...]]:
    folded = [token.folded for token in reference_tokens.tokens(text)]
    return {tuple(folded[i : i + 5]) for i in range(max(len(folded) - 4, 1))}


@pytest.mark.parametrize("seed", SEEDS)
def test_exact(texts: Licences, tmp_path: Path, seed: int) -> None:
    run(texts.pipeline(tmp_path, threshold=0.8, seed=seed))
    dropped = rows(tmp_path / "out", "dropped")
    for row in dropped:
        pair = row["row"], row["survivor_row"]
        assert row["similarity"] == pytest.approx(jaccard(*(texts.sets[n] for n in pair)), abs=1e-9)
        assert (row["stage"], row["measure"]) == ("minhash", "jaccard")
        assert row["survivor_id"] == str(row["survivor_row"])
    found = verdicts(tmp_path / "out", len(texts.texts))
    stays = [survivor is None for survivor in found]
    assert len(dropped) > 4_000
    assert misnamed(found, texts.sets, 0.8) == []
    assert len(kept_pairs(stays, texts.pairs, 0.9)) <= 5
    paired = {text for pair in kept_pairs(stays, texts.pairs, 0.82) for text in pair}
    assert len(paired) <= 0.02 * sum(stays)


@pytest.mark.parametrize("seed", SEEDS)
def test_signature(texts: Licences, tmp_path: Path, seed: int) -> None:
    run(texts.pipeline(tmp_path, threshold=0.8, seed=seed, verify="signature", num_perm=256))
    dropped = rows(tmp_path / "out", "dropped")
    assert {row["measure"] for row in dropped if row["similarity"] < 1} == {"minhash_estimate"}
    found = verdicts(tmp_path / "out", len(texts.texts))
    assert len(dropped) > 4_000
    assert all(found[row["survivor_row"]] is None for row in dropped)
    assert len(misnamed(found, texts.sets, 0.75)) <= 0.01 * len(dropped)


def fates(output: Path) -> dict[int, tuple[int, float]]:
    return {row["row"]: (row["survivor_row"], row["similarity"]) for row in rows(output, "dropped")}


@pytest.mark.parametrize("shards", SHARDS)
@pytest.mark.parametrize("runner", ["inline", "ray"])
def test_shards_and_runners(
    texts: Licences, undisturbed: Path, tmp_path: Path, shards: int, runner: str
) -> None:
    path, out = texts.pipeline(tmp_path, shards), tmp_path / "out"
    options = ("--workers", "2") if runner == "ray" else ()
    ended = call("run", path, "--output", out, "--runner", runner, *options)
    assert ended.returncode == 0, ended.stderr
    assert len(list((out / "measures").glob("*.parquet"))) == shards
    assert fates(out) == fates(undisturbed / "out")


class Shuffling:
    """Runs the tasks of each part in any order."""

    name = "inline"

    def __init__(self, seed: int) -> None:
        self._chance, self._inline = random.Random(seed), InlineRunner()

    def run(self, job: Any, tasks: Any, report: Any) -> Iterator[Any]:
        order = list(tasks)
        self._chance.shuffle(order)
        return self._inline.run(job, order, report)

    def close(self) -> None:
        pass


@pytest.mark.parametrize("seed", [1, 2])
def test_any_order(
    texts: Licences,
    undisturbed: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    seed: int,
) -> None:
    """Tasks shuffled, and a number of partitions that is another than a size of this has."""
    monkeypatch.setattr("cleanpipe.run.make_runner", lambda *_: Shuffling(seed))
    monkeypatch.setattr("cleanpipe.run.partitions", lambda *_: PARTITIONS)
    run(texts.pipeline(tmp_path))
    tasks = committed(tmp_path / "out")
    assert sum(task.startswith("verify") for task in tasks) == PARTITIONS
    assert content(tmp_path / "out") == content(undisturbed / "out")


def test_stopped_after_each_task(
    texts: Licences, undisturbed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the barrier, in a process that goes on; what is done stays done."""

    stops = 0

    class Stop(Exception):
        pass

    class Stopping(Shuffling):
        def run(self, job: Any, tasks: Any, report: Any) -> Iterator[Any]:
            for record in super().run(job, tasks, report):
                yield record
                if record.task.startswith(BARRIER):
                    raise Stop

    monkeypatch.setattr("cleanpipe.run.make_runner", lambda *_: Stopping(stops))
    monkeypatch.setattr("cleanpipe.run.partitions", lambda *_: PARTITIONS)
    path = texts.pipeline(tmp_path)
    while True:
        try:
            run(path)
            break
        except Stop:
            stops += 1
    tasks = [task for task in committed(tmp_path / "out") if task.startswith(BARRIER)]
    assert stops == len(tasks) > 3 * PARTITIONS
    assert content(tmp_path / "out") == content(undisturbed / "out")


def begun(output: Path, step: str, process: subprocess.Popen[bytes]) -> bool:
    """Whether a task of a step is committed, or nothing will be any more."""
    return process.poll() is not None or any(task.startswith(step) for task in committed(output))


@pytest.mark.parametrize("runner", ["inline", "ray"])
def test_killed_in_the_barrier(
    texts: Licences, undisturbed: Path, tmp_path: Path, runner: str
) -> None:
    """SIGKILL as soon as a step of it has begun to commit, and somewhat later."""
    path, out, log = texts.pipeline(tmp_path, 64), tmp_path / "out", tmp_path / "log"
    options = ("--workers", "2") if runner == "ray" else ()
    arguments = ("run", path, "--output", out, "--runner", runner, *options)
    chance, killed = random.Random(12), 0
    for step in BARRIER:
        process = start(*arguments, log=log)
        wait_for(partial(begun, out, step, process), 240)
        time.sleep(chance.uniform(0, 0.1))
        process.kill()
        killed += process.wait() == -signal.SIGKILL
        assert not (out / "summary.json").exists()
    assert killed == len(BARRIER)
    ended = call(*arguments)
    assert ended.returncode == 0, ended.stderr
    assert fates(out) == fates(undisturbed / "out")
    assert summary(out)["documents"] == summary(undisturbed / "out")["documents"]


def pages(folder: Path, documents: int, copies: int) -> Path:
    """A pipeline over a corpus in which one page stands many times."""
    corpus.write(folder / "corpus", documents, copies)
    return pipeline(folder, {"s": {"paths": "corpus/*.jsonl"}}, [{"minhash": {}}])


def test_one_page_everywhere(shared: Path, tmp_path: Path) -> None:
    """300,000 times among 100,000 others: stopped by default, else one stays, in linear time."""
    (tmp_path / "small").mkdir()
    (tmp_path / "large").mkdir()
    small = pages(tmp_path / "small", 25_000, 75_000)
    large = pages(tmp_path / "large", 100_000, 300_000)
    stopped = call("run", large, "--output", tmp_path / "stopped", "--runner", "inline")
    assert stopped.returncode == 1
    assert "299999 documents are duplicates of one" in stopped.stderr
    assert not (tmp_path / "stopped" / "summary.json").exists()
    seconds = []
    for path in (small, large):
        out = path.parent / "out"
        options = ("--runner", "inline", "--set", "guards=warn")
        seconds.append(cpu_seconds(partial(call, "run", path, "--output", out, *options)))
        kept = [row["id"] for row in rows(out, "kept") if row["id"].startswith("page ")]
        assert kept == ["page 0"]
    assert seconds[1] <= 1.2 * 4 * seconds[0], seconds
