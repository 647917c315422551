"""Runs the stages of a phase over a batch: measures, verdicts, edits, reasons."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cleanpipe.batch import EDITS, TEXT, Batch, Drop, Records, text_hashes
from cleanpipe.bounds import Flags
from cleanpipe.edits import apply_edits, edit_table, in_document_order, match_table
from cleanpipe.errors import CleanpipeError, StageError
from cleanpipe.fusion import groups
from cleanpipe.references import Kind, full_name
from cleanpipe.spec import Step
from cleanpipe.stage import CorpusRewriter, Filter, Measures, Rewriter, Rows, Stage
from cleanpipe.stats import Stats
from cleanpipe.units import Units, Value, rows_of


@dataclass(frozen=True)
class Judged:
    """What one stage made of some documents; for :mod:`cleanpipe.explain`.

    Attributes:
        rows: the documents' places in the batch.
        measures: what was taken, each of the length of ``rows``.
        failures: flags for each rule, each of the length of ``rows``.
    """

    step: Step
    stage: Stage
    rows: Rows
    measures: Measures
    failures: Sequence[Flags]


class PhaseRun:
    """Runs the steps of a phase over the batches of one shard, in order.

    Args:
        steps: the phase's filters and rewriters.
        kinds: full name -> kind of every measure of the plan.
        stats: counts are added here.
        watch: is told of every judgement. Default: nobody is.
    """

    def __init__(
        self,
        steps: Sequence[Step],
        kinds: Mapping[str, Kind],
        stats: Stats,
        watch: Callable[[Judged], None] | None = None,
    ) -> None:
        self.steps = steps
        self.kinds = kinds
        self.stats = stats
        self.watch = watch

    def run(self, batch: Batch) -> Records:
        """Run every step on ``batch``, which is changed in place; returns the edits made, and
        the matches found."""
        records: list[Records] = []
        units = batch_units(batch, self.kinds, groups(self.steps))
        # Documents a filter still looks at: the living, and the dropped up to the next rewriter.
        watched = batch.alive.copy()
        for place, step in enumerate(self.steps):
            start = time.perf_counter()
            counts = self.stats.stage(step.name)
            counts.documents_in += int(batch.alive.sum())
            before = batch.alive.copy()
            eligible = before if _needs_life(step) else watched
            rows = np.flatnonzero(eligible)
            if step.when is not None and len(rows):
                rows = rows[step.when.holds(len(rows), units.take(rows).value)]
            counts.judged += int(before[rows].sum())
            for stage, chosen in self._chosen(step, rows, units, batch):
                with blamed(step):
                    theirs = units.take(chosen)
                    measures: Measures = {}
                    edits = EDITS.empty_table()
                    if isinstance(stage, Filter):
                        measures = self._filter(step, stage, chosen, theirs, batch)
                    elif isinstance(stage, Rewriter):
                        edits, measures = self._rewrite(step, stage, chosen, theirs, batch)
                        counts.units_removed += len(edits)
                    matches = _matches(step, stage, chosen, theirs, measures, batch)
                    records.append(Records(edits, matches))
            if _rewrites(step):
                watched = batch.alive.copy()
                units = batch_units(batch, self.kinds, groups(self.steps[place + 1 :]))
            counts.dropped += int(before.sum() - batch.alive.sum())
            count_losses(self.stats, step.name, batch.source, before, batch.alive)
            counts.seconds += time.perf_counter() - start
        return in_document_order(records, batch)

    def _chosen(
        self, step: Step, rows: Rows, units: Units, batch: Batch
    ) -> Iterator[tuple[Stage, Rows]]:
        """Each variant with its documents; those that no case is for are dropped on ``drop``."""
        if not len(rows):
            return
        if step.per is None:
            yield step.variants[0][1], rows
            return
        labels = pc.take(pa.array(units.value(step.per)), pa.array(rows, pa.int64())).cast(TEXT)
        rest = np.ones(len(rows), dtype=np.bool_)
        for index, (label, stage) in enumerate(step.variants):
            if index == step.otherwise:
                continue
            chosen = pc.fill_null(pc.equal(labels, label), False).to_numpy(zero_copy_only=False)
            rest &= ~chosen
            if chosen.any():
                yield stage, rows[chosen]
        if isinstance(step.otherwise, int):
            if rest.any():
                yield step.variants[step.otherwise][1], rows[rest]
        elif step.otherwise == "drop":
            cases = ", ".join(str(label) for label, _ in step.variants)
            for place in np.flatnonzero(rest):
                row = int(rows[place])
                if batch.alive[row]:
                    label = labels[int(place)].as_py()
                    batch.alive[row] = False
                    batch.drops[row] = Drop(
                        step.name, "else", step.per, bound=f"in {cases}", match=label
                    )
                else:
                    batch.drops[row].also_failed.append(f"{step.name}.else")

    def _filter(
        self, step: Step, stage: Filter, rows: Rows, units: Units, batch: Batch
    ) -> Measures:
        measures = stage.measure(units)
        for name in stage.takes():
            self._store(batch, full_name(step, stage, name), rows, measures[name])
        rules = stage.rules()
        short = stage.too_short(units, measures) & batch.alive[rows]
        self.stats.stage(step.name).too_short += int(short.sum())
        if not rules:
            if self.watch:
                self.watch(Judged(step, stage, rows, measures, ()))
            return measures
        failures, codes = stage.verdicts(units, measures)
        if self.watch:
            self.watch(Judged(step, stage, rows, measures, failures))
        newly = np.flatnonzero((codes > 0) & batch.alive[rows])
        if len(newly):
            theirs = {name: rows_of(value, newly) for name, value in measures.items()}
            evidence = stage.evidence(units.take(newly), codes[newly], theirs)
            for place, shown in zip(newly.tolist(), evidence, strict=True):
                rule = rules[codes[place] - 1]
                value = measures[rule.measure][place]
                number = float(value) if isinstance(value, (float, np.floating)) else None
                drop = Drop(
                    step.name,
                    rule.name,
                    full_name(step, stage, rule.measure),
                    number,
                    rule.broken_by(number),
                )
                if shown is not None:
                    drop.match, drop.match_start, drop.match_end = (
                        shown.match,
                        shown.start,
                        shown.end,
                    )
                    drop.test_set, drop.test_item = shown.test_set, shown.test_item
                    drop.test_score, drop.test_evidence = shown.score, shown.parts
                    drop.match_entry = shown.entry
                    if shown.bound is not None:
                        drop.bound = shown.bound
                batch.drops[int(rows[place])] = drop
        failed_places = np.flatnonzero(codes > 0)
        alive = batch.alive[rows]
        for code, (rule, failed) in enumerate(zip(rules, failures, strict=True), 1):
            also = failed & (codes > 0) & ~(alive & (codes == code))
            for row in rows[also].tolist():
                batch.drops[row].also_failed.append(f"{step.name}.{rule.name}")
        batch.alive[rows[failed_places]] = False
        return measures

    def _rewrite(
        self, step: Step, stage: Rewriter, rows: Rows, units: Units, batch: Batch
    ) -> tuple[pa.Table, Measures]:
        if isinstance(stage, CorpusRewriter):
            edits, measures = stage.rewrite(units, batch.repeats and batch.repeats.of(rows))
        else:
            edits, measures = stage.rewrite(units)
        for name in stage.takes():
            self._store(batch, full_name(step, stage, name), rows, measures[name])
        if self.watch:
            self.watch(Judged(step, stage, rows, measures, ()))
        if not len(edits):
            return EDITS.empty_table(), measures
        changed, texts = apply_edits(units.text, edits)
        table = edit_table(step, stage, edits, rows, units.text, batch)
        new = pa.array(texts, TEXT)
        places = rows[changed]
        batch.text = _put(batch.text, places, new)
        hashes = pa.nulls(len(batch), pa.binary(16))
        name = f"{step.name}.text_hash"
        earlier = batch.measures.get(name)
        batch.measures[name] = _put(
            hashes if earlier is None else earlier, places, text_hashes(new)
        )
        for place, text in zip(places.tolist(), texts, strict=True):
            if not text:
                batch.alive[place] = False
                batch.drops[place] = Drop(step.name, "empty")
        return table, measures

    def _store(self, batch: Batch, name: str, rows: Rows, values: Value) -> None:
        size = len(batch)
        if isinstance(values, np.ndarray):
            stored = batch.measures.get(name)
            stored = np.full(size, np.nan) if stored is None else stored.copy()
            stored[rows] = values
            batch.measures[name] = stored
        else:
            earlier = batch.measures.get(name)
            base = pa.nulls(size, TEXT) if earlier is None else earlier
            batch.measures[name] = _put(base, rows, values)


def _matches(
    step: Step, stage: Stage, rows: Rows, units: Units, measures: Measures, batch: Batch
) -> pa.Table:
    """The matches of a stage that looks for any, in the texts that it measured."""
    if stage.matched is None:
        return Records().matches
    value = measures[stage.matched]
    assert isinstance(value, np.ndarray), f"{stage.matched} is a label"
    those = np.flatnonzero(value > 0)
    if not len(those):
        return Records().matches
    return match_table(step, stage.matches(units.take(those)), rows[those], batch)


@contextmanager
def blamed(step: Step) -> Iterator[None]:
    """Name the stage, file and line where a stage's own code failed.

    Errors: StageError.
    """
    try:
        yield
    except (CleanpipeError, MemoryError, OSError):
        raise
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        raise StageError(
            f'stage "{step.name}" ({step.kind}): {type(error).__name__}: {error} '
            f"({last.filename}:{last.lineno}); --debug shows the traceback"
        ) from error


def count_losses(stats: Stats, stage: str, source: pa.Array, before: Flags, after: Flags) -> None:
    """Note which sources' documents a stage dropped."""
    for name in pc.unique(source).to_pylist():
        chosen = pc.equal(source, name).to_numpy(zero_copy_only=False)
        reached, left = int((before & chosen).sum()), int((after & chosen).sum())
        stats.lose(name, stage, reached, reached - left)


