"""Specification to plan: phases between barriers, what each stage knows, fingerprints."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, cast

from cleanpipe import _native
from cleanpipe.document import Document, Place
from cleanpipe.earlier import EarlierRun, earlier_runs
from cleanpipe.errors import ConfigError, Fault
from cleanpipe.fingerprint import file_sha256, fingerprint
from cleanpipe.parameters import shown
from cleanpipe.parse import parse_spec
from cleanpipe.references import Kind, References
from cleanpipe.sources import Source
from cleanpipe.spec import Broken, Output, RunOptions, Spec, Step
from cleanpipe.stage import Barrier, CorpusRewriter, Filter, Stage

FORMAT = 2
"""Raised when the files of a run change their form: old outputs are then not resumed."""


@dataclass(frozen=True)
class Phase:
    """The stages between two barriers, fused: one task runs them all over a shard.

    Attributes:
        steps: filters and rewriters, in order.
        barrier: rules for duplicates, resolved together, or one corpus rewriter; empty in the
            last phase.
    """

    steps: tuple[Step, ...]
    barrier: tuple[Step, ...] = ()

    @property
    def rewrites(self) -> bool:
        """Whether its barrier is a corpus rewriter's."""
        return any(isinstance(step.stages[0], CorpusRewriter) for step in self.barrier)


@dataclass(frozen=True)
class Plan:
    """What will be done, immutable and printable; two equal plans give equal bytes.

    Attributes:
        phases: at least one.
        measures: full name -> kind of every column that ``measures/`` will have, in order.
        resources: path as written -> sha256 of every model and list, and of what is looked at
            of every earlier run.
        earlier: runs whose survivors come before the documents of this one, in order.
        warnings: sentences about what is allowed but likely a mistake.
        described: the plan as plain JSON values, every default included.
        fingerprint: sha256 of ``described``, hexadecimal.
    """

    sources: tuple[Source, ...]
    phases: tuple[Phase, ...]
    output: Output
    shard_bytes: int
    guards: Literal["stop", "warn", "off"]
    run: RunOptions = field(compare=False)
    measures: Mapping[str, Kind]
    resources: Mapping[str, str]
    earlier: tuple[EarlierRun, ...]
    warnings: tuple[str, ...]
    described: Mapping[str, Any]
    fingerprint: str
    tree: Mapping[str, Any] = field(compare=False, repr=False)
    base: str = field(compare=False, repr=False)
    document: Document = field(compare=False, repr=False)

    @property
    def steps(self) -> Iterator[Step]:
        """Every stage in the order of the list."""
        for phase in self.phases:
            yield from phase.steps
            yield from phase.barrier

    def run_in(self, phase: int) -> tuple[Step, ...]:
        """The steps that a task of a phase runs: a corpus rewriter after its barrier, first."""
        steps = self.phases[phase].steps
        if phase and self.phases[phase - 1].rewrites:
            return (*self.phases[phase - 1].barrier, *steps)
        return steps

    @cached_property
    def matching(self) -> bool:
        """Whether any stage looks for test items, so that there is ``matches/``."""
        return any(stage.matched is not None for step in self.steps for stage in step.stages)

    @cached_property
    def earlier_parts(self) -> list[tuple[EarlierRun, int]]:
        """The parts of the earlier runs; they are shards before the first, the last one is -1."""
        return [(run, part) for run in self.earlier for part in range(run.parts)]


def make_plan(spec: Spec) -> Plan:
    """Check how the stages fit together and fix the plan.

    Errors: ConfigError with every fault: those of the file itself, unknown measures and
    labels, stages after de-duplication, models and lists that cannot be read or are not what
    they must be. A name that an entry with faults might take is not held against others.
    """
    faults: list[Fault] = list(spec.faults)
    phases = _phases(spec, faults)
    references = References(spec)
    measures = references.measures
    faults.extend(references.faults)
    warnings = references.warnings
    resources = _resources(spec, faults)
    earlier, wrong = earlier_runs(_known(spec))
    faults.extend(spec.document.fault(place, message) for place, message in wrong)
    resources.update({run.written: run.identity for run in earlier})
    if faults:
        raise ConfigError(faults)
    spec = _settled(spec)
    phases = _phases(spec, faults)
    for step in spec.steps:
        for _, stage in step.variants:
            warnings += [f"{step.name}: {sentence}" for sentence in stage.warnings()]
    described = describe(spec, resources)
    return Plan(
        spec.sources,
        phases,
        spec.output,
        spec.shard_bytes,
        spec.guards,
        spec.run,
        measures,
        resources,
        tuple(earlier),
        (*spec.warnings, *warnings),
        described,
        fingerprint(described),
        spec.tree,
        spec.base,
        spec.document,
    )


