"""One core, CPU time, jobs that take turns."""

from __future__ import annotations

import os
import statistics
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from typing import NamedTuple

Job = Callable[[], object]


class Speed(NamedTuple):
    """MB/s (10**6 bytes of UTF-8 a second) over some rounds, or how many times another's."""

    best: float
    median: float

    @classmethod
    def of(cls, size: int, seconds: list[float]) -> Speed:
        return cls(size / min(seconds) / 1e6, size / statistics.median(seconds) / 1e6)

    def times(self, other: Speed) -> Speed:
        """Best beside best, median beside median."""
        return Speed(self.best / other.best, self.median / other.median)

    def against(self, target: float | None) -> str:
        """A ratio, what it is to be at least, and whether it is: the end of a table's row."""
        if target is None:
            return f"{self!s:>16}"
        return f"{self!s:>16}{target:>10g}  {'met' if self.best >= target else 'NOT MET'}"

    def __str__(self) -> str:
        return f"{_three_digits(self.best)} ({_three_digits(self.median)})"


def one_core() -> None:
    """Keep this process, and those it will start, on one core."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def cpu_seconds(job: Job) -> float:
    """The CPU time, user and system, that a job takes in this process and those it waits for.

    It is the time on the clock of a core that does nothing else, and less disturbed by others.
    """
    start = _used()
    job()
    return _used() - start


def take_turns(clocks: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, list[float]]:
    """What each clock says in each round, so that whatever slows the machine slows all.

    A first round, not counted, warms caches, allocators and branch predictors.
    """
    seconds: dict[str, list[float]] = {name: [] for name in clocks}
    for number in range(rounds + 1):
        for name, clock in clocks.items():
            taken = clock()
            if number:
                seconds[name].append(taken)
    return seconds


def wc(path: Path) -> None:
    """``LC_ALL=C.UTF-8 wc -w``: reads the file, decodes UTF-8, counts words."""
    subprocess.run(
        ["wc", "-w", path],
        env={**os.environ, "LC_ALL": "C.UTF-8"},
        stdout=subprocess.DEVNULL,
        check=True,
    )


def _three_digits(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def _used() -> float:
    spent = [getrusage(who) for who in (RUSAGE_SELF, RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in spent)