def batch_units(
    batch: Batch, kinds: Mapping[str, Kind], together: Sequence[Collection[str]] = ()
) -> Units:
    """The documents of a batch as they are now, with all that is known of them.

    Args:
        kinds: full name -> kind of every measure of the plan.
        together: groups of surface measures to take in one go. Default: none.
    """

    def find(name: str) -> Value | None:
        if name in batch.measures:
            return batch.measures[name]
        if name == "source":
            return batch.source
        if name == "url":
            return batch.url
        if name.startswith("column."):
            column = name.removeprefix("column.")
            if column in batch.columns.schema.names:
                return batch.columns.column(column)
            return pa.nulls(len(batch), TEXT)
        if kinds.get(name) == "number":  # of a stage that was for no document of this batch
            return np.full(len(batch), np.nan)
        if kinds.get(name) == "label":
            return pa.nulls(len(batch), TEXT)
        return batch.label(name, kinds)

    return Units(batch.text, find=find, together=together)


def _needs_life(step: Step) -> bool:
    """A dropped document meets no model and no rewriter."""
    return any(stage.uses_model or isinstance(stage, Rewriter) for stage in step.stages)


def _rewrites(step: Step) -> bool:
    return any(isinstance(stage, Rewriter) for stage in step.stages)


def _put(base: pa.Array, rows: Rows, values: pa.Array) -> pa.Array:
    """``base`` with ``values`` at ``rows`` (no row twice)."""
    if len(rows) == len(base):
        if isinstance(values, pa.ChunkedArray):
            values = values.combine_chunks()
        return values.cast(base.type)
    index = np.arange(len(base))
    index[rows] = len(base) + np.arange(len(rows))
    both = pa.concat_arrays([base, values.cast(base.type)])
    return both.take(pa.array(index, pa.int64()))
