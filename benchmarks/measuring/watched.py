"""A command, and what its processes need while it runs."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

LOOK_SECONDS = 0.2
SIZE_SECONDS = 2.0
"""Time between two looks at the processes, and at the folder, which takes longer."""


@dataclass
class Watched:
    """What was seen of a command.

    Attributes:
        code: exit status.
        log: the end of what it said on stderr.
        seconds: from its start to its end.
        peaks: most anonymous memory of a single process in bytes, by the process's name.
        together: most anonymous memory of all of its processes at one time, bytes.
        looks: at each look the time (seconds since 1970) and the most anonymous memory of a
            single process then.
        disk: most bytes in the folder that was watched.
    """

    code: int = 0
    log: str = ""
    seconds: float = 0.0
    peaks: dict[str, int] = field(default_factory=dict)
    together: int = 0
    looks: list[tuple[float, int]] = field(default_factory=list)
    disk: int = 0

    @property
    def peak(self) -> int:
        """Most anonymous memory of any one process, bytes."""
        return max(self.peaks.values(), default=0)

    @property
    def largest(self) -> str:
        """The name of the process that had it."""
        return max(self.peaks, key=lambda name: self.peaks[name], default="")


def watch(
    command: Sequence[object],
    log: Path,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    cores: Sequence[int] | None = None,
) -> Watched:
    """Run a command to its end, looking at it and all that it starts five times a second.

    Args:
        log: where its stderr and stdout go.
        folder: one whose size is looked at too. Default: none.
        environment: variables beside those of this process. Default: none.
        cores: pin it, and all it starts, to these. Default: those of this process.
    """
    seen = Watched()
    start = looked = time.monotonic()
    with log.open("ab") as file:
        process = subprocess.Popen(
            [*(["taskset", "-c", ",".join(map(str, cores))] if cores else []), *map(str, command)],
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
        )
        while process.poll() is None:
            _look(process.pid, seen)
            if folder is not None and time.monotonic() - looked > SIZE_SECONDS:
                seen.disk = max(seen.disk, size_of(folder))
                looked = time.monotonic()
            with suppress(subprocess.TimeoutExpired):
                process.wait(LOOK_SECONDS)
    seen.seconds, seen.code = time.monotonic() - start, process.returncode
    seen.log = log.read_text("utf-8", "replace")[-4000:]
    return seen


def size_of(folder: Path) -> int:
    """Bytes of the files in a folder; those that vanish meanwhile do not count."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += os.stat(os.path.join(place, name)).st_size
    return total


def _look(process: int, seen: Watched) -> None:
    sizes = []
    with suppress(psutil.Error):
        main = psutil.Process(process)
        for one in (main, *main.children(recursive=True)):
            with suppress(psutil.Error, OSError):
                name = "main" if one.pid == process else one.name()
                anonymous = _anonymous(one.pid)
                seen.peaks[name] = max(seen.peaks.get(name, 0), anonymous)
                sizes.append(anonymous)
    if sizes:
        seen.together = max(seen.together, sum(sizes))
        seen.looks.append((time.time(), max(sizes)))


def _anonymous(process: int) -> int:
    """Bytes of a process's anonymous memory that are in RAM; files it maps do not count."""
    status = Path(f"/proc/{process}/status").read_text()
    size = status.partition("RssAnon:")[2].split()  # a process that has just ended has none
    return int(size[0]) * 1024 if size else 0
