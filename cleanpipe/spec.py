"""A pipeline file to a typed specification, with all of its faults at once."""

from __future__ import annotations

import re
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from cleanpipe import registry
from cleanpipe.document import Document, Place, frozen
from cleanpipe.errors import ConfigError, Fault
from cleanpipe.overrides import override
from cleanpipe.parameters import LocalPath, build, nearest
from cleanpipe.sources import Source
from cleanpipe.stage import Barrier, Filter, Filters, NamedSet, Stage
from cleanpipe.when import When, parse_when

TOP_LEVEL = ("sources", "stages", "output", "shard_bytes", "guards", "run")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
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
        format: ``parquet`` (default) or ``jsonl``.
        file_size: size at which a shard's kept file is closed and another begun, bytes of
            the finished file. Default 512 MB.
    """

    path: LocalPath | None = None
    format: Literal["parquet", "jsonl"] = "parquet"
    file_size: Bytes = 512 * 10**6

    def check(self) -> list[tuple[str, str]]:
        if self.file_size < 10**5:
            return [("file_size", f"expected at least 100KB, got {self.file_size} bytes")]
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

    @property
    def steps(self) -> tuple[Step, ...]:
        """The stages without faults, in order."""
        return tuple(entry for entry in self.entries if isinstance(entry, Step))


def parse_spec(document: Document, base: str, settings: Sequence[str] = ()) -> Spec:
    """Build the specification. A fault does not stop it: what has none is there, and
    ``faults`` has every one, each with its line and column.

    Args:
        document: the file's values and their places.
        base: the folder that paths in it are relative to.
        settings: ``path=value`` overrides, as ``--set`` takes them.

    Errors: ConfigError where the file is no map at all.
    """
    return _Parser(document, base).parse(settings)


class _Parser:
    def __init__(self, document: Document, base: str) -> None:
        self.document = document
        self.base = base
        self.faults: list[Fault] = []
        # Of the entry at hand: what can be made of the sound parameters of faulty stages, and
        # where the parameters stand that its cases share.
        self.parts: list[tuple[str | None, Stage]] = []
        self.shared: dict[Place, Place] = {}

    def fault(self, place: Place, message: str) -> None:
        for length in range(len(place) + 1):
            if place[:length] in self.shared:
                place = self.shared[place[:length]] + place[length:]
                break
        fault = self.document.fault(place, message)
        if fault not in self.faults:
            self.faults.append(fault)

    def parse(self, settings: Sequence[str]) -> Spec:
        tree = self.document.tree
        if not isinstance(tree, Mapping):
            self.fault((), f"expected a map with {', '.join(TOP_LEVEL)}")
            raise ConfigError(self.faults)
        tree, faults = override(tree, settings, TOP_LEVEL)
        self.faults.extend(Fault(0, 0, path, message, "--set") for path, message in faults)
        for key in tree:
            if key not in TOP_LEVEL:
                self.fault((key,), f"unknown key; {nearest(key, list(TOP_LEVEL))}")
        sources = self.sources(tree.get("sources"))
        entries = self.entries(tree.get("stages"))
        output = self.section(Output, "output", tree)
        run = self.section(RunOptions, "run", tree)
        top = self.section(_TopLevel, None, tree)
        return Spec(
            sources,
            entries,
            output,
            top.shard_bytes,
            top.guards,
            run,
            tree,
            self.base,
            self.document,
            tuple(self.faults),
        )

    def make(
        self, cls: type[Any], values: Any, place: Place, *, check: bool = True, **ready: Any
    ) -> Any:
        """An instance of ``cls``, or None with its faults noted.

        A stage is noted in ``parts`` too, made of its sound parameters alone if need be.
        """
        if values is None:
            values = {}
        if not isinstance(values, Mapping):
            self.fault(place, f"expected a map of parameters, got {values}")
            return None
        made, faults = build(cls, values, self.base, ready, check)
        for inner, message in faults:
            self.fault((*place, *inner), message)
        if issubclass(cls, Stage):
            wrong = {inner[0] for inner, _ in faults if inner}
            sound = {key: value for key, value in values.items() if key not in wrong}
            part = made if made is not None else build(cls, sound, self.base, ready, check)[0]
            if part is not None:
                case = str(place[-1]) if "cases" in place[-2:-1] else None
                self.parts.append((case, part))
        return made

    def section(self, cls: type[Any], key: str | None, tree: Mapping[str, Any]) -> Any:
        """An instance of ``cls``; the default one where it has faults."""
        if key is None:
            names = ("shard_bytes", "guards")
            made = self.make(cls, {name: tree[name] for name in names if name in tree}, ())
        else:
            made = self.make(cls, tree.get(key), (key,))
        return cls() if made is None else made

    def sources(self, tree: Any) -> tuple[Source, ...]:
        if tree is None:
            return ()
        if not isinstance(tree, Mapping) or not tree:
            self.fault(("sources",), "expected a map of sources, each with paths")
            return ()
        made = []
        for name, values in tree.items():
            place = ("sources", name)
            if isinstance(values, Mapping) and isinstance(values.get("paths"), str):
                values = {**values, "paths": (values["paths"],)}
            if isinstance(values, Mapping):
                for ours in {"name", "base"} & values.keys():
                    self.fault((*place, ours), "unknown parameter")
            made.append(self.make(Source, values, place, name=name, base=self.base))
        return tuple(source for source in made if source is not None)

    def entries(self, tree: Any) -> tuple[Step | Broken, ...]:
        if not isinstance(tree, tuple):
            self.fault(("stages",), "expected a list of stages")
            return (Broken(),)
        made: list[Step | Broken] = []
        names: set[str] = set()
        for index, entry in enumerate(tree):
            made.extend(self.entry(entry, ("stages", index), names))
        return tuple(made)

    def entry(self, entry: Any, place: Place, names: set[str]) -> Sequence[Step | Broken]:
        """The steps of one place in the list: one, or a named set's members."""
        head = self.head(entry, place)
        if head is None:
            return [Broken()]
        cls, kind, values, name = head
        if name in names:
            self.fault(
                (*place, kind),
                f'a second stage called "{name}": give one of them a "name:" of its own',
            )
        names.add(name)
        when = None
        if isinstance(entry, Mapping) and "when" in entry:
            try:
                when = parse_when(entry["when"])
            except ValueError as error:
                self.fault((*place, "when"), str(error))
        inner = (*place, kind)
        steps: list[Step] | None = None
        self.parts.clear()
        self.shared.clear()
        if isinstance(values, Mapping) and "per" in values:
            if issubclass(cls, Barrier):
                self.fault((*inner, "per"), f'"{kind}" looks at all documents: no per')
            else:
                steps = self.cases(cls, kind, values, name, when, inner)
        else:
            stage = self.stage(cls, values, inner)
            if stage is not None:
                steps = [
                    Step(name + suffix, made.kind, ((None, made),), when=when, place=inner)
                    for suffix, made in _expanded(stage)
                ]
        if steps is not None:
            return steps
        label = values.get("per") if isinstance(values, Mapping) else None
        known = Step(
            name,
            kind,
            tuple((case, made) for case, part in self.parts for _, made in _expanded(part)),
            label if isinstance(label, str) else None,
            when=when,
            place=inner,
        )
        return [Broken(known, cls.labels if issubclass(cls, Filter) else ())]

    def head(self, entry: Any, place: Place) -> tuple[type[Stage], str, Any, str] | None:
        """Which kind an entry is, its parameters and its name; None where one is not known."""
        if isinstance(entry, str):
            entry = {entry: None}
        if not isinstance(entry, Mapping) or not entry:
            self.fault(
                place, f"expected a stage such as {{length: {{tokens: [50, null]}}}}, got {entry}"
            )
            return None
        kinds = [key for key in entry if key not in ("name", "when")]
        known = registry.stages()
        if len(kinds) != 1:
            unknown = [kind for kind in kinds if kind not in known]
            for kind in unknown:
                self.fault((*place, kind), f"unknown stage; {nearest(kind, list(known))}")
            if not unknown:
                self.fault(
                    place,
                    f"expected one stage beside name and when, got {', '.join(kinds) or 'none'}",
                )
            return None
        (kind,) = kinds
        name = entry.get("name", kind)
        if not isinstance(name, str) or not _NAME.fullmatch(name) or name in TOP_LEVEL:
            self.fault(
                (*place, "name"),
                f"expected letters, digits, _ or -, and none of {', '.join(TOP_LEVEL)}, got {name}",
            )
            return None
        if kind not in known:
            self.fault((*place, kind), f"unknown stage; {nearest(kind, list(known))}")
            return None
        return known[kind], kind, entry[kind], name

    def stage(self, cls: type[Stage], values: Any, place: Place) -> Stage | None:
        """A stage from its parameters, the filters inside it included."""
        ready: dict[str, Any] = {}
        count = len(self.faults)
        if isinstance(values, Mapping):
            hints = typing.get_type_hints(cls)
            for key, value in values.items():
                if hints.get(key) == Filters:
                    ready[key] = self.filters(value, (*place, key))
        # A list of filters that lost some to faults is not to be checked as if it were whole.
        made: Stage | None = self.make(cls, values, place, check=len(self.faults) == count, **ready)
        return made if len(self.faults) == count else None

    def filters(self, values: Any, place: Place) -> Filters:
        """The filters a stage applies to parts of documents."""
        if not isinstance(values, tuple) or not values:
            self.fault(place, "expected a list of filters")
            return ()
        made: list[tuple[str, Filter]] = []
        for index, entry in enumerate(values):
            inner: Place = (*place, index)
            if isinstance(entry, Mapping) and "when" in entry:
                self.fault((*inner, "when"), "no condition here: put when beside the outer stage")
                continue
            head = self.head(entry, inner)
            if head is None:
                continue
            cls, kind, parameters, name = head
            stage = self.stage(cls, parameters, (*inner, kind))
            for suffix, member in _expanded(stage) if stage is not None else ():
                if not isinstance(member, Filter):
                    self.fault((*inner, kind), f'expected a filter: "{kind}" is none')
                elif name + suffix in dict(made):
                    self.fault(inner, f'a second filter called "{name + suffix}": give one a name:')
                else:
                    made.append((name + suffix, member))
        return tuple(made)

    def cases(
        self,
        cls: type[Stage],
        kind: str,
        values: Mapping[str, Any],
        name: str,
        when: When | None,
        place: Place,
    ) -> list[Step] | None:
        """The steps of a stage whose parameters are picked by a label; None with faults."""
        before = len(self.faults)
        label, cases, otherwise = values["per"], values.get("cases"), values.get("else")
        shared = {k: v for k, v in values.items() if k not in ("per", "cases", "else")}
        if not isinstance(label, str):
            self.fault((*place, "per"), f"expected the name of a label, got {label}")
        if not isinstance(cases, Mapping) or not cases:
            self.fault((*place, "cases"), "expected a map from label values to parameters")
            cases = {}
        if "else" not in values:
            self.fault(place, 'expected "else": keep, drop or parameters, which is missing')
        made: dict[str | None, Stage | None] = {}

        def add(case: str | None, parameters: Mapping[str, Any], inner: Place) -> None:
            for key in shared.keys() - parameters.keys():
                self.shared[*inner, key] = (*place, key)
            made[case] = self.stage(cls, {**shared, **parameters}, inner)

        for value, parameters in cases.items():
            inner = (*place, "cases", value)
            if parameters is not None and not isinstance(parameters, Mapping):
                self.fault(inner, f"expected a map of parameters, got {parameters}")
                continue
            add(value, parameters or {}, inner)
        rest: Literal["keep", "drop"] | int = "keep"
        if isinstance(otherwise, Mapping):
            add(None, otherwise, (*place, "else"))
            rest = len(made) - 1
        elif otherwise in ("keep", "drop"):
            rest = otherwise
        elif "else" in values:
            self.fault((*place, "else"), f"expected keep, drop or parameters, got {otherwise}")
        if len(self.faults) > before:
            return None
        expanded = {value: dict(_expanded(stage)) for value, stage in made.items() if stage}
        suffixes = list(
            dict.fromkeys(suffix for members in expanded.values() for suffix in members)
        )
        steps = []
        for suffix in suffixes:
            # A member that one case has turned off keeps that case's documents.
            variants = tuple(
                (value, members[suffix]) for value, members in expanded.items() if suffix in members
            )
            chosen = rest
            if isinstance(rest, int):
                chosen = len(variants) - 1 if suffix in expanded[None] else "keep"
            member_kind = variants[0][1].kind
            steps.append(Step(name + suffix, member_kind, variants, label, chosen, when, place))
        return steps


@dataclass(frozen=True)
class _TopLevel:
    shard_bytes: Bytes = 64 * 2**20
    guards: Literal["stop", "warn", "off"] = "stop"

    def check(self) -> list[tuple[str, str]]:
        if self.shard_bytes < 1:
            return [("shard_bytes", f"expected at least 1 byte, got {self.shard_bytes}")]
        return []


def _expanded(stage: Stage) -> list[tuple[str, Stage]]:
    if isinstance(stage, NamedSet):
        return [(f".{member}", rule) for member, rule in stage.expand()]
    return [("", stage)]


def document_of(tree: Mapping[str, Any]) -> Document:
    """A configuration given as a dictionary."""
    return Document(frozen(tree))
