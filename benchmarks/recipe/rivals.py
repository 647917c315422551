"""Whole commands on the same pages: ours inline and on Ray, and datatrove's like recipe."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import psutil

from benchmarks.peers.environments import environment

DRIVER = Path(__file__).parent / "drivers" / "datatrove_recipe.py"
_LOOK_SECONDS = 0.1


class Took(NamedTuple):
    """Seconds of a command: from start to end, and of CPU in all its processes."""

    wall: float
    cpu: float


def took(command: Sequence[object], log: Path) -> Took:
    """Run a command to its end, adding up the CPU time of all processes that it starts, as last
    seen: Ray's end on their own.

    Errors: SystemExit, with what it said, where it fails.
    """
    spent: dict[tuple[int, float], float] = {}
    start = time.monotonic()
    with log.open("wb") as file:
        process = psutil.Popen(list(map(str, command)), stdout=file, stderr=file)
        while process.poll() is None:
            with suppress(psutil.Error):
                for one in (process, *process.children(recursive=True)):
                    with suppress(psutil.Error):
                        times = one.cpu_times()
                        spent[one.pid, one.create_time()] = times.user + times.system
            with suppress(subprocess.TimeoutExpired, psutil.TimeoutExpired):
                process.wait(_LOOK_SECONDS)
    if process.returncode:
        sys.exit(f"{command[0]} failed:\n{log.read_text('utf-8', 'replace')[-4000:]}")
    return Took(time.monotonic() - start, sum(spent.values()))


def ours(pipeline: Path, output: Path, *options: str) -> Took:
    """``cleanpipe run``."""
    run = [sys.executable, "-m", "cleanpipe", "run", pipeline, "--output", output, *options]
    return took(run, output.with_suffix(".log"))


def datatrove(model: Path, pages: Path, output: Path) -> Took:
    """Language, Gopher repetition, Gopher quality, C4, FineWeb, MinHash; two workers."""
    run = [environment("datatrove"), DRIVER, pages, output, model]
    return took(run, output.with_suffix(".log"))
