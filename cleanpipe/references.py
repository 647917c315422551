"""What each stage of a pipeline knows: names checked against what earlier stages take."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Literal

from cleanpipe import registry, surface
from cleanpipe.bounds import Bounds
from cleanpipe.document import Place
from cleanpipe.errors import Fault
from cleanpipe.parameters import nearest
from cleanpipe.spec import Broken, Spec, Step
from cleanpipe.stage import Filter, Rewriter, Stage
from cleanpipe.when import Equals, Not, Test, Within

Kind = Literal["number", "label", "hash"]


def full_name(step: Step, stage: Stage, measure: str) -> str:
    """``<stage>.<measure>``; a measure that another stage took keeps its name."""
    if isinstance(stage, (Filter, Rewriter)) and measure not in stage.takes() and "." in measure:
        return measure
    return f"{step.name}.{measure}"


class References:
    """Walks the list of stages once.

    Attributes:
        measures: full name -> kind of every column that ``measures/`` will have, in order.
        faults: names that no earlier stage takes, label values that no stage gives.
        warnings: sentences about what is allowed but likely a mistake.
    """

    def __init__(self, spec: Spec) -> None:
        self.measures: dict[str, Kind] = {}
        self.faults: list[Fault] = []
        self.warnings: list[str] = []
        self._spec = spec
        self._labels: set[str] = {"source", "url"}
        self._values: dict[str, Collection[str]] = {}
        self._taken_by: dict[str, int] = {}
        self._rewriters: list[str] = []
        self._broken: list[Broken] = []
        for entry in spec.entries:
            step = entry.step if isinstance(entry, Broken) else entry
            if step is not None:
                self._check(step)
            if isinstance(entry, Broken):
                self._broken.append(entry)
            else:
                self._take(entry)

    def _fault(self, place: Place, message: str) -> None:
        fault = self._spec.document.fault(place, message)
        if fault not in self.faults:  # a named set's members stand in one place
            self.faults.append(fault)

    def _check(self, step: Step) -> None:
        """The names and label values that a step looks at."""
        if step.per is not None:
            self._refer(step, (*step.place, "per"), step.per, label=True)
            for case, _ in step.variants:
                if case is not None:
                    self._value((*step.place, "cases", case), step.per, case)
        for name, test in step.when.tests if step.when else ():
            place = (*step.place[:-1], "when")
            self._refer(step, place, name)
            if name in self._labels and _bounds(test):
                self._fault((*place, name), f'"{name}" is a label, which has no bounds')
            for value in _wanted(test):
                self._value((*place, name), name, value)
        for stage in step.stages:
            for name in stage.needs():
                self._refer(step, step.place, name)
            for name in stage.numbers():
                if name == "source" or name in self._labels or self.measures.get(name) == "label":
                    self._fault(step.place, f'"{name}" is a label, which has no order')
            for label, value in stage.mentions():
                if label == "source" or label in self._labels:
                    self._value(step.place, label, value)
            rules = stage.rules() if isinstance(stage, (Filter, Rewriter)) else ()
            for name in {rule.measure for rule in rules if isinstance(rule.bounds, Bounds)}:
                if self.measures.get(name) == "label":
                    message = f'expected a measure that is a number: "{name}" is a label'
                    self._fault(step.place, message)

    def _refer(self, step: Step, place: Place, name: str, *, label: bool = False) -> None:
        if name.startswith("column.") or name in self._labels:
            return
        if any(entry.may_take(name) for entry in self._broken):
            return
        if not label and (name in surface.SURFACE or name in self.measures):
            if self._taken_by.get(name, len(self._rewriters)) < len(self._rewriters):
                since = ", ".join(self._rewriters[self._taken_by[name] :])
                self.warnings.append(
                    f'{step.name}: "{name}" was measured before {since} changed the text'
                    + _bare(name)
                )
            return
        known = [*self._labels] if label else [*self._labels, *self.measures, *surface.SURFACE]
        what = "label" if label else "measure or label"
        told = f'no earlier stage takes the {what} "{name}"; '
        if not any(fault.message.startswith(told) for fault in self.faults_at(place)):
            self._fault(place, told + (self._remedy(step, name, label) or nearest(name, known)))

    def faults_at(self, place: Place) -> list[Fault]:
        """Those found there so far: a named set's members stand in one place."""
        path = self._spec.document.fault(place, "").path
        return [fault for fault in self.faults if fault.path == path]

    def _remedy(self, step: Step, name: str, label: bool) -> str | None:
        """Which stage takes it: a later one, or one that the pipeline has not."""
        for later in self._spec.steps:
            for stage in later.stages:
                taken: Collection[str] = ()
                if isinstance(stage, (Filter, Rewriter)) and not label:
                    taken = stage.takes()
                labels = stage.labels if isinstance(stage, Filter) else ()
                names = {full_name(later, stage, measure) for measure in taken} | set(labels)
                if name in names and later.place != step.place:
                    return f'a later stage takes it: move "{later.name}" before "{step.name}"'
        for kind, cls in registry.stages().items():
            if issubclass(cls, Filter) and name in cls.labels:
                return f"put {kind}: {{}} before it"
        return None

    def _value(self, place: Place, label: str, value: str) -> None:
        if label == "source":
            known: Collection[str] = {source.name for source in self._spec.sources}
            # --input and calls on data replace the sources a file was written for.
            if known != set(self._spec.tree.get("sources") or ()):
                return
        else:
            known = self._values.get(label, ())
        if known and value not in known:
            self._fault(place, f'no document has the {label} "{value}"; {nearest(value, known)}')

    def _take(self, step: Step) -> None:
        """The measures and labels that a step adds."""
        for stage in step.stages:
            if not isinstance(stage, (Filter, Rewriter)):
                continue
            taken = stage.takes()
            labels = stage.labels if isinstance(stage, Filter) else ()
            own_labels = [label for label in labels if label in taken]
            for measure in taken:
                name = full_name(step, stage, measure)
                self.measures[name] = "label" if measure in own_labels else "number"
                self._taken_by[name] = len(self._rewriters) + isinstance(stage, Rewriter)
            self._labels.update(own_labels)
            if isinstance(stage, Filter):
                for label, values in stage.label_values().items():
                    self._values[label] = {*self._values.get(label, ()), *values}
        if any(isinstance(stage, Rewriter) for stage in step.stages):
            self._rewriters.append(step.name)
            self.measures[f"{step.name}.text_hash"] = "hash"


def _bounds(test: Test) -> bool:
    """Whether a test compares with numbers."""
    return _bounds(test.test) if isinstance(test, Not) else isinstance(test, Within)


def _wanted(test: Test) -> Iterator[str]:
    """The texts that a test compares with."""
    if isinstance(test, Not):
        yield from _wanted(test.test)
    elif isinstance(test, Equals):
        yield from (value for value in test.values if isinstance(value, str))


def _bare(name: str) -> str:
    bare = name.rpartition(".")[2]
    return f': write "{bare}" to measure the new text' if bare in surface.SURFACE else ""
