"""Earlier runs whose survivors come before this run's documents: found, checked, identified."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from cleanpipe import _native
from cleanpipe.document import Place, frozen
from cleanpipe.errors import ConfigError
from cleanpipe.fingerprint import fingerprint
from cleanpipe.parameters import build
from cleanpipe.spec import Step
from cleanpipe.stage import Barrier
from cleanpipe.store import Store
from cleanpipe.writers import FORMATS


@dataclass(frozen=True)
class EarlierRun:
    """A complete run, as far as a later one looks at it.

    Attributes:
        path: its output folder.
        written: the same as the pipeline file has it.
        parts: how many shards it had.
        bytes: of the texts it kept.
        suffix: ending of its kept files; empty where it has none.
        indexes: stage of this plan -> the stage there whose survivors it is compared with.
        identity: changes when its plan, its inputs or the files looked at do.
    """

    path: str
    written: str
    parts: int
    bytes: int
    suffix: str
    indexes: Mapping[str, str]
    identity: str


def earlier_runs(steps: Iterable[Step]) -> tuple[list[EarlierRun], list[tuple[Place, str]]]:
    """The earlier runs that these stages name, each once, and what is wrong with them."""
    folders: dict[str, _Folder] = {}
    found: dict[str, EarlierRun] = {}
    faults: list[tuple[Place, str]] = []
    barriers = [(s, stage) for s in steps for stage in s.stages if isinstance(stage, Barrier)]
    for step, stage in barriers:
        for index, path in enumerate(stage.against):
            try:
                if path in stage.against[:index]:
                    raise ValueError("it stands in the list twice")
                run = folders.setdefault(path, _Folder(path)).run(step, stage)
            except ValueError as error:
                written = getattr(path, "written", path)
                faults.append(((*step.place, "against", index), f"{written}: {error}"))
                continue
            before = found.get(path)
            if before is not None:
                indexes = {**before.indexes, **run.indexes}
                both = fingerprint([before.identity, run.identity])
                run = replace(before, indexes=indexes, identity=both)
            found[path] = run
    return list(found.values()), faults


class _Folder:
    """An output folder. Its methods raise ValueError where it is not what it must be."""

    def __init__(self, path: str) -> None:
        self._path = path

    @cached_property
    def _store(self) -> Store:
        try:
            return Store(self._path)
        except ConfigError as error:
            raise ValueError(str(error)) from None

    @cached_property
    def _saved(self) -> Any:
        try:
            return self._store.read_json("_run/plan.json")
        except (OSError, ValueError):
            raise ValueError("expected the output folder of a run") from None

    @cached_property
    def _summary(self) -> Any:
        try:
            return self._store.read_json("summary.json")
        except (OSError, ValueError):
            raise ValueError("its run is not complete: the same command resumes it") from None

    def run(self, step: Step, stage: Barrier) -> EarlierRun:
        """What it has for a stage."""
        saved, summary = self._saved, self._summary
        there = self._same_kind(step)
        wrong = list(self._mismatches(stage, there))
        if wrong:
            raise ValueError(f"its survivors cannot be compared: {'; '.join(wrong)}")
        tasks = self._store.names("_run/tasks")
        parts = sum(name.startswith("phase0-") for name in tasks)
        format = saved["plan"]["output"]["format"]
        suffix = "" if format == "none" else FORMATS[format].suffix
        name = there["name"]
        looked_at = [
            self._sizes(f"index/{name}", [f"part-{part:05d}.parquet" for part in range(parts)])
        ]
        if not stage.identity and stage.reads_text:
            firsts = [f"part-{part:05d}-000.{suffix}" for part in range(parts)]
            remedy = ": its texts are read again; or write verify: signature"
            if not suffix:
                raise ValueError(f"it has no kept/, for its output.format is none{remedy}")
            looked_at.append(self._sizes("kept", firsts, remedy))
        return EarlierRun(
            self._path,
            getattr(self._path, "written", self._path),
            parts,
            summary["bytes"]["kept"],
            suffix,
            {step.name: name},
            fingerprint([saved["plan"], saved["inputs"], *looked_at]),
        )

    def _same_kind(self, step: Step) -> Any:
        """The stage there that is of the same kind."""
        stages = self._saved["plan"]["stages"]
        same = [each for each in stages if each["kind"] == step.kind]
        if not same:
            raise ValueError(f"its run has no stage {step.kind}")
        if len(same) > 1:
            names = ", ".join(each["name"] for each in same)
            same = [each for each in same if each["name"] == step.name]
            if not same:
                raise ValueError(
                    f"its run has several stages {step.kind}: give this one the name: of the one "
                    f"that it is to be compared with, one of {names}"
                )
        return same[0]

    def _mismatches(self, stage: Barrier, there: Mapping[str, Any]) -> Iterator[str]:
        """What keeps payloads from being compared."""
        if not stage.identity:
            for name, now in (
                ("unicode", _native.UNICODE_VERSION),
                ("tokens", _native.TOKEN_TABLE_VERSION),
            ):
                was = self._saved["plan"]["text"][name]
                if was != now:
                    yield f"version of {name} was {was}, now {now}"
        if there["version"] != stage.version:
            yield f"version of {stage.kind} was {there['version']}, now {stage.version}"
            return
        values = {k: v for k, v in there["parameters"].items() if k != "against"}
        before, _ = build(type(stage), frozen(values), check=False)
        if before is None:
            yield "its parameters are not known here"
            return
        old = before.comparable()
        for name, value in stage.comparable().items():
            if old[name] != value:
                yield f"{name} was {old[name]}, now {value}"

    def _sizes(self, folder: str, needed: Sequence[str], remedy: str = "") -> dict[str, int]:
        """Names and sizes of a folder's files."""
        found = self._store.sizes(folder)
        missing = [name for name in needed if name not in found]
        if missing:
            more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            raise ValueError(f"{folder}/{missing[0]}{more} is missing{remedy}")
        return found