def _settled(spec: Spec) -> Spec:
    """The same with all its numbers found; see :meth:`Stage.settled`.

    Errors: ConfigError with every one that cannot be found.
    """
    faults = []
    entries: list[Step] = []
    for step in spec.steps:
        variants = []
        for case, stage in step.variants:
            try:
                inner = {
                    name: tuple((each, part.settled()) for each, part in value)
                    for name, value in vars(stage).items()
                    if isinstance(value, tuple) and value and _is_filter(value[0])
                }
                whole = replace(cast(Any, stage), **inner) if inner else stage
                variants.append((case, whole.settled()))
            except ConfigError as error:
                place = step.place if case is None else (*step.place, "cases", case)
                faults.append(spec.document.fault(place, str(error)))
        entries.append(replace(step, variants=tuple(variants)))
    if faults:
        raise ConfigError(faults)
    return replace(spec, entries=tuple(entries))


def describe(spec: Spec, resources: Mapping[str, str]) -> dict[str, Any]:
    """The plan as plain JSON values: what is printed, compared and fingerprinted."""
    return {
        "format": FORMAT,
        "text": {
            "unicode": _native.UNICODE_VERSION,
            "tokens": _native.TOKEN_TABLE_VERSION,
            "measures": _native.MEASURES_VERSION,
        },
        "sources": {
            source.name: {
                key: value for key, value in shown(source).items() if key not in ("name", "base")
            }
            for source in spec.sources
        },
        "stages": [{"name": step.name, **_described(step)} for step in spec.steps],
        "resources": dict(resources),
        "output": {"format": spec.output.format, "file_size": spec.output.file_size},
        "shard_bytes": spec.shard_bytes,
        "guards": spec.guards,
    }


def _described(step: Step) -> dict[str, Any]:
    stage = step.stages[0]
    made: dict[str, Any] = {"kind": step.kind, "version": stage.version}
    inner = {name: filter.version for variant in step.stages for name, filter in _inside(variant)}
    if inner:
        made["filter_versions"] = inner
    if step.when is not None:
        made["when"] = step.when.to_json()
    if step.per is None:
        made["parameters"] = shown(stage)[stage.kind]
    else:
        made["per"] = step.per
        made["cases"] = {
            "else" if label is None else label: shown(variant)[variant.kind]
            for label, variant in step.variants
        }
        if isinstance(step.otherwise, str):
            made["else"] = step.otherwise
    return made


def _inside(stage: Stage) -> Iterator[tuple[str, Stage]]:
    """The filters that a stage applies to parts of documents."""
    for value in vars(stage).values():
        for item in value if isinstance(value, tuple) else ():
            if _is_filter(item):
                yield item


def _is_filter(item: Any) -> bool:
    """Whether it is a (name, filter) pair."""
    return isinstance(item, tuple) and len(item) == 2 and isinstance(item[1], Stage)


def _other_order(spec: Spec, barrier: Sequence[Step]) -> Iterator[Fault]:
    """Whether the last of these stages wants another canonical order than one before."""
    *before, last = barrier
    for step in before:
        one, other = (cast(Barrier, each.stages[0]).ordering() for each in (step, last))
        if one and other and one != other:
            yield spec.document.fault(
                last.place,
                f'"{last.name}" prefers other documents than "{step.name}": duplicates are '
                "resolved together, in one order; say it in one of them, or the same in both",
            )
            return


