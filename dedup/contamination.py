"""The ``contamination`` stage: keeps the items of test sets out of training data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa

from cleanpipe.bounds import Bounds
from cleanpipe.dedup.hits import Hit, hits_of
from cleanpipe.dedup.item_index import ItemIndex
from cleanpipe.dedup.items import Tests, item_files, read_items
from cleanpipe.edits import REMOVED, removal
from cleanpipe.errors import ConfigError
from cleanpipe.parameters import LocalPath, LocalPaths, nearest
from cleanpipe.reference_texts import reference_files, reference_texts
from cleanpipe.stage import (
    MATCHED_BY,
    Codes,
    Edits,
    Evidence,
    Filter,
    Measures,
    NamedSet,
    Resource,
    Rewriter,
    Rule,
    Stage,
    TestSetInfo,
)
from cleanpipe.text import segments
from cleanpipe.units import Units

Action = Literal["drop", "cut", "flag"]
ACTIONS: tuple[Action, ...] = ("flag", "drop", "cut")
"""In the order of their stages: a label is of the text as it came, and what is dropped needs no
cut."""


@dataclass(frozen=True)
class Contamination(NamedSet):
    """Finds the items of test sets in documents: drops these, cuts the items out, or flags them.

    docs/contamination.md says how an item is found. It becomes one stage for each action that
    its sets have: called like itself where there is one, else ``<name>.flag``, ``<name>.drop``,
    ``<name>.cut``, in this order.

    Parameters:
        tests: test sets: a map of name to path or to ``{paths, fields, id, tokens, action}``, a
            path, or a list of paths (cleanpipe/dedup/items.py); or instead of it
        index: a file that ``cleanpipe index build`` wrote, which all workers of a machine map.
        action: ``drop`` the document, ``cut`` the sentences that hold a passage, or ``flag`` it
            with the label ``test_set``; or a map of set to action. A set's own ``action`` goes
            first. There is no default: each set needs one.
        threshold: the share of a part's weight that makes a passage, above 0, at most 1. Default:
            null, by the part's weight, from 0.77 for a light one down to 0.4 for a heavy one.
        min_weight: weight, in tokens, below which a part is not judged alone. Default: null, 4.0,
            of code 8.0, or what the index was built with.
        reference: files of ordinary texts, whose phrases then count for nothing: JSON lines or
            Parquet with a column ``text``, or text. Default: none, or what the index has.

    Measures: items (how many items were found), score (the best of their scores, 0 to 1; 0 where
    there is none).
    """

    kind: ClassVar[str] = "contamination"
    labels: ClassVar[tuple[str, ...]] = ("test_set",)

    tests: Tests | None = None
    index: LocalPath | None = None
    action: Action | Mapping[str, Action] | None = None
    threshold: float | None = None
    min_weight: float | None = None
    reference: LocalPaths = ()

    def check(self) -> Iterable[tuple[str, str]]:
        """Numbers out of range, sets that cannot be read, and sets without an action."""
        if self.tests is None and self.index is None:
            yield "", "expected tests, or an index of them"
            return
        if self.tests is not None and self.index is not None:
            yield "index", "expected tests or an index of them, got both: drop one"
            return
        if self.threshold is not None and not 0.0 < self.threshold <= 1.0:
            yield "threshold", f"expected a share above 0 and at most 1, got {self.threshold}"
        if self.min_weight is not None and not self.min_weight > 0.0:
            yield "min_weight", f"expected a weight above 0, got {self.min_weight}"
        if self.index is not None:
            for name in ("min_weight", "reference"):
                if getattr(self, name):
                    yield name, "the index has its own: say it to `cleanpipe index build`"
        faults = list(self._unreadable())
        yield from faults
        known = self._names() if self.index is None or not faults else []
        if isinstance(self.action, Mapping):
            for name in self.action:
                if name not in known:
                    yield "action", f'no test set is called "{name}"; {nearest(name, known)}'
        cut = [name for name in known if self._action(name) == "cut"]
        if self.min_tokens and cut:
            yield (
                "min_tokens",
                f"{', '.join(cut)} is cut, which judges no documents: write `when: {{tokens: "
                f"[{self.min_tokens}, null]}}` beside the stage",
            )
        missing = [name for name in known if self._action(name) is None]
        if missing:
            yield (
                "action" if self.action is not None else "",
                f"expected an action for {', '.join(missing)}: drop, cut or flag",
            )
        try:
            reference_files(self.reference)
        except ConfigError as error:
            yield "reference", str(error)

    def expand(self) -> Sequence[tuple[str, Stage]]:
        """A stage for each action."""
        names = self._names()
        chosen = {
            action: tuple(name for name in names if self._action(name) == action)
            for action in ACTIONS
        }
        chosen = {action: sets for action, sets in chosen.items() if sets}
        made: list[tuple[str, Stage]] = []
        for action, sets in chosen.items():
            tests = None if self.tests is None else {name: self.tests[name] for name in sets}
            stage = _STAGES[action](
                tests,
                self.index,
                sets,
                self.threshold,
                self.min_weight,
                self.reference,
            )
            made.append((action if len(chosen) > 1 else "", stage))
        return made

    def _unreadable(self) -> Iterator[tuple[str, str]]:
        """What is wrong with the files, set by set."""
        try:
            if self.index is not None:
                ItemIndex.open(self.index)
        except ConfigError as error:
            yield "index", str(error)
        for name, test_set in (self.tests or {}).items():
            try:
                read_items(test_set)
            except ConfigError as error:
                yield f"tests.{name}", str(error)

    def _names(self) -> list[str]:
        if self.tests is not None:
            return list(self.tests)
        assert self.index is not None
        return [entry.name for entry in ItemIndex.open(self.index).sets]

    def _action(self, name: str) -> Action | None:
        own = self.tests[name].action if self.tests is not None else None
        if own is not None:
            return own
        return self.action.get(name) if isinstance(self.action, Mapping) else self.action


@dataclass(frozen=True)
class _Search(Stage):
    """What the stages of all actions share; ``sets`` are those of one action."""

    kind: ClassVar[str] = "contamination"
    matched: ClassVar[str | None] = "items"
    action: ClassVar[Action]

    tests: Tests | None
    index: LocalPath | None
    sets: tuple[str, ...]
    threshold: float | None
    min_weight: float | None
    reference: LocalPaths

    def resources(self) -> tuple[Resource, ...]:
        """The files of the test sets, the index, the reference."""
        files = [path for each in (self.tests or {}).values() for path in item_files(each)]
        if self.index is not None:
            files.append(self.index)
        return tuple(Resource(path) for path in (*files, *reference_files(self.reference)))

    def takes(self) -> tuple[str, ...]:
        """``items`` and ``score``."""
        return ("items", "score")

    def measure(self, units: Units) -> Measures:
        """Look for the items."""
        return self._measures(self.hits(units.text), len(units))

    def matches(self, units: Units) -> pa.Table:
        """A row a hit."""
        data = units.strings
        rows: dict[str, list[Any]] = {name: [] for name in ("unit", *MATCHED_BY.names)}
        for hit in self.hits(units.text):
            values = (
                hit.unit,
                self.action,
                hit.set,
                hit.item,
                hit.evidence,
                hit.score,
                hit.threshold,
                _cut(data[hit.unit], hit.start, hit.end),
                hit.start,
                hit.end,
            )
            for column, value in zip(rows.values(), values, strict=True):
                column.append(value)
        schema = pa.schema([("unit", pa.int64()), *MATCHED_BY])
        return pa.table([pa.array(rows[name], schema.field(name).type) for name in rows], schema)

    def test_sets(self) -> Sequence[TestSetInfo]:
        """Those of this action."""
        return [
            TestSetInfo(entry.name, self.action, entry.items, entry.too_short)
            for entry in self.items.sets
            if entry.name in self.sets
        ]

    def warnings(self) -> Iterable[str]:
        """Sets of which little can be found."""
        for entry in self.items.sets:
            if entry.name in self.sets and 2 * len(entry.too_short) > entry.items:
                yield (
                    f"{len(entry.too_short)} of the {entry.items} items of the test set "
                    f'"{entry.name}" say too little to be looked for (docs/contamination.md): '
                    "more of `fields` may help"
                )

    def item_text(self, test_set: str, item: str) -> str | None:
        """The item as its set has it, its parts one under the other."""
        return self.items.item_text(test_set, item)

    @cached_property
    def items(self) -> ItemIndex:
        """What is looked for."""
        if self.index is not None:
            return ItemIndex.open(self.index)
        sets = [(name, each.tokens, read_items(each)) for name, each in (self.tests or {}).items()]
        files = reference_files(self.reference)
        reference = (lambda: reference_texts(files)) if files else None
        return ItemIndex.build(sets, self.min_weight, reference)

    def hits(self, texts: pa.LargeStringArray) -> list[Hit]:
        """Every item that is found, by document, then in the order of the sets and their items."""
        found = self.items.find(texts, self._needed, self.sets)
        return list(hits_of(self.items, texts, found, self.threshold))

    def _measures(self, hits: Sequence[Hit], size: int) -> dict[str, Any]:
        number, score = np.zeros(size), np.zeros(size)
        for hit in hits:
            number[hit.unit] += 1
            score[hit.unit] = max(score[hit.unit], hit.score)
        return {"items": number, "score": score}

    @cached_property
    def _needed(self) -> Any:
        return self.items.needed(self.threshold)


@dataclass(frozen=True)
class _Drop(_Search, Filter):
    """Drops documents in which an item is found."""

    action: ClassVar[Action] = "drop"

    def rules(self) -> tuple[Rule, ...]:
        """No item may be found."""
        return (Rule("items", "items", Bounds(None, 0.0)),)

    def evidence(self, units: Units, codes: Codes, measures: Measures) -> Sequence[Evidence | None]:
        """The item of the best score, the first of equals."""
        best: dict[int, Hit] = {}
        for hit in self.hits(units.text):
            if hit.unit not in best or hit.score > best[hit.unit].score:
                best[hit.unit] = hit
        shown: list[Evidence | None] = [None] * len(units)
        for unit, hit in best.items():
            match = _cut(units.strings[unit], hit.start, hit.end)
            shown[unit] = Evidence(
                match,
                hit.start,
                hit.end,
                test_set=hit.set,
                test_item=hit.item,
                score=hit.score,
                parts=hit.evidence,
                bound=f"< {hit.threshold:.6g}",
            )
        return shown


@dataclass(frozen=True)
class _Flag(_Search, Filter):
    """Labels documents in which an item is found: ``test_set`` has the sets, in their order."""

    action: ClassVar[Action] = "flag"
    labels: ClassVar[tuple[str, ...]] = ("test_set",)

    def rules(self) -> tuple[Rule, ...]:
        """None: it drops nothing."""
        return ()

    def takes(self) -> tuple[str, ...]:
        """``items``, ``score`` and the label ``test_set``."""
        return (*super().takes(), "test_set")

    def measure(self, units: Units) -> Measures:
        """Look for the items."""
        hits = self.hits(units.text)
        sets: dict[int, dict[str, None]] = {}
        for hit in hits:
            sets.setdefault(hit.unit, {})[hit.set] = None
        labels = [",".join(sets[unit]) if unit in sets else None for unit in range(len(units))]
        test_set = pa.array(labels, pa.large_string())
        return {**self._measures(hits, len(units)), "test_set": test_set}


class _Cut(_Search, Rewriter):
    """Takes out the sentences that hold a passage of an item, whole; code by its lines."""

    action: ClassVar[Action] = "cut"

    def rules(self) -> tuple[Rule, ...]:
        """An edit has the score of the item it is made for."""
        return (Rule("items", "score", "no item of a test set"),)

    def takes(self) -> tuple[str, ...]:
        """``items``, ``score``, ``removed_share`` and ``removed_units``."""
        return (*super().takes(), *REMOVED)

    def rewrite(self, units: Units) -> tuple[Edits, Measures]:
        """One edit a sentence, for the first of its items."""
        hits = self.hits(units.text)
        some = sorted({hit.unit for hit in hits})
        places = {unit: place for place, unit in enumerate(some)}
        parts = segments(units.text, "sentence")
        rule = np.zeros(len(parts), np.uint16)
        value = np.full(len(parts), np.nan)
        match: dict[int, str] = {}
        begin = np.searchsorted(parts.document, some)
        end = np.searchsorted(parts.document, some, side="right")
        for hit in hits:
            first, last = begin[places[hit.unit]], end[places[hit.unit]]
            for start, stop in hit.passages:
                low = first + np.searchsorted(parts.end[first:last], start, side="right")
                high = first + np.searchsorted(parts.start[first:last], stop)
                for place in range(low, high):
                    if not rule[place]:
                        rule[place], value[place] = 1, hit.score
                        match[place] = f"{hit.set}: {hit.item}"
        edits, removed = removal(units, parts, rule, value, match)
        return edits, {**self._measures(hits, len(units)), **removed}


_STAGES: Mapping[Action, type[_Search]] = {"drop": _Drop, "cut": _Cut, "flag": _Flag}


def _cut(text: str, start: int, end: int) -> str:
    return text.encode()[start:end].decode()
