"""Whose CPU time it is: functions of the engine, each with the part of a run it belongs to."""

from __future__ import annotations

import functools
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from cleanpipe import run, tasks
from cleanpipe.barrier.sketches import Sketches
from cleanpipe.barrier.verdicts import Verdicts
from cleanpipe.phase import PhaseRun
from cleanpipe.sinks import FinalSink, SpoolSink
from cleanpipe.writers import PartWriter

REST = "scheduling"
LANGUAGE, PERPLEXITY = "language", "perplexity"
PARTS = (
    "reading",
    LANGUAGE,
    "rules by line and sentence",
    "rules by document",
    PERPLEXITY,
    "placeholders",
    "contamination",
    "hashing",
    "de-duplication",
    "writing",
    REST,
)
START = "start-up"
_OF_STEPS = {
    "language": LANGUAGE,
    "perplexity": PERPLEXITY,
    "contamination": "contamination",
    "remove": "rules by line and sentence",
    "pii": "placeholders",
}


class Split:
    """CPU seconds by part, each function's own: what it calls of another part is not its.

    Attributes:
        seconds: by part.
    """

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._open: list[str] = []
        self._since = 0.0

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """What is done in this block belongs to a part."""
        self._turn()
        self._open.append(name)
        try:
            yield
        finally:
            self._turn()
            self._open.pop()

    def _turn(self) -> None:
        now = time.process_time()
        if self._open:
            self.seconds[self._open[-1]] += now - self._since
        self._since = now

    def watched(self, of: Callable[..., Any], name: str | Callable[..., str]) -> Callable[..., Any]:
        """A function, its time counted; of an iterator that it gives the time it takes itself."""

        @functools.wraps(of)
        def called(*args: Any, **named: Any) -> Any:
            belongs = name if isinstance(name, str) else name(*args)
            with self.part(belongs):
                made = of(*args, **named)
            return self._each(made, belongs) if isinstance(made, Iterator) else made

        return called

    def _each(self, made: Iterator[Any], name: str) -> Iterator[Any]:
        while True:
            with self.part(name):
                try:
                    one = next(made)
                except StopIteration:
                    return
            yield one


def _of_step(phase: PhaseRun, step: Any, *_: object) -> str:
    return _OF_STEPS.get(step.kind, "rules by document")


_WATCHED: list[tuple[Any, str, str | Callable[..., str]]] = [
    (run, "find_inputs", START),
    (run._Run, "run", REST),
    (tasks, "read", "reading"),
    (tasks, "make_batch", "reading"),
    (tasks.ScanTask, "run", "reading"),
    (PhaseRun, "run", "rules by document"),
    (PhaseRun, "_filter", _of_step),
    (PhaseRun, "_rewrite", _of_step),
    (SpoolSink, "write", "writing"),
    (SpoolSink, "finish", "writing"),
    (FinalSink, "write", "writing"),
    (PartWriter, "__exit__", "writing"),
    (tasks, "_spooled", "writing"),
    (Sketches, "add", "hashing"),
    (Sketches, "finish", "hashing"),
    (Verdicts, "__init__", "de-duplication"),
    (Verdicts, "apply", "de-duplication"),
    (Verdicts, "write_index", "de-duplication"),
    (tasks, "clusters", "de-duplication"),
    *(
        (task, "run", "de-duplication")
        for task in (
            tasks.GroupTask,
            tasks.RequestTask,
            tasks.FetchTask,
            tasks.VerifyTask,
            tasks.ResolveTask,
            tasks.HostsTask,
        )
    ),
]


@contextmanager
def watching(split: Split) -> Iterator[None]:
    """Count while the block runs; what belongs to no part is start-up."""
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in _WATCHED]
    try:
        for owner, name, part in _WATCHED:
            setattr(owner, name, split.watched(getattr(owner, name), part))
        with split.part(START):
            yield
    finally:
        for owner, name, function in before:
            setattr(owner, name, function)
