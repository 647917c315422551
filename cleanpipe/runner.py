"""Where tasks run: here, or on Ray; which one makes no difference to any byte."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Literal, Protocol

from cleanpipe.job import Job
from cleanpipe.ledger import Record
from cleanpipe.spec import RunOptions
from cleanpipe.tasks import Report, Task, perform

RAY_PAYS_FROM = 32 * 2**20
"""Input bytes from which ``auto`` starts Ray: its start and end take about 4.5 s, and two workers
make up for them over twice what one core cleans meanwhile, 25 MiB (benchmarks/runners.py)."""


class Runner(Protocol):
    """Runs tasks that do not depend on each other."""

    name: Literal["inline", "ray"]

    def run(self, job: Job, tasks: Sequence[Task], report: Report) -> Iterator[Record]:
        """The record of each task as it is done, in any order."""

    def close(self) -> None:
        """Let go of workers."""


class InlineRunner:
    """Runs tasks in this process, one after another."""

    name: Literal["inline", "ray"] = "inline"

    def run(self, job: Job, tasks: Sequence[Task], report: Report) -> Iterator[Record]:
        for task in tasks:
            yield perform(job, task, report)

    def close(self) -> None:
        pass


def choose(options: RunOptions, input_bytes: int, shards: int) -> Literal["inline", "ray"]:
    """Which runner ``auto`` means: Ray where its start costs less than it saves."""
    if options.runner != "auto":
        return options.runner
    if options.address is not None:
        return "ray"
    workers = options.workers or len(os.sched_getaffinity(0))
    return "ray" if workers > 1 and shards > 1 and input_bytes >= RAY_PAYS_FROM else "inline"


def make_runner(options: RunOptions, input_bytes: int, shards: int) -> Runner:
    """The runner for a job of this size."""
    if choose(options, input_bytes, shards) == "inline":
        return InlineRunner()
    from cleanpipe.ray_runner import RayRunner

    return RayRunner(options)
