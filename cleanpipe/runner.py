"""Where tasks run: here, or on Ray; which one makes no difference to any byte."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Literal, Protocol

from cleanpipe.job import Job
from cleanpipe.ledger import Record
from cleanpipe.spec import RunOptions
from cleanpipe.tasks import Report, Task, perform

RAY_SECONDS = 5.0
"""Starting Ray, its workers and their models, and stopping it (benchmarks/runners.py)."""
BYTES_PER_SECOND = 10e6
"""Input that one core cleans, roughly; more than most pipelines reach, so that ``auto`` rather
stays inline than starts Ray in vain."""
_GAIN = 0.8
"""Ray is started where it takes at most this share of the time."""


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
    inline = input_bytes / BYTES_PER_SECOND
    rounds = -(-shards // workers)  # the last one may leave workers idle
    ray = RAY_SECONDS + inline * rounds / max(1, shards)
    return "ray" if ray <= _GAIN * inline else "inline"


def make_runner(options: RunOptions, input_bytes: int, shards: int) -> Runner:
    """The runner for a job of this size."""
    if choose(options, input_bytes, shards) == "inline":
        return InlineRunner()
    from cleanpipe.ray_runner import RayRunner

    return RayRunner(options)
