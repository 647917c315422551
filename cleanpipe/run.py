"""The main job: discover, scan, phases and barriers, accounts, summary."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from cleanpipe import guards
from cleanpipe.barrier.rows import barrier_stages, save_bases
from cleanpipe.barrier.verdicts import largest
from cleanpipe.bounds import Bounds
from cleanpipe.columns import Columns
from cleanpipe.earlier import EarlierRun
from cleanpipe.errors import ChangedError, ConfigError, Fault, GuardError
from cleanpipe.fingerprint import fingerprint
from cleanpipe.job import Job
from cleanpipe.leaks import Leaks
from cleanpipe.ledger import Record, held
from cleanpipe.parameters import nearest
from cleanpipe.plan import Plan, changes
from cleanpipe.progress import Progress
from cleanpipe.runner import Runner, make_runner
from cleanpipe.schema import output_columns
from cleanpipe.shards import InputFile, Shard, discover, needs_scan, split, with_rows
from cleanpipe.sources import Source
from cleanpipe.spec import RunOptions, Spec
from cleanpipe.stage import Filter, Rewriter
from cleanpipe.stats import Stats, summary
from cleanpipe.store import Store
from cleanpipe.tasks import (
    EarlierTask,
    FetchTask,
    GroupTask,
    HostsTask,
    ReadTask,
    RepeatsTask,
    RequestTask,
    ResolveTask,
    ScanTask,
    SpoolTask,
    Task,
    VerifyTask,
)
from cleanpipe.units import is_numeric
from cleanpipe.writers import unwritable

PARTITION_BYTES = 2**28
"""Input bytes for which a barrier makes one partition more: at 300 bytes a document it has some
900,000 of them, 15 million bucket rows (sorted by windows) and about as many pairs."""
_COMPRESSED = 4
"""How much larger texts are than their compressed files, roughly, when partitions are counted."""


@dataclass(frozen=True)
class Inputs:
    """What the sources hold, as found before the run.

    Attributes:
        files: in source order.
        columns: of the output.
        shards: rows not known yet where a scan is needed.
        described: plain values that change when an input does.
        warnings: sentences about what is allowed but likely a mistake.
    """

    files: tuple[InputFile, ...]
    columns: Columns
    shards: tuple[Shard, ...]
    described: dict[str, Any]
    warnings: tuple[str, ...] = ()

    @property
    def bytes(self) -> int:
        return sum(shard.size for shard in self.shards)


def find_inputs(plan: Plan | Spec) -> Inputs:
    """Look at the sources.

    Errors: ConfigError with every fault of files and columns.
    """
    faults: list[Fault] = []
    sources = plan.sources
    try:
        files = discover(sources)
    except ConfigError as error:
        faults.extend(error.faults)
        wrong = {fault.path for fault in faults}
        sources = tuple(s for s in sources if f"sources.{s.name}.paths" not in wrong)
        files = discover(sources)  # the columns of the others are looked at all the same
    try:
        columns = output_columns(sources, files)
    except ConfigError as error:
        faults.extend(error.faults)
    else:
        # Where a source is left out for its faults, a column may be missing for that alone.
        told = [*faults, *(plan.faults if isinstance(plan, Spec) else ())]
        whole = not any(fault.path.startswith("sources") for fault in told)
        faults.extend(_column_faults(plan, columns, whole))
        faults.extend(
            Fault(0, 0, "output.format", message)
            for message in unwritable(columns.schema, plan.output.format)
        )
    if faults:
        raise ConfigError([plan.document.placed(fault) for fault in faults])
    described = {
        "columns": {field.name: str(field.type) for field in columns.schema},
        "files": {file.file: f"{file.size} bytes, {file.stamp}" for file in files},
    }
    warnings = (*columns.warnings, *_without_addresses(plan, columns))
    return Inputs(files, columns, split(files, plan.shard_bytes), described, warnings)


def _without_addresses(plan: Plan | Spec, columns: Columns) -> Iterator[str]:
    """Sources without addresses, by stages that go by these."""
    lacking = [f'"{name}"' for name, roles in columns.roles.items() if roles.url is None]
    for step in plan.steps:
        if step.when is not None and {"source", "url"} & set(step.when.names()):
            continue  # it is for some of them, on purpose
        if lacking and any("url" in stage.needs() for stage in step.stages):
            yield (
                f"{step.name}: it goes by addresses, and source {', '.join(lacking)} has no column "
                "of them: nothing of it is judged; say url: COLUMN"
            )


def _column_faults(plan: Plan | Spec, columns: Columns, whole: bool) -> Iterator[Fault]:
    """Columns of the input that a stage looks at but that are not there (where all are known),
    and bounds on columns that are no numbers."""
    kinds = {f"column.{field.name}": field.type for field in columns.schema}
    for step in plan.steps:
        stages = [stage for stage in step.stages if isinstance(stage, (Filter, Rewriter))]
        rules = [rule for stage in stages for rule in stage.rules()]
        bounded = [rule.measure for rule in rules if isinstance(rule.bounds, Bounds)]
        needed = [name for stage in step.stages for name in stage.needs()]
        looked_at = {
            **dict.fromkeys(needed, step.place),
            **dict.fromkeys(bounded, step.place),
            **dict.fromkeys(step.when.names() if step.when else (), (*step.place[:-1], "when")),
            **({step.per: (*step.place, "per")} if step.per else {}),
        }
        for name in (name for stage in step.stages for name in stage.numbers()):
            if name in kinds and not (is_numeric(kinds[name]) or pa.types.is_temporal(kinds[name])):
                yield plan.document.fault(
                    step.place,
                    f'expected a column of numbers, dates or times: "{name}" is {kinds[name]}, '
                    "which has no order here; a list of values has",
                )
        for name, place in looked_at.items():
            if whole and name.startswith("column.") and name not in kinds:
                known = nearest(name, list(kinds))
                yield plan.document.fault(place, f'no source has a "{name}"; {known}')
            elif name in bounded and name in kinds and not is_numeric(kinds[name]):
                yield plan.document.fault(
                    place, f'expected a column of numbers: "{name}" is {kinds[name]}'
                )


def run_plan(
    plan: Plan,
    output: str,
    options: RunOptions,
    progress: Progress,
    *,
    fresh: bool = False,
) -> dict[str, Any]:
    """Run a plan, or what is left of it.

    Args:
        plan: what to do.
        output: the output folder: a path or an fsspec URL.
        options: how to run it.
        progress: is told how far it is.
        fresh: move an old output aside first. Default False.

    Returns:
        The values of ``summary.json``.

    Errors: ConfigError for inputs at fault, ChangedError where the output belongs to another
    plan or input, BusyError, GuardError, AccountError, RunError.
    """
    store = Store(output)
    inputs = find_inputs(plan)
    for warning in inputs.warnings:
        progress.warn(warning)
    _refuse_own_output([(file.file, file.location) for file in inputs.files], store)
    _refuse_own_output([(run.written, run.path) for run in plan.earlier], store)
    if fresh and store.exists("_run/plan.json"):
        with held(store):
            progress.say(f"old output moved to {store.move_aside()}")
    _refuse_strangers(store)
    with held(store):
        described = {"plan": plan.described, "inputs": inputs.described}
        _refuse_changes(store, described)
        scratch = Store(store.path("_run/scratch"))
        if options.scratch:  # others may use it at the same time, with the same plan too
            key = fingerprint([store.root if store.local else store.url, described])
            scratch = Store(os.path.join(options.scratch, key[:16]))
        if store.exists("summary.json"):
            scratch.remove("")
            progress.say(f"{output} is complete: nothing to do")
            done: dict[str, Any] = store.read_json("summary.json")
            return done
        store.sweep()
        if not store.exists("_run/plan.json"):
            settings = {
                "tree": plan.tree,
                "base": os.path.abspath(plan.base),
                "sources": [_located(source) for source in plan.sources],
            }
            store.write_json("_run/plan.json", {**described, **settings})
        job = Job(
            plan,
            inputs.columns,
            store,
            scratch,
            partitions(inputs.files, plan.earlier),
            options.batch_bytes,
            fingerprint(described),
        )
        return _Run(job, inputs, options, progress).run()


class _Run:
    def __init__(self, job: Job, inputs: Inputs, options: RunOptions, progress: Progress) -> None:
        self.job, self.inputs, self.options, self.progress = job, inputs, options, progress
        self.started = time.monotonic()
        self.runner: Runner | None = None
        self._clusters: list[dict[str, Any]] = []
        self._hosts: list[dict[str, Any]] = []

    def run(self) -> dict[str, Any]:
        self.done = self.job.ledger.done()
        earlier = sum(record.stats.seconds for record in self.done.values())
        try:
            records = self._phases(self._scanned())
        except BaseException:
            self._close()
            for store in (self.job.output, self.job.scratch):
                store.sweep()  # workers that were stopped may have left something behind
            raise
        self._close()
        stats = self._accounts(records)
        plan = self.job.plan
        seconds = time.monotonic() - self.started + earlier
        names = [step.name for step in plan.steps]
        made = summary(stats, names, self._clusters, plan.fingerprint, seconds)
        if plan.matching:
            leaks = Leaks()
            for record in records:
                if "leaks" in record.data:
                    leaks.add_json(record.data["leaks"])
            made["test_sets"] = leaks.summary(plan.steps)
        self._guard(stats)
        self.job.output.write_json("summary.json", made)
        self.job.scratch.remove("")
        self._warn(stats)
        return made

    def _close(self) -> None:
        if self.runner is not None:
            self.runner.close()

    def _scanned(self) -> tuple[Shard, ...]:
        """The shards, every piece's first row known."""
        shards = self.inputs.shards
        unknown = [s for s in shards if any(needs_scan(piece) for piece in s.pieces)]
        records = self._tasks("scan", [ScanTask(shard) for shard in unknown])
        counts = {
            (file, start): lines
            for record in records
            for file, start, lines in record.data["lines"]
        }
        return with_rows(shards, counts)

    def _phases(self, shards: Sequence[Shard]) -> list[Record]:
        job = self.job
        numbers = [shard.index for shard in shards]
        records = self._tasks("clean", [ReadTask(shard) for shard in shards])
        everything = list(records)
        for phase in range(len(job.plan.phases) - 1):
            sizes = {record.task: record.data["documents"] for record in records}
            rewrites = job.plan.phases[phase].rewrites
            old = range(0 if rewrites else -len(job.plan.earlier_parts), 0)
            before = self._tasks("earlier", [EarlierTask(phase, s) for s in old]) if old else []
            everything += before
            bases = save_bases(
                job,
                phase,
                [sizes[f"phase{phase}-{number:05d}"] for number in numbers],
                [record.data["documents"] for record in before],
            )
            for title, tasks in self._barrier(phase, bases.shards):
                everything += self._tasks(title, tasks)
            self.progress.say_steps(job.plan.run_in(phase + 1))
            spooled = [SpoolTask(phase + 1, shard.index, shard.size) for shard in shards]
            title = "clean" if job.plan.phases[phase + 1].barrier else "write"
            records = self._tasks(title, spooled)
            everything += records
        self._clusters = largest(
            cluster for record in everything for cluster in record.data.get("clusters", ())
        )
        if job.plan.guards != "off":
            counted = tuple(
                number
                for number, record in zip(numbers, records, strict=True)
                if record.data.get("hosts")
            )
            tasks = [HostsTask(part, counted) for part in range(job.partitions) if counted]
            found = self._tasks("hosts", tasks) if tasks else []
            self._hosts = [host for record in found for host in record.data["hosts"]]
        return everything

    def _barrier(self, phase: int, shards: Sequence[int]) -> Iterator[tuple[str, Sequence[Task]]]:
        """The steps of a barrier, in order (docs/decisions/012)."""
        partitions = range(self.job.partitions)
        if self.job.plan.phases[phase].rewrites:
            yield "repeats", [RepeatsTask(phase, part) for part in partitions]
            return
        stages = barrier_stages(self.job, phase)
        every, compared = range(len(stages)), [s for s, b in enumerate(stages) if not b.identity]
        yield "group", [GroupTask(phase, s, part) for s in every for part in partitions]
        if compared:
            yield "request", [RequestTask(phase, s, part) for s in compared for part in partitions]
            yield "fetch", [FetchTask(phase, s, shard) for s in compared for shard in shards]
            yield "verify", [VerifyTask(phase, s, part) for s in compared for part in partitions]
        yield "resolve", [ResolveTask(phase)]

    def _tasks(self, title: str, tasks: Sequence[Task]) -> list[Record]:
        """Run the tasks that are not done yet; the records of all, in the order of ``tasks``."""
        waiting = [task for task in tasks if task.name not in self.done]
        found = {task.name: self.done[task.name] for task in tasks if task.name in self.done}
        with self.progress.part(title, len(tasks), found.values()) as part:
            if waiting:
                if self.runner is None:
                    self.runner = make_runner(
                        self.options, self.inputs.bytes, len(self.inputs.shards)
                    )
                    self.progress.say(f"runner: {self.runner.name}")
                for record in self.runner.run(self.job, waiting, part.report):
                    part.finished(record.stats)
                    found[record.task] = record
        return [found[task.name] for task in tasks]

    def _accounts(self, records: Iterable[Record]) -> Stats:
        """Add everything up; per shard and in total, nothing may be missing."""
        total = Stats()
        shards: dict[str, Stats] = {}
        for record in records:
            total.add(record.stats)
            head, _, number = record.task.partition("-")
            if head.startswith("phase"):
                shards.setdefault(number, Stats()).add(record.stats)
        for number, stats in shards.items():
            stats.check(f"shard {number}")
        total.check("the run")
        return total

    def _guard(self, stats: Stats) -> None:
        found = (
            guards.alarms(stats, self._clusters, self._hosts)
            if self.job.plan.guards != "off"
            else []
        )
        for alarm in found:
            self.progress.warn(alarm)
        if found and self.job.plan.guards == "stop":
            raise GuardError(
                "; ".join(found) + "; the results are there but not marked complete: if this "
                "is what you want, run again with --set guards=warn --fresh"
            )

    def _warn(self, stats: Stats) -> None:
        for step in self.job.plan.steps:
            counts = stats.stage(step.name)
            if step.when is not None and counts.documents_in and not counts.judged:
                self.progress.warn(f'"{step.name}": its when matched no document')
        if stats.total.dead:
            self.progress.say(self._why_dead(stats.total.dead))

    def _why_dead(self, dead: int) -> str:
        """The commonest reason, with an example."""
        store, columns = self.job.output, ["reason", "message"]
        counts: Counter[str] = Counter()
        first: dict[str, str] = {}
        for name in store.names("dead"):
            for row in store.table(f"dead/{name}", columns).to_pylist():
                counts[row["reason"]] += 1
                first.setdefault(row["reason"], row["message"])
        [(reason, count)] = counts.most_common(1)
        message = first[reason]
        return f"{dead} dead, {count} of them {reason} ({message}): see {store.url}/dead"


