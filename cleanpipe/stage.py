"""The contracts: what a filter, a rewriter (of a corpus too), a barrier and a named set are.

A stage is a frozen dataclass of parameters. Only the parameters are pickled;
models and lists open lazily, once in each process (``functools.cached_property``).
The engine finds stages by discovery (:mod:`cleanpipe.registry`) and knows none by name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from cleanpipe.bounds import Bounds, Flags, Numbers
from cleanpipe.units import Units

Codes = npt.NDArray[np.uint16]
Rows = npt.NDArray[np.int64]
Unit = Literal["document", "paragraph", "line", "sentence"]
Measures: TypeAlias = Mapping[str, Numbers | pa.LargeStringArray]


@dataclass(frozen=True)
class Resource:
    """A file a stage reads: checked before any shard, its sha256 part of the plan.

    Attributes:
        path: where it is.
        sha256: what its content must be, or None (default) to record it only.
    """

    path: str
    sha256: str | None = None


@dataclass(frozen=True)
class Rule:
    """One thing a filter may reject a unit for.

    Attributes:
        name: its name within the stage, such as ``tokens``.
        measure: the measure it looks at, by its name within the stage.
        bounds: the range that passes; or a text for rules that are no range.
        only: (label, value): units with another value of this label of the filter's own are
            not judged by it. Default None: all are.
    """

    name: str
    measure: str
    bounds: Bounds | str
    only: tuple[str, str] | None = None

    def broken_by(self, value: float | None) -> str:
        """The bound that ``value`` breaks, as the drop record shows it; all where there is none."""
        if isinstance(self.bounds, str):
            return self.bounds
        return str(self.bounds) if value is None else self.bounds.broken_by(value)


@dataclass(frozen=True)
class Evidence:
    """Why a unit was rejected, beyond the number.

    Attributes:
        match: the word or passage.
        start, end: its byte offsets in the UTF-8 text that was judged, or None (default).
        test_set, test_item: whose text it is, or None (default) where it is no test item's.
        score: how much of the item was found, or None (default).
        parts: which parts of the item were found, such as ``question+answer``, or None (default).
        bound: the bound that was broken, where that differs from unit to unit; None (default)
            for the rule's.
        entry: which entry of which list the match is, as ``list: entry``, or None (default).
    """

    match: str
    start: int | None = None
    end: int | None = None
    test_set: str | None = None
    test_item: str | None = None
    score: float | None = None
    parts: str | None = None
    bound: str | None = None
    entry: str | None = None


MATCHED_BY = pa.schema(
    [
        ("action", pa.large_string()),
        ("test_set", pa.large_string()),
        ("test_item", pa.large_string()),
        ("evidence", pa.large_string()),
        ("score", pa.float64()),
        ("threshold", pa.float64()),
        ("match", pa.large_string()),
        ("match_start", pa.int64()),
        ("match_end", pa.int64()),
    ]
)
"""What a stage says of a match: what is done about it; whose text it is; which parts of the item
were found; how much of it, and how much it takes; the passage, and its byte offsets in the UTF-8
text as it was judged."""


@dataclass(frozen=True)
class TestSetInfo:
    """What a stage has of a test set.

    Attributes:
        name: as the matches call it.
        action: what is done about its matches.
        items: how many items it has.
        too_short: those of them that are too short to be judged, by their ids.
    """

    __test__: ClassVar[bool] = False  # pytest takes classes called so for tests

    name: str
    action: str
    items: int
    too_short: tuple[str, ...] = ()


class Stage(ABC):
    """What all stages share.

    Class attributes:
        kind: the name in pipeline files.
        version: raised whenever a verdict may change for the same text and parameters.
        uses_model: the stage runs a model; a dropped document never meets it.
        aliases: other spellings of parameters, such as ``{"words": "tokens"}``.
        matched: of a filter or rewriter of whole documents that looks for test items: a measure
            of its own that is above 0 where a document has matches. Default None.
    """

    kind: ClassVar[str]
    version: ClassVar[int] = 1
    uses_model: ClassVar[bool] = False
    aliases: ClassVar[Mapping[str, str]] = {}
    matched: ClassVar[str | None] = None

    def resources(self) -> tuple[Resource, ...]:
        """The files this stage reads. Default: none."""
        return ()

    def check(self) -> Iterable[tuple[str, str]]:
        """Faults that no single parameter shows: (parameter, a place in it as
        ``parameter.key``, or "", message). Default: none."""
        return ()

    def warnings(self) -> Iterable[str]:
        """Sentences about what is allowed, and likely a mistake. Default: none."""
        return ()

    def settled(self) -> Self:
        """Itself with every number that its parameters only say how to find; asked once, when a
        plan is made, and what comes of it is what runs. Default: itself.

        Errors: ConfigError where one cannot be found.
        """
        return self

    def needs(self) -> tuple[str, ...]:
        """Measures (full names) and labels of earlier stages that it looks at. Default: none."""
        return ()

    def numbers(self) -> tuple[str, ...]:
        """Those of :meth:`needs` that must be numbers, dates or times. Default: none."""
        return ()

    def mentions(self) -> Iterable[tuple[str, str]]:
        """Values of labels that it is about: (label, value). Default: none."""
        return ()

    def matches(self, units: Units) -> pa.Table:
        """Every match in these documents; called only for those where ``matched`` is above 0.

        Args:
            units: n documents, their texts as they were measured (before a rewriter's edits).

        Returns:
            ``unit`` (int64, index of the document, ascending) and the columns of
            :data:`MATCHED_BY`; of each document in an order that depends on it alone.
        """
        raise NotImplementedError

    def test_sets(self) -> Sequence[TestSetInfo]:
        """The test sets that it looks for, in order; every match is of one. Default: none."""
        return ()

    def item_text(self, test_set: str, item: str) -> str | None:
        """The text of a test item, for people to read, or None (default) where there is none."""
        return None

    def __getstate__(self) -> dict[str, Any]:
        # Models do not pickle, and must not travel: only the parameters do.
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


MOST_TOKENS = 2**31
"""More than any unit has."""
Tokens: TypeAlias = Annotated[int, Field(ge=0, le=MOST_TOKENS)]


@dataclass(frozen=True, kw_only=True)
class Filter(Stage):
    """Bounds on measures; never changes text. Without rules it is a scorer: it drops nothing.

    A filter over surface measures only declares :meth:`rules`. One with measures of
    its own overrides :meth:`measure` (and :meth:`takes` where it takes more than its
    rules look at), one that can show the culprit overrides :meth:`evidence`.

    Parameters, of every filter:
        min_tokens: units of fewer tokens are measured, and not judged. Default 0.

    Class attributes:
        labels: which of its measures are labels (text), not numbers; some of them may be taken
            with certain parameters only.
    """

    labels: ClassVar[tuple[str, ...]] = ()

    min_tokens: Tokens = 0

    def label_values(self) -> Mapping[str, Collection[str]]:
        """For each label that it knows all values of: these values. Default: none is known."""
        return {}

    @abstractmethod
    def rules(self) -> tuple[Rule, ...]:
        """The rules, in the order in which the first failing one is the reason."""

    def takes(self) -> tuple[str, ...]:
        """Names of the measures it takes and that are stored. Default: those of its rules."""
        return tuple(dict.fromkeys(rule.measure for rule in self.rules()))

    def measure(self, units: Units) -> Measures:
        """Take the measures.

        Args:
            units: n units of text.

        Returns:
            At least every name of :meth:`takes`: a float64 array of shape (n,), NaN where
            the unit is not to be judged, or a large_string array for labels.
        """
        return {name: units.value(name) for name in self.takes()}

    def failures(self, measures: Measures) -> list[Flags]:
        """Flags, shape (n,), for each of :meth:`rules`: which units fail it."""
        failures = []
        for rule in self.rules():
            if isinstance(rule.bounds, Bounds):
                failed = rule.bounds.fails(measures[rule.measure])
                if rule.only is not None:
                    label, value = rule.only
                    failed &= pc.fill_null(pc.equal(measures[label], value), False).to_numpy(
                        zero_copy_only=False
                    )
                failures.append(failed)
        return failures

    def judge(self, measures: Measures) -> Codes:
        """Judge numbers alone, never text, so that thresholds can be tried again.

        Returns:
            uint16, shape (n,): 0 for units to keep, k for those whose first failing
            rule is the k-th of :meth:`rules`.
        """
        size = len(next(iter(measures.values()))) if measures else 0
        codes = np.zeros(size, dtype=np.uint16)
        failures = self.failures(measures)
        for code in range(len(failures), 0, -1):
            codes[failures[code - 1]] = code
        return codes

    def bounded(self) -> dict[str, Bounds]:
        """Its parameters that are bounds and leave something out, by name, in order."""
        return _bounded(self)

    def within_documents(self) -> bool:
        """Whether it compares a unit with others of its document, so that documents are no units
        for it. Default: no."""
        return False

    def to_be_measured(self, units: Units) -> Flags:
        """Flags, shape (n,): which units to measure where nothing is stored of those that are not
        judged. Default: those of at least ``min_tokens`` tokens; all where units are compared
        (:meth:`within_documents`). It must not leave out any that :meth:`too_short` does not."""
        if self.min_tokens < 1 or self.within_documents():
            return np.ones(len(units), dtype=np.bool_)
        return units.number("tokens") >= self.min_tokens

    def too_short(self, units: Units, measures: Measures) -> Flags:
        """Flags, shape (n,): which units are not to be judged, for they are short; ``measures``
        are theirs as :meth:`measure` gave them."""
        if self.min_tokens < 1:
            return np.zeros(len(units), dtype=np.bool_)
        return units.number("tokens") < self.min_tokens

    def verdicts(self, units: Units, measures: Measures) -> tuple[list[Flags], Codes]:
        """:meth:`failures` and :meth:`judge`, but for units that are :meth:`too_short`."""
        judged = ~self.too_short(units, measures)
        failures = [failed & judged for failed in self.failures(measures)]
        codes = self.judge(measures)
        codes[~judged] = 0
        return failures, codes

    def evidence(self, units: Units, codes: Codes, measures: Measures) -> Sequence[Evidence | None]:
        """What in the text failed the rule; called with rejected units only.

        Args:
            units: the rejected units.
            codes: their codes as :meth:`judge` gave them, shape (n,).
            measures: theirs as :meth:`measure` gave them, each of length n.

        Returns:
            One entry a unit. Default: none has any.
        """
        return [None] * len(units)


@dataclass(frozen=True)
class Edits:
    """What a rewriter changes: byte ranges of the text before it, sorted, not overlapping.

    Attributes:
        unit: int64, shape (e,): index of the document in the batch, ascending.
        start, end: int64, shape (e,): byte offsets in its UTF-8 text.
        rule: uint16, shape (e,): 1-based place in the rewriter's ``rules()``.
        value: float64, shape (e,): the value that broke the rule, NaN where there is none.
        replacement: texts put in place of the ranges, empty for removal, or None (default) where
            all are removed.
        match: the word or passage that broke the rule, None where there is none to show, or
            None (default) where there never is.
    """

    unit: Rows
    start: Rows
    end: Rows
    rule: Codes
    value: Numbers
    replacement: Sequence[str] | None = None
    match: Sequence[str | None] | None = None

    def __len__(self) -> int:
        return len(self.unit)


class Rewriter(Stage):
    """Text -> edits; the engine applies and records them, so no change goes unseen."""

    @abstractmethod
    def rules(self) -> tuple[Rule, ...]:
        """What an edit can be made for."""

    def takes(self) -> tuple[str, ...]:
        """Names of the measures it stores (numbers only). Default: none."""
        return ()

    @abstractmethod
    def rewrite(self, units: Units) -> tuple[Edits, Measures]:
        """The edits to make in these documents, and the measures of :meth:`takes`."""


@dataclass(frozen=True)
class Repeats:
    """Passages that occurred before in the corpus.

    Attributes:
        unit: int64, shape (r,): index of the document in the batch, ascending.
        start: int64, shape (r,): byte offset in its UTF-8 text, as sketched; ascending in it.
        occurrence: int64, shape (r,): which one of the corpus it is: 2 for the second.
    """

    unit: Rows
    start: Rows
    occurrence: Rows

    def of(self, rows: Rows) -> Repeats:
        """Those in some of the documents, shape (n,), ascending; ``unit`` counts these alone."""
        unit = np.searchsorted(rows, self.unit)
        mine = np.flatnonzero(np.isin(self.unit, rows))
        return Repeats(unit[mine], self.start[mine], self.occurrence[mine])


class CorpusRewriter(Rewriter):
    """A rewriter of what occurred before in the corpus; it has a barrier of its own.

    All shards are sketched. Of each hash the first passage in source order, then by its place in
    the document, is the original; the phase after the barrier begins with :meth:`rewrite`, which
    is told of the others. Which these are depends on neither shards nor batches.
    """

    @abstractmethod
    def sketch(self, units: Units) -> pa.Table:
        """The passages of these documents that may repeat others.

        Returns:
            ``unit`` and ``start`` (int64, as in :class:`Repeats`, in that order) and ``hash``
            (uint64, evenly spread, the same for what is to count as the same).
        """

    @abstractmethod
    def rewrite(self, units: Units, repeats: Repeats | None = None) -> tuple[Edits, Measures]:
        """The edits to make in these documents, and the measures of :meth:`takes`.

        Args:
            units: the documents that were sketched.
            repeats: what of them occurred before; None (default) for nothing.

        Returns:
            An edit covers the ``start`` of the passage that it is made for, and of no other,
            and its value is the occurrence: so :mod:`cleanpipe.explain` knows them again.
        """


@dataclass(frozen=True)
class Sketch:
    """What a barrier's stage keeps of n documents.

    Attributes:
        documents: a row for each document that takes part: ``unit`` (int64, its index among the
            n, ascending, each once) and the columns of the stage's ``payload``.
        buckets: any number of rows a document: ``unit``; ``bucket`` (uint64, evenly spread);
            ``fingerprint`` (uint64) and ``compare`` (bool). Rows of one bucket and
            ``fingerprint`` with ``compare`` false say that documents are the *same*: they are
            duplicates of similarity 1 without a look. Rows of one bucket with ``compare`` true
            say that documents may be similar, and are to be compared; those that share the
            fingerprint too are the same by other rows, and one of them is compared for all.
    """

    documents: pa.Table
    buckets: pa.Table


class Barrier(Stage):
    """A stage that needs all shards: sketch (per shard), group, verify, resolve (once).

    The engine owns storage and shuffling: it brings equal buckets together, pairs each document
    with the first 16 of its bucket in canonical order, brings what :meth:`verify` needs of them
    together, and gives the edges found to :meth:`resolve`. A document's *number* is its place in
    source order; canonical order is the order of :meth:`order`, then of numbers. Adjacent barriers
    that resolve alike form one barrier and are resolved together.

    Class attributes:
        identity: whether documents that are the same to it are so to every stage, for their
            texts are equal; such a stage compares nothing. Default False.
    """

    identity: ClassVar[bool] = False

    @property
    @abstractmethod
    def payload(self) -> pa.Schema:
        """Columns of a sketch's ``documents`` besides ``unit``; survivors' are kept in
        ``index/`` for later runs."""

    @property
    @abstractmethod
    def measure_name(self) -> str:
        """Name of the similarity in drop records, such as ``jaccard``."""

    @property
    def reads_text(self) -> bool:
        """Whether :meth:`detail` needs the texts. Default True."""
        return True

    def ordering(self) -> Sequence[object]:
        """What :meth:`order` goes by, as plain values. Stages of one barrier that state any
        must state the same; it holds for all of them. Default: none."""
        return ()

    @property
    def against(self) -> Sequence[str]:
        """Output folders of earlier runs. Their survivors come before every document in canonical
        order and are never dropped. Default: none. A stage that has some overrides
        :meth:`buckets`."""
        return ()

    def comparable(self) -> Mapping[str, object]:
        """What must be equal in an earlier run, so that its payload can be compared with this
        one's: plain values by the names of parameters. Default: nothing."""
        return {}

    @abstractmethod
    def sketch(self, units: Units) -> Sketch:
        """What is needed of these documents at first."""

    def buckets(self, payload: pa.Table) -> pa.Table:
        """A sketch's ``buckets`` of documents of which there is nothing but the payload, shape
        (n,); ``unit`` is a row of it."""
        raise NotImplementedError

    def order(self, units: Units) -> list[npt.NDArray[np.uint64]]:
        """Keys of canonical order before source order, uint64, shape (n,) each: the lowest is
        first. Default: none."""
        return []

    def detail(self, payload: pa.Table, text: pa.LargeStringArray | None) -> pa.Array:
        """What :meth:`verify` needs of some documents; asked only of those that are compared.

        Args:
            payload: their rows of the sketch's ``documents``, shape (n,).
            text: their texts, or None where ``reads_text`` is false.

        Returns:
            Arrow array of shape (n,), always of one type.
        """
        raise NotImplementedError

    def verify(self, details: pa.Array, left: Rows, right: Rows) -> Numbers:
        """The similarity of pairs of documents: float64, shape (p,), NaN where they are none.

        Args:
            details: of n documents, as :meth:`detail` gave them.
            left, right: int64, shape (p,): the pairs, by place in ``details``.
        """
        raise NotImplementedError

    @staticmethod
    @abstractmethod
    def resolve(
        edges: Iterable[pa.Table], documents: int, stages: Sequence[Barrier]
    ) -> Iterator[pa.Table]:
        """Who goes, and for whom.

        Args:
            edges: tables of ``later``, ``earlier`` (int64 numbers), ``similarity`` (float64),
                ``same`` (bool) and ``rule`` (uint16, which of ``stages`` found it), together
                in canonical order of the later document; all edges of one document are in one
                table, one after another, in canonical order of the earlier one, then by rule.
                ``same`` edges lead to the first document of those that are the same.
            documents: how many documents there are.
            stages: the barrier's.

        Returns:
            Tables of ``later``, ``earlier``, ``similarity``, ``rule`` and ``pending`` (bool),
            one row a dropped document; ``earlier`` is its survivor, a document that is kept.
            Where ``pending`` is true, it is the same as ``earlier``, which is dropped and has
            its row in a table before: that one's ``earlier`` and ``similarity`` (and
            ``pending``) are to be put into this row.
        """


@dataclass(frozen=True, kw_only=True)
class NamedSet(Stage):
    """A macro over plain rules: expanded in the plan, overridable one by one.

    A member's stage is called ``<set>.<member>``; one whose name is empty is called like the set
    itself. Members that only a set makes may bear its ``kind``, by a base class that is no stage:
    the registry knows a class by the ``kind`` in its own body.

    Parameters, of every set:
        min_tokens: documents of fewer tokens are not judged by its filters, unless one has a
            number of its own. Default null, none (``language_pack``: those of the pack).

    Class attributes:
        labels: those that a member may take.
    """

    labels: ClassVar[tuple[str, ...]] = ()

    min_tokens: Tokens | None = None

    def bounded(self) -> dict[str, Bounds]:
        """Its parameters that are bounds and leave something out, by name, in order."""
        return _bounded(self)

    @abstractmethod
    def expand(self) -> Sequence[tuple[str, Stage]]:
        """Members in order: (name within the set, stage); a rule that is off is left out."""


def _bounded(stage: Filter | NamedSet) -> dict[str, Bounds]:
    named = ((field.name, getattr(stage, field.name)) for field in fields(stage))
    return {name: value for name, value in named if isinstance(value, Bounds) and value}


Filters: TypeAlias = tuple[tuple[str, Filter], ...]
"""A parameter that is a list of filters, as ``remove`` takes: (name, filter) pairs."""

__all__ = [
    "MATCHED_BY",
    "Barrier",
    "Codes",
    "CorpusRewriter",
    "Edits",
    "Evidence",
    "Filter",
    "Filters",
    "Measures",
    "NamedSet",
    "Repeats",
    "Resource",
    "Rewriter",
    "Rows",
    "Rule",
    "Sketch",
    "Stage",
    "TestSetInfo",
    "Unit",
    "Units",
    "cached_property",
]
