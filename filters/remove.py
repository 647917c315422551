"""The ``remove`` rewriter: takes failing paragraphs, lines or sentences out of documents."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from cleanpipe.bounds import Numbers
from cleanpipe.edits import REMOVED, removal
from cleanpipe.fusion import taken_together
from cleanpipe.stage import Codes, Edits, Filters, Measures, Resource, Rewriter, Rule
from cleanpipe.surface import SURFACE
from cleanpipe.text import Segments, SubUnit, segments
from cleanpipe.units import Units, Value, rows_of


@dataclass(frozen=True)
class Remove(Rewriter):
    """Removes the units of a document that fail any of some filters.

    Nothing is added and what stays is not changed: with each run of removed units all
    separators around it go but one, the strongest (cleanpipe/text.py). A unit is removed
    for the first rule it fails, and meets no filter after that one.

    Parameters:
        unit: ``paragraph``, ``line`` or ``sentence``.
        failing: filters, each judging a unit as if it were a document. What they need of
            earlier stages (the language) is their document's.

    Measures:
        removed_share: characters removed, separators too, over all; 0 for an empty text.
        removed_units: how many units went.
    """

    kind: ClassVar[str] = "remove"

    unit: SubUnit
    failing: Filters

    @property
    def uses_model(self) -> bool:  # type: ignore[override]  # what is inside decides
        """Whether any of the filters does."""
        return any(stage.uses_model for _, stage in self.failing)

    def resources(self) -> tuple[Resource, ...]:
        """Those of the filters."""
        return tuple(found for _, stage in self.failing for found in stage.resources())

    def needs(self) -> tuple[str, ...]:
        """What the filters need."""
        return tuple(dict.fromkeys(name for _, stage in self.failing for name in stage.needs()))

    def check(self) -> Iterable[tuple[str, str]]:
        """That there are filters, each with bounds; its own faults it has reported itself."""
        if not self.failing:
            yield "failing", "expected at least one filter"
        for name, stage in self.failing:
            if not stage.rules():
                yield "failing", f'"{name}" has no bounds: no unit would ever fail it'

    def rules(self) -> tuple[Rule, ...]:
        """Those of the filters, as ``<filter>.<rule>`` with the measure ``<filter>.<measure>``."""
        return tuple(
            Rule(
                f"{name}.{rule.name}",
                # A measure of an earlier stage keeps its name.
                f"{name}.{rule.measure}" if rule.measure in stage.takes() else rule.measure,
                rule.bounds,
            )
            for name, stage in self.failing
            for rule in stage.rules()
        )

    def takes(self) -> tuple[str, ...]:
        """``removed_share`` and ``removed_units``."""
        return REMOVED

    def rewrite(self, units: Units) -> tuple[Edits, Measures]:
        """One edit a removed unit; it takes its share of the separators along."""
        parts = segments(units.text, self.unit)
        return removal(units, parts, *self._judge(units, parts))

    def _judge(self, units: Units, parts: Segments) -> tuple[Codes, Numbers, dict[int, str]]:
        """For each unit the first rule it fails, from 1 on, or 0; the value that did; and of
        those that have it, by their place, the word or passage that did."""
        known = {
            name: _spread(units.value(name), parts)
            for name in self.needs()
            if name not in SURFACE  # a unit has its own
        }
        together = [taken_together(stage for _, stage in self.failing)]
        every = Units(parts.texts, known, together=together, document=parts.document)
        rule = np.zeros(len(parts), dtype=np.uint16)
        value = np.full(len(parts), np.nan)
        match: dict[int, str] = {}
        left = np.arange(len(parts))
        before = 0
        for _, stage in self.failing:
            if not len(left):
                break
            # Those that are too short would be measured for nothing.
            judged = left[stage.to_be_measured(every.take(left))]
            some = every if len(judged) == len(every) else every.take(judged)
            measures = stage.measure(some)
            _, codes = stage.verdicts(some, measures)
            failing = np.flatnonzero(codes)
            theirs = {name: rows_of(taken, failing) for name, taken in measures.items()}
            found = stage.evidence(some.take(failing), codes[failing], theirs)
            places = judged[failing].tolist()
            match.update((at, one.match) for at, one in zip(places, found, strict=True) if one)
            rules = stage.rules()
            for code in np.unique(codes[codes > 0]).tolist():
                failed = codes == code
                rule[judged[failed]] = before + code
                taken = measures[rules[code - 1].measure]
                if isinstance(taken, np.ndarray):
                    value[judged[failed]] = taken[failed]
            left = left[rule[left] == 0]
            before += len(rules)
        return rule, value, match


def _spread(value: Value, parts: Segments) -> Value:
    """What is known of the documents, for each of their units."""
    if isinstance(value, np.ndarray):
        return value[parts.document]
    return value.take(pa.array(parts.document, pa.int64()))
