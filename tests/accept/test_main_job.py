"""The main job on 240 to 420 MB of real text: the same bytes every time, its memory, its speed.

Slow (about ten minutes on two cores) and meant for a machine that does nothing else: the speeds
are compared. Prints what it measured at the end.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ..jobs import FOLDERS, committed, parts, start, summary, temporary_files, wait_for
from .conftest import Watched, digests, watch

BORDER = 10**9
SPEEDUP = 1.6
KILLS = 10


@pytest.fixture(scope="module")
def seen() -> Iterator[list[str]]:
    """Lines of the table that is printed at the end."""
    lines: list[str] = []
    yield lines
    print("\n" + "\n".join(lines))


@pytest.fixture(scope="module")
def alone(
    unpacked: Path, tmp_path_factory: pytest.TempPathFactory, seen: list[str]
) -> Iterator[Watched]:
    """The reference: inline, pinned to one core."""
    core = min(os.sched_getaffinity(0))
    folder = tmp_path_factory.mktemp("alone")
    run = watch("inline, one core", unpacked, folder / "out", "--runner", "inline", cores=[core])
    seen.append(str(run))
    assert run.code == 0, run.log
    yield run
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def together(
    unpacked: Path, tmp_path_factory: pytest.TempPathFactory, seen: list[str]
) -> Iterator[Watched]:
    """Ray with two workers, on two cores."""
    folder = tmp_path_factory.mktemp("together")
    cores = sorted(os.sched_getaffinity(0))[:2]
    options = ("--runner", "ray", "--workers", "2")
    run = watch("Ray, two workers", unpacked, folder / "out", *options, cores=cores)
    seen.append(str(run))
    assert run.code == 0, run.log
    yield run
    shutil.rmtree(folder)


def same(one: Path, other: Path) -> None:
    """Byte-identical files and, seconds aside, equal summaries."""
    ours, theirs = digests(one), digests(other)
    assert [name for name in ours if ours[name] != theirs.get(name)] == []
    assert ours.keys() == theirs.keys()
    assert summary(one) == summary(other)
    assert not temporary_files(one) and not (one / "_run" / "scratch").exists()


def test_accounts(alone: Watched, seen: list[str]) -> None:
    made = summary(alone.output)
    documents = made["documents"]
    assert documents["in"] == sum(documents[name] for name in ("kept", "dropped", "dead"))
    for folder in ("kept", "dropped", "dead"):
        tables = parts(alone.output, folder).values()
        assert sum(map(len, tables)) == documents[folder]
    measured = sum(map(len, parts(alone.output, "measures").values()))
    assert measured == documents["kept"] + documents["dropped"]
    assert documents["kept"] > 10_000 and documents["dropped"] > 10_000
    assert sum(stage["dropped"] for stage in made["stages"]) == documents["dropped"]
    shards = len(parts(alone.output, "measures"))
    assert shards > 12 and len(set(digests(alone.output))) == shards * len(FOLDERS)
    seen.append(f"  {documents}, {made['bytes']['in'] / 1e6:.0f} MB of text, {shards} shards")
    seen += [
        f"    {stage['name']:40} in {stage['in']:8,}  dropped {stage['dropped']:8,}"
        for stage in made["stages"]
    ]


def test_two_workers(alone: Watched, together: Watched) -> None:
    same(together.output, alone.output)


def test_one_worker_and_smaller_batches(
    alone: Watched, unpacked: Path, tmp_path: Path, seen: list[str]
) -> None:
    options = ("--runner", "ray", "--workers", "1", "--set", "run.batch_bytes=1MiB")
    run = watch("Ray, one worker, batches of 1 MiB", unpacked, tmp_path / "out", *options)
    seen.append(str(run))
    assert run.code == 0, run.log
    same(run.output, alone.output)
    assert run.peak < BORDER, run.peaks
    shutil.rmtree(tmp_path)


def test_ten_kills(alone: Watched, unpacked: Path, tmp_path: Path, seen: list[str]) -> None:
    """SIGKILL at random moments, the same command after each, until it is done."""
    chance = random.Random(2026)
    out, log = tmp_path / "out", tmp_path / "log"
    options = ("run", unpacked, "--output", out, "--runner", "ray", "--workers", "2")
    done: list[int] = []
    for _ in range(KILLS):
        before = set(committed(out))
        process = start(*options, log=log)
        time.sleep(chance.uniform(1.0, 16.0))
        process.kill()
        assert process.wait() == -signal.SIGKILL, "done before the tenth: kill sooner"
        assert before <= set(committed(out))
        done.append(len(committed(out)))
    process = start(*options, log=log)
    assert wait_for(lambda: process.poll() is not None, 900) and process.returncode == 0
    seen.append(f"  ten SIGKILLs, tasks committed after each: {done}, at the end of all: ")
    seen[-1] += str(len(committed(out)))
    same(out, alone.output)
    shutil.rmtree(tmp_path)


def test_files_as_they_are(packed: Path, tmp_path: Path, seen: list[str]) -> None:
    one = watch("as they are, inline", packed, tmp_path / "one", "--runner", "inline")
    options = ("--runner", "ray", "--workers", "2")
    two = watch("as they are, Ray, two workers", packed, tmp_path / "two", *options)
    seen += [str(one), str(two)]
    assert (one.code, two.code) == (0, 0), one.log + two.log
    same(two.output, one.output)
    assert max(one.peak, two.peak) < BORDER, (one.peaks, two.peaks)
    shutil.rmtree(tmp_path)


def test_memory(alone: Watched, together: Watched) -> None:
    assert alone.peak < BORDER, alone.peaks
    assert together.peak < BORDER, together.peaks


def test_two_workers_are_faster(alone: Watched, together: Watched, seen: list[str]) -> None:
    """Start-up is not counted; see :class:`Watched` for what is."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs two cores")
    assert alone.work >= 60, "too small a job to compare"
    ratio = alone.work / together.work
    seen.append(f"  inline on one core / Ray on two: {ratio:.2f} (at least {SPEEDUP})")
    assert ratio >= SPEEDUP
