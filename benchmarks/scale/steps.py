"""Where the time of a run went: its tasks by step, from when their records were written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Step:
    """All tasks of one name but for its number.

    Attributes:
        name: what their names have in common.
        tasks: how many there are.
        seconds: from the last record of the step before to the last one of this.
        peak: most anonymous memory of a process meanwhile, bytes.
    """

    name: str
    tasks: int
    seconds: float
    peak: int


def steps(output: Path, begin: float, looks: Sequence[tuple[float, int]]) -> list[Step]:
    """The steps of a run in the order in which they ended.

    Args:
        begin: when it was started, seconds since 1970.
        looks: times and anonymous memory, as :class:`Watched` has them.
    """
    ends: dict[str, list[float]] = {}
    for path in (output / "_run" / "tasks").glob("[!.]*.json"):
        name = re.sub(r"-\d+$", "", path.stem)
        ends.setdefault(name, []).append(path.stat().st_mtime)
    found = []
    for name in sorted(ends, key=lambda name: max(ends[name])):
        end = max(ends[name])
        peak = max((size for time, size in looks if begin < time <= end), default=0)
        found.append(Step(name, len(ends[name]), end - begin, peak))
        begin = end
    return found
