"""What a pipeline file says, typed: sources, steps, output, how to run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from cleanpipe.document import Document, Place
from cleanpipe.errors import Fault
from cleanpipe.parameters import LocalPath
from cleanpipe.sources import Source
from cleanpipe.stage import Stage
from cleanpipe.when import When

TOP_LEVEL = ("sources", "stages", "output", "shard_bytes", "guards", "run")
_UNITS = {"": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30}


def parse_bytes(value: object) -> object:
    """``512MB``, ``64MiB`` or a whole number, as bytes; anything else is left for the type."""
    if isinstance(value, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMG]i?B)?\s*", value, re.IGNORECASE)
        if found:
            return int(float(found[1]) * _UNITS[(found[2] or "").lower()])
        raise ValueError('expected a size such as 64MiB or 512MB, got "' + value + '"')
    return value


Bytes = Annotated[int, BeforeValidator(parse_bytes)]


@dataclass(frozen=True)
class Output:
    """Where and how the kept documents are written.

    Attributes:
        path: the output folder, or None (default) where the caller names one.
        format: ``parquet`` (default), ``jsonl``, or ``none``: they are not written, all else is.
        file_size: size at which a shard's kept file is closed and another begun, bytes of
            the finished file. Default 512 MB.
    """

    path: LocalPath | None = None
    format: Literal["parquet", "jsonl", "none"] = "parquet"
    file_size: Bytes = 512 * 10**6

    def check(self) -> list[tuple[str, str]]:
        if self.file_size < 10**5:
            return [("file_size", f"expected at least 100KB, got {self.file_size} bytes")]
        return []


@dataclass(frozen=True)
class PlanOptions:
    """The keys at the top of the file that have plain values.

    Attributes:
        shard_bytes: input of one task, bytes. Default 64 MiB.
        guards: whether a loss that nobody is likely to want stops the run (default), is told
            (``warn``), or neither (``off``).
    """

    shard_bytes: Bytes = 64 * 2**20
    guards: Literal["stop", "warn", "off"] = "stop"

    def check(self) -> list[tuple[str, str]]:
        if self.shard_bytes < 1:
            return [("shard_bytes", f"expected at least 1 byte, got {self.shard_bytes}")]
        return []


@dataclass(frozen=True)
class RunOptions:
    """How a run is carried out; never part of the plan.

    Attributes:
        runner: ``inline``, ``ray``, or ``auto`` (default).
        address: an existing Ray cluster, or None (default) for one of this run's own.
        workers: tasks at a time under Ray, or None (default) for the cluster's CPUs.
        memory_per_worker: memory Ray sets aside for a task, bytes. Default 1 GiB.
        batch_bytes: text in a batch, bytes. Default 8 MiB.
        scratch: folder for intermediates, or None (default) for ``_run/scratch``.
    """

    runner: Literal["auto", "inline", "ray"] = "auto"
    address: str | None = None
    workers: int | None = None
    memory_per_worker: Bytes = 2**30
    batch_bytes: Bytes = 8 * 2**20
    scratch: LocalPath | None = None

    def check(self) -> list[tuple[str, str]]:
        faults = []
        if self.batch_bytes < 1:
            faults.append(("batch_bytes", f"expected at least 1 byte, got {self.batch_bytes}"))
        if self.workers is not None and self.workers < 1:
            faults.append(("workers", f"expected at least 1, got {self.workers}"))
        return faults


def run_options(options: RunOptions, **given: Any) -> RunOptions:
    """Options with those that were given (not None) in place of the file's."""
    return replace(options, **{key: value for key, value in given.items() if value is not None})


@dataclass(frozen=True)
class Step:
    """One stage as the pipeline names it, macros expanded.

    Attributes:
        name: unique name.
        kind: its kind, as in the pipeline file.
        variants: (label value, stage) pairs; one pair with None where there is no ``per``.
        per: the label that picks the variant, or None (default).
        otherwise: what becomes of other label values: ``keep`` (default), ``drop``, or the
            index of a variant.
        when: which documents it is for, or None (default) for all.
        place: where it stands in the file.
    """

    name: str
    kind: str
    variants: tuple[tuple[str | None, Stage], ...]
    per: str | None = None
    otherwise: Literal["keep", "drop"] | int = "keep"
    when: When | None = None
    place: Place = ()

    @property
    def stages(self) -> tuple[Stage, ...]:
        return tuple(stage for _, stage in self.variants)


@dataclass(frozen=True)
class Broken:
    """An entry of the list that has faults, so that no step can be made of it.

    Attributes:
        step: what is known of it, its variants made of their sound parameters alone; None
            where not even its kind and name are known.
        labels: the labels its kind takes.
    """

    step: Step | None = None
    labels: tuple[str, ...] = ()

    def may_take(self, name: str) -> bool:
        """Whether it might take a measure or label, had it no faults."""
        step = self.step
        return step is None or name in self.labels or name.startswith(f"{step.name}.")


@dataclass(frozen=True)
class Spec:
    """What a pipeline file says, as far as it has no faults.

    Attributes:
        entries: the list of stages, macros expanded.
        tree: the file's values after ``--set``, for ``_run/plan.json``.
        base: the folder that paths in it are relative to.
        faults: every mistake in the file itself; :func:`cleanpipe.plan.make_plan` raises them
            together with those it finds.
        warnings: sentences about what is allowed but likely a mistake.
    """

    sources: tuple[Source, ...]
    entries: tuple[Step | Broken, ...]
    output: Output
    shard_bytes: int
    guards: Literal["stop", "warn", "off"]
    run: RunOptions
    tree: Mapping[str, Any] = field(compare=False)
    base: str = field(compare=False)
    document: Document = field(compare=False)
    faults: tuple[Fault, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def steps(self) -> tuple[Step, ...]:
        """The stages without faults, in order."""
        return tuple(entry for entry in self.entries if isinstance(entry, Step))
