"""How far a run is: a live bar on a terminal, a plain line every few seconds in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.table import Table

from cleanpipe.ledger import Record
from cleanpipe.spec import Step
from cleanpipe.stats import Stats

LINE_SECONDS = 5.0
"""Time between two lines in a log."""


class Progress:
    """Says on stderr how far a run is.

    Args:
        quiet: say nothing but warnings. Default False.
        console: where to. Default: stderr.
        check: called whenever it is told of progress; may raise, to end the run. Default: nothing.
    """

    def __init__(
        self,
        quiet: bool = False,
        console: Console | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self.console = console or Console(stderr=True, highlight=False, soft_wrap=True)
        self.quiet = quiet
        self.check = check

    def say(self, sentence: str) -> None:
        if not self.quiet:
            self.console.print(sentence, markup=False)

    def say_steps(self, steps: Sequence[Step]) -> None:
        if steps:
            self.say("then: " + ", ".join(step.name for step in steps))

    def warn(self, sentence: str) -> None:
        self.console.print(f"warning: {sentence}", style="yellow", markup=False)

    @contextmanager
    def part(self, title: str, tasks: int, done: Iterable[Record]) -> Iterator[Part]:
        """A part of the run with a known number of tasks, some of them done before."""
        records = list(done)
        part = Part(title, tasks, len(records), self)
        if self.quiet or not tasks:
            yield part
        elif self.console.is_terminal:
            bar = Bar(
                TextColumn("{task.description:8}"),
                BarColumn(bar_width=30),
                MofNCompleteColumn(),
                TextColumn("shards  {task.fields[rates]}"),
                TimeElapsedColumn(),
                console=self.console,
            )
            with bar:
                part.bar = bar
                part.bar_task = bar.add_task(title, total=tasks, completed=len(records), rates="")
                yield part
        else:
            yield part
            part.line(force=True)


class Part:
    """Counts what one part of a run has done so far."""

    def __init__(self, title: str, tasks: int, done: int, progress: Progress) -> None:
        self.title, self.tasks, self.done = title, tasks, done
        self.bar: Bar | None = None
        self.bar_task: Any = None
        self._progress = progress
        self._stats = Stats()
        self._current = Stats()
        self._start = self._said = time.monotonic()

    def report(self, stats: Stats) -> None:
        """The counts of a task that is under way."""
        self._progress.check()
        self._current = stats
        self._show()

    def finished(self, stats: Stats) -> None:
        """A task is done, with these counts."""
        self._progress.check()
        self._stats.add(stats)
        self._current = Stats()
        self.done += 1
        self._show()

    def _show(self) -> None:
        if self.bar is not None:
            self.bar.update(self.bar_task, completed=self.done, rates=self._rates())
        elif not self._progress.quiet and not self._progress.console.is_terminal:
            self.line()

    def line(self, force: bool = False) -> None:
        """Write a plain line, if the last one is old enough."""
        now = time.monotonic()
        if force or now - self._said >= LINE_SECONDS:
            self._said = now
            self._progress.say(
                f"{self.title}: {self.done}/{self.tasks} shards  {self._rates()}".rstrip()
            )

    def _rates(self) -> str:
        total = self._stats.total
        documents = total.documents_in + self._current.total.documents_in
        if not documents:
            return ""
        seconds = max(time.monotonic() - self._start, 1e-3)
        dropped = sum(counts.dropped for counts in self._stats.stages.values())
        dropped += sum(counts.dropped for counts in self._current.stages.values())
        size = self._stats.bytes_read + self._current.bytes_read
        return (
            f"{documents:,} documents  {documents / seconds:,.0f} documents/s  "
            f"{size / seconds / 1e6:.1f} MB/s  {dropped:,} dropped so far"
        )


def table_of(summary: dict[str, Any]) -> Table:
    """The table at the end of a run, per stage: documents that reached it, those it was for
    (``when``), those of them it dropped, units removed, seconds."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    # A name cut short is no name: the table may grow wider than the terminal.
    table.add_column("stage", min_width=max((len(x["name"]) for x in summary["stages"]), default=5))
    for title in ("in", "judged", "dropped", "share", "units removed", "seconds"):
        table.add_column(title, justify="right")
    for stage in summary["stages"]:
        share = stage["dropped"] / stage["judged"] if stage["judged"] else 0.0
        table.add_row(
            stage["name"],
            f"{stage['in']:,}",
            f"{stage['judged']:,}",
            f"{stage['dropped']:,}",
            f"{share:.1%}",
            f"{stage['units_removed']:,}",
            f"{stage['seconds']:.1f}",
        )
    return table


def test_sets_of(summary: dict[str, Any]) -> Table | None:
    """The table of test sets, where the run looked for any: how many items a set has, how many
    were found, in how many documents, and how many are too short to be judged."""
    if not summary.get("test_sets"):
        return None
    table = Table(box=None, pad_edge=False, header_style="bold")
    names = [f"{each['stage']}: {each['name']}" for each in summary["test_sets"]]
    table.add_column("test set", min_width=max(map(len, names)))
    for title in ("items", "found", "documents", "too short"):
        table.add_column(title, justify="right")
    for name, each in zip(names, summary["test_sets"], strict=True):
        numbers = (each["items"], each["found"], each["documents"], each["too_short"]["number"])
        table.add_row(name, *(f"{number:,}" for number in numbers))
    return table


def totals_of(summary: dict[str, Any]) -> str:
    """One line: documents in, kept, dropped and dead; those with bytes that were no text."""
    documents, size = summary["documents"], summary["bytes"]
    replaced = summary["replaced"]
    repaired = f", {replaced:,} with ill-formed bytes replaced" if replaced else ""
    return (
        f"{documents['in']:,} documents in: {documents['kept']:,} kept, "
        f"{documents['dropped']:,} dropped, {documents['dead']:,} dead{repaired}; "
        f"{size['in'] / 1e6:,.1f} MB of text in, {size['kept'] / 1e6:,.1f} MB kept; "
        f"{summary['seconds']:.1f} s"
    )


def stdout_console() -> Console:
    """A console for results."""
    return Console(file=sys.stdout, highlight=False, soft_wrap=True)
