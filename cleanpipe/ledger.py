"""The commit records of a run: the only truth about what is done."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cleanpipe.errors import BusyError
from cleanpipe.stats import Stats
from cleanpipe.store import Store

_TASKS = "_run/tasks"


@dataclass
class Record:
    """What one task did; written after its files have their final names.

    Attributes:
        task: the task's name.
        job: fingerprint of the job it belongs to.
        files: name below the output or scratch folder -> size in bytes.
        stats: its counts.
        data: numbers other tasks need.
    """

    task: str
    job: str
    files: dict[str, int] = field(default_factory=dict)
    stats: Stats = field(default_factory=Stats)
    data: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {
            "task": self.task,
            "job": self.job,
            "files": self.files,
            "stats": self.stats.to_json(),
            "data": self.data,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Record:
        return cls(
            value["task"],
            value["job"],
            dict(value["files"]),
            Stats.from_json(value["stats"]),
            dict(value["data"]),
        )


class Ledger:
    """Commit records below ``_run/tasks`` of an output folder."""

    def __init__(self, output: Store, scratch: Store, job: str) -> None:
        self._output, self._scratch, self._job = output, scratch, job

    def commit(self, record: Record) -> None:
        self._output.write_json(f"{_TASKS}/{record.task}.json", record.to_json())

    def done(self) -> dict[str, Record]:
        """Every valid record of this job, by task name: its files are all there, whole."""
        found = {}
        for name in self._output.names(_TASKS):
            try:
                record = Record.from_json(self._output.read_json(f"{_TASKS}/{name}"))
            except (ValueError, KeyError, TypeError):
                continue  # cut short by a crash of the machine: the task runs again
            whole = all(self.size(name) == size for name, size in record.files.items())
            if record.job == self._job and whole:
                found[record.task] = record
        return found

    def size(self, name: str) -> int | None:
        """Size of a file of the output, or of scratch where the name begins so."""
        if name.startswith("scratch:"):
            return self._scratch.size(name.removeprefix("scratch:"))
        return self._output.size(name)


@contextmanager
def held(output: Store) -> Iterator[None]:
    """Hold an output folder for one run; the kernel lets go when the process dies.

    Errors: BusyError where another run holds it.
    """
    if not output.local:
        yield  # object stores have no locks; writing twice is harmless there
        return
    path = Path(output.path("_run/lock"))
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BusyError(
                f"another run is writing to {output.url}: wait for it, or choose another --output"
            ) from None
        yield