def partitions(files: Iterable[InputFile], earlier: Iterable[EarlierRun] = ()) -> int:
    """Into how many parts a barrier's sketches are divided."""
    size = sum(file.size * (_COMPRESSED if file.compression else 1) for file in files)
    return 1 + (size + sum(run.bytes for run in earlier)) // PARTITION_BYTES


def _located(source: Source) -> dict[str, Any]:
    """A source as plain values, to be read again from any working directory."""
    return {**vars(source), "base": os.path.abspath(source.base)}


def _refuse_strangers(store: Store) -> None:
    if not store.local or not store.exists() or store.exists("_run/plan.json"):
        return
    if not os.path.isdir(store.root):
        raise ChangedError(f"{store.url} is a file: choose another --output")
    if any(name != "_run" for name in os.listdir(store.root)):
        raise ChangedError(
            f"{store.url} is not empty and holds no run of cleanpipe: choose another --output"
        )


def _refuse_changes(store: Store, described: dict[str, Any]) -> None:
    if not store.exists("_run/plan.json"):
        return
    before = store.read_json("_run/plan.json")
    found = changes({key: before.get(key) for key in described}, described)
    if found:
        more = f" and {len(found) - 10} more" if len(found) > 10 else ""
        raise ChangedError(
            f"{store.url} holds a run of another plan or input: "
            + "; ".join(found[:10])
            + more
            + "; choose another --output, or --fresh to move the old one aside"
        )


def _refuse_own_output(read: Iterable[tuple[str, str]], store: Store) -> None:
    """Refuse what is read (how it is written, where it is) if it lies in the output folder."""
    root = os.path.realpath(store.root) if store.local else store.url.rstrip("/")
    for written, location in read:
        location = os.path.realpath(location) if store.local else location
        if f"{location}/".startswith(root + "/"):
            raise ConfigError(
                f"{written} lies in the output folder {store.url}: a run must not read "
                "what it writes"
            )
