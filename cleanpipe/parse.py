"""A pipeline file to a specification, with all of its faults at once."""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import re
import typing
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from cleanpipe import registry
from cleanpipe.bounds import Bounds, plain_text
from cleanpipe.defaults import half_written
from cleanpipe.document import Document, Place, dotted, frozen
from cleanpipe.errors import ConfigError, Fault
from cleanpipe.overrides import override
from cleanpipe.parameters import build, nearest
from cleanpipe.sources import Source
from cleanpipe.spec import TOP_LEVEL, Broken, Output, PlanOptions, RunOptions, Spec, Step
from cleanpipe.stage import Barrier, CorpusRewriter, Filter, Filters, NamedSet, Stage
from cleanpipe.surface import SURFACE
from cleanpipe.when import When, parse_when

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


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
        self.warnings: list[str] = []
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
        tree, faults, places = override(tree, settings, TOP_LEVEL, self.base)
        self.document = self.document.changed(tree, places)
        self.faults.extend(Fault(0, 0, path, message, "--set") for path, message in faults)
        for key in tree:
            if key not in TOP_LEVEL:
                self.fault((key,), f"unknown key; {nearest(key, list(TOP_LEVEL))}")
        sources = self.sources(tree.get("sources"))
        entries = self.entries(tree.get("stages"))
        output = self.section(Output, "output", tree)
        run = self.section(RunOptions, "run", tree)
        top = self.section(PlanOptions, None, tree)
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
            tuple(dict.fromkeys(self.warnings)),
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
            self.fault(place, f"expected a map of parameters, got {plain_text(values)}")
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
            if issubclass(cls, (Barrier, CorpusRewriter)):
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
            for step in steps:
                if any(isinstance(s, Filter) and s.within_documents() for s in step.stages):
                    self.fault(
                        inner,
                        "compares paragraphs, lines or sentences of a document: put it into the "
                        '"failing" of a "remove"',
                    )
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
        return [Broken(known, cls.labels if issubclass(cls, (Filter, NamedSet)) else ())]

    def head(self, entry: Any, place: Place) -> tuple[type[Stage], str, Any, str] | None:
        """Which kind an entry is, its parameters and its name; None where one is not known."""
        if isinstance(entry, str):
            entry = {entry: None}
        if not isinstance(entry, Mapping) or not entry:
            self.fault(
                place,
                "expected a stage such as {length: {tokens: [50, null]}}, "
                f"got {plain_text(entry)}",
            )
            return None
        kinds = [key for key in entry if key not in ("name", "when")]
        known = registry.stages()
        if len(kinds) != 1:
            unknown = [kind for kind in kinds if kind not in known]
            stage = next((kind for kind in kinds if kind in known), None)
            for kind in unknown:
                likely = difflib.get_close_matches(kind, ("name", "when"), n=1)
                message = f"unknown stage; {nearest(kind, list(known))}"
                if stage is not None and not likely:
                    message = (
                        "beside a stage only name and when may stand; is it a parameter of "
                        f"{stage}, indented too little?"
                    )
                self.fault((*place, kind), message)
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
                f"expected letters, digits, _ or -, and none of {', '.join(TOP_LEVEL)}, "
                f"got {plain_text(name)}",
            )
            return None
        if kind not in known:
            rule = _as_rule(kind, entry[kind])
            self.fault((*place, kind), rule or f"unknown stage; {nearest(kind, list(known))}")
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
        if len(self.faults) > count:
            return None
        for inner, sentence in half_written(cls, values or {}, self.base):
            self.warnings.append(f"{dotted((*place, *inner))} {sentence}")
        return made

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
            if isinstance(parameters, Mapping) and "per" in parameters:
                self.fault(
                    (*inner, kind, "per"),
                    'no cases here: put per beside "unit", with a "failing" for each case',
                )
                continue
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
            self.fault((*place, "per"), f"expected the name of a label, got {plain_text(label)}")
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
                self.fault(inner, f"expected a map of parameters, got {plain_text(parameters)}")
                continue
            add(value, parameters or {}, inner)
        rest: Literal["keep", "drop"] | int = "keep"
        if isinstance(otherwise, Mapping):
            add(None, otherwise, (*place, "else"))
            rest = len(made) - 1
        elif otherwise in ("keep", "drop"):
            rest = otherwise
        elif "else" in values:
            self.fault(
                (*place, "else"), f"expected keep, drop or parameters, got {plain_text(otherwise)}"
            )
        users = [*cases.values(), *([otherwise] if isinstance(otherwise, Mapping) else [])]
        for key in shared if users else ():
            if all(isinstance(own, Mapping) and key in own for own in users):
                self.fault((*place, key), "every case has its own: this one is never used")
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


def _as_rule(kind: str, value: Any) -> str | None:
    """What to write, where a measure stands in a stage's place."""
    if kind not in SURFACE:
        return None
    sides: Mapping[str, Any] = {}
    with contextlib.suppress(ValueError):
        sides = Bounds.parse(value).sides()
    rule = plain_text({"measure": kind, **sides})
    return f"is a measure, and no stage: write rule: {rule}"


def _expanded(stage: Stage) -> list[tuple[str, Stage]]:
    if not isinstance(stage, NamedSet):
        return [("", stage)]
    made = []
    for member, rule in stage.expand():
        if stage.min_tokens and isinstance(rule, Filter) and not rule.min_tokens:
            rule = dataclasses.replace(rule, min_tokens=stage.min_tokens)
        made.append((f".{member}" if member else "", rule))
    return made


def document_of(tree: Mapping[str, Any]) -> Document:
    """A configuration given as a dictionary."""
    return Document(frozen(tree))
