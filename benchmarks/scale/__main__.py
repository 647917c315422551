"""Near-duplicate removal on a synthetic corpus of real paragraphs: time, memory, disk.

    python -m benchmarks.scale [--documents 100000 1000000] [--runner inline ray] [--datatrove]
    python -m benchmarks.scale --documents 100000 --boilerplate 300000

For each number of documents the corpus is written (once, and kept in --folder), cleaned by
`minhash` alone on one core (inline) and on two (ray), and what was seen is printed, by sub-step.
docs/benchmarks.md says how to read it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.dedup.contenders import DRIVERS
from benchmarks.measuring.texts import ROOT
from benchmarks.measuring.watched import Watched, size_of, watch
from benchmarks.peers.environments import environment
from benchmarks.scale import corpus
from benchmarks.scale.planted import found
from benchmarks.scale.steps import steps

DISK_PER_DOCUMENT = 5_000
"""Bytes: the corpus, the spool, signatures and n-gram sets, the output."""


@dataclass(frozen=True)
class Source:
    """A corpus that was written.

    Attributes:
        folder: where it is.
        documents: how many, boilerplate among them.
    """

    folder: Path
    documents: int


def written(folder: Path, documents: int, boilerplate: int) -> Source:
    """The corpus, written where it is not there whole."""
    place = folder / f"corpus-{documents}-{boilerplate}"
    total = documents + boilerplate
    mark = place / "complete"
    if not mark.exists():
        free = shutil.disk_usage(folder).free
        if free < total * DISK_PER_DOCUMENT:
            sys.exit(f"{folder} has {free / 1e9:.0f} GB free; {total:,} documents need more")
        start = time.perf_counter()
        corpus.write(place, documents, boilerplate)
        mark.touch()
        print(f"{place} written in {time.perf_counter() - start:.0f} s", flush=True)
    return Source(place, total)


def ours(source: Source, runner: str, folder: Path) -> float:
    """Run the pipeline, print what was seen, return the seconds."""
    output, pipeline = folder / f"out-{runner}", folder / "pipeline.yaml"
    shutil.rmtree(output, ignore_errors=True)
    tree = {
        "sources": {"corpus": {"paths": str(source.folder / "*.jsonl")}},
        "stages": [{"minhash": {}}],
        "guards": "warn",
    }
    pipeline.write_text(json.dumps(tree), encoding="utf-8")
    command = [sys.executable, "-m", "cleanpipe", "run", pipeline, "--output", output]
    cores = sorted(os.sched_getaffinity(0))[: 1 if runner == "inline" else 2]
    options = ["--runner", runner, *([] if runner == "inline" else ["--workers", "2"])]
    begin = time.time()
    seen = _watched([*command, *options], folder, output / "_run" / "scratch", cores)
    print(_line(f"ours, {runner}", source, seen))
    summary = json.loads((output / "summary.json").read_text("utf-8"))
    print(f"    {summary['documents']}, output {size_of(output) / 1e6:,.0f} MB")
    for step in steps(output, begin, seen.looks):
        print(
            f"    {step.name:28}{step.tasks:>7} tasks{step.seconds:>9.1f} s"
            f"{step.peak / 1e6:>8.0f} MB"
        )
    for strength, (apart, total) in found(output).items():
        print(f"    copies with {strength:>5} of words replaced: {apart / total:7.2%} found")
    shutil.rmtree(output)
    return seen.seconds


def datatrove(source: Source, folder: Path) -> float:
    """The same for datatrove, on one core."""
    joined, verdicts = folder / "joined.jsonl", folder / "verdicts.json"
    with joined.open("wb") as file:
        for path in sorted(source.folder.glob("*.jsonl")):
            with path.open("rb") as part:
                shutil.copyfileobj(part, file, 2**20)
    command = [environment("datatrove"), DRIVERS / "datatrove_driver.py", joined, verdicts]
    seen = _watched(command, folder, folder, [min(os.sched_getaffinity(0))])
    print(_line("datatrove", source, seen))
    kept = sum(verdict is None for verdict in json.loads(verdicts.read_text("utf-8")))
    print(f"    {kept:,} kept")
    joined.unlink()
    return seen.seconds


def _watched(
    command: Sequence[object], folder: Path, scratch: Path, cores: Sequence[int]
) -> Watched:
    log = folder / "log"
    log.unlink(missing_ok=True)
    seen = watch(command, log, scratch, {"PYTHONPATH": str(ROOT)}, cores)
    if seen.code:
        sys.exit(f"ended with {seen.code}:\n{seen.log}")
    return seen


def _line(name: str, source: Source, seen: Watched) -> str:
    return (
        f"{name}: {source.documents:,} documents, {seen.seconds:.1f} s, "
        f"{source.documents / seen.seconds:,.0f} documents/s, peak anonymous "
        f"{seen.peak / 1e6:.0f} MB ({seen.largest}), all processes {seen.together / 1e6:.0f} MB, "
        f"scratch {seen.disk / 1e6:,.0f} MB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale")
    parser.add_argument("--documents", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--boilerplate", type=int, default=0, help="copies of one page among them")
    parser.add_argument("--runner", nargs="+", choices=["inline", "ray"], default=["inline", "ray"])
    parser.add_argument("--datatrove", action="store_true", help="run it on the smallest, too")
    parser.add_argument("--folder", type=Path, default=ROOT / ".benchmarks" / "scale")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    sizes = sorted(options.documents)
    sources = [written(options.folder, size, options.boilerplate) for size in sizes]
    if options.datatrove:
        datatrove(sources[0], options.folder)
    for runner in options.runner:
        seconds = [ours(source, runner, options.folder) for source in sources]
        for before, after in zip(range(len(sources)), range(1, len(sources)), strict=False):
            documents = sources[after].documents / sources[before].documents
            times = seconds[after] / seconds[before]
            print(
                f"{runner}: {documents:.1f} times the documents took {times:.1f} times the "
                f"seconds, {times / documents:.2f} times as many a document (at most 1.2)"
            )


if __name__ == "__main__":
    main()