def _phases(spec: Spec, faults: list[Fault]) -> tuple[Phase, ...]:
    """Cut the list at its barriers; adjacent rules for duplicates are one."""
    phases: list[Phase] = []
    steps: list[Step] = []
    barrier: list[Step] = []
    after: list[Step] = []
    for step in _known(spec):
        if not step.variants:
            continue
        stage = step.stages[0]
        if isinstance(stage, Barrier):
            barrier.append(step)
            if after:
                faults.append(
                    spec.document.fault(
                        step.place,
                        f'"{step.name}" must stand beside "{barrier[0].name}": '
                        "rules for duplicates are resolved together",
                    )
                )
            else:
                faults.extend(_other_order(spec, barrier))
        elif barrier:
            after.append(step)
            if _may_drop_or_change(step):
                faults.append(
                    spec.document.fault(
                        step.place,
                        f'"{step.name}" comes after "{barrier[0].name}": once duplicates are '
                        "resolved, a survivor must not be dropped or changed, or a duplicate "
                        "would name a document that is not in the output; move it before, or "
                        "give it no bounds",
                    )
                )
        elif isinstance(stage, CorpusRewriter):
            phases.append(Phase(tuple(steps), (step,)))
            steps = []
        else:
            steps.append(step)
    phases.append(Phase(tuple(steps), tuple(barrier)))
    if barrier:
        phases.append(Phase(tuple(after)))
    return tuple(phases)


def _known(spec: Spec) -> Iterator[Step]:
    """The steps, and what is known of the entries with faults."""
    for entry in spec.entries:
        step = entry.step if isinstance(entry, Broken) else entry
        if step is not None:
            yield step


def _may_drop_or_change(step: Step) -> bool:
    return step.otherwise == "drop" or any(
        not isinstance(stage, Filter) or stage.rules() for stage in step.stages
    )


def _resources(spec: Spec, faults: list[Fault]) -> dict[str, str]:
    """sha256 of every file the stages read."""
    found: dict[str, str] = {}
    for step in _known(spec):
        for case, stage in step.variants:
            place = step.place if case is None else (*step.place, "cases", case)
            below = _paths(spec.tree, step.place) | _paths(spec.tree, place)
            for resource in stage.resources():
                written = getattr(resource.path, "written", resource.path)
                try:
                    digest = file_sha256(resource.path)
                except OSError as error:
                    message = f"{resource.path}: {error.strerror}"
                    faults.append(spec.document.fault(below.get(written, place), message))
                    continue
                if resource.sha256 and resource.sha256.lower() != digest:
                    faults.append(
                        spec.document.fault(
                            place,
                            f"{resource.path}: its sha256 is {digest}, expected "
                            f"{resource.sha256}: the file is damaged or another one",
                        )
                    )
                found[written] = digest
    return found


def _texts(value: Any, place: Place) -> Iterator[tuple[str, Place]]:
    if isinstance(value, str):
        yield value, place
    elif isinstance(value, (Mapping, tuple)):
        for key, item in value.items() if isinstance(value, Mapping) else enumerate(value):
            yield from _texts(item, (*place, key))


def _paths(tree: Any, place: Place) -> dict[str, Place]:
    """The texts below a place of the file, and where each stands; of equal ones the last."""
    for part in place:
        if not isinstance(tree, (Mapping, tuple)):
            return {}  # a stage that is a name alone
        tree = tree.get(part) if isinstance(tree, Mapping) else tree[int(part)]
    return dict(_texts(tree, place))


def changes(before: Any, after: Any, place: str = "") -> list[str]:
    """What differs between two plain values, a sentence each."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        found = []
        for key in dict.fromkeys((*before, *after)):
            inner = f"{place}.{key}" if place else str(key)
            if key not in after:
                found.append(f"{inner}: was {_short(before[key])}, now gone")
            elif key not in before:
                found.append(f"{inner}: new, {_short(after[key])}")
            else:
                found.extend(changes(before[key], after[key], inner))
        if not found and list(before) != list(after):
            found.append(f"{place}: in another order")
        return found
    if _named(before) and _named(after):
        return changes({x["name"]: x for x in before}, {x["name"]: x for x in after}, place)
    same = json.dumps(before) == json.dumps(after)  # as the fingerprint: true is not 1
    return [] if same else [f"{place}: was {_short(before)}, now {_short(after)}"]


def _named(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(x, dict) and "name" in x for x in value)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:77] + "..."


def load_plan(
    document: Document,
    base: str,
    settings: Sequence[str] = (),
) -> Plan:
    """Parse, check and plan in one go; see :func:`parse_spec` and :func:`make_plan`."""
    return make_plan(parse_spec(document, base, settings))
