"""Replays one document from its source, and says why it was kept or dropped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cleanpipe.batch import Batch, Drop
from cleanpipe.bounds import Bounds, number
from cleanpipe.document import Document, frozen
from cleanpipe.errors import ConfigError, RunError
from cleanpipe.parse import parse_spec
from cleanpipe.phase import Judged, PhaseRun
from cleanpipe.plan import Plan, make_plan
from cleanpipe.readers import read
from cleanpipe.references import full_name
from cleanpipe.run import find_inputs
from cleanpipe.shards import Piece, count_lines, needs_scan, with_rows
from cleanpipe.sources import Source
from cleanpipe.stage import Filter
from cleanpipe.stats import Stats
from cleanpipe.store import Store
from cleanpipe.tasks import make_batch

_BATCH_BYTES = 8 * 2**20


@dataclass(frozen=True)
class Check:
    """One rule and what the document's measure said to it.

    Attributes:
        stage, rule, measure: their names.
        value: the measure, a number or a label, or None where it was not taken.
        bound: the range that passes.
        failed: whether it lies outside.
    """

    stage: str
    rule: str
    measure: str
    value: float | str | None
    bound: str
    failed: bool


@dataclass
class Explanation:
    """One document's way through the stages.

    Attributes:
        id, file, row, source: which document.
        text: as it was read.
        kept_text: as it was after all edits.
        checks: every rule that was judged, in order.
        edits: rows as in ``edits/``.
        measures: full name -> value, of every measure taken.
        drop: why it was dropped, or None where it was kept.
        agrees: whether the replay gives what the run stored.
        differences: what does not agree, a sentence each.
    """

    id: str
    file: str
    row: int
    source: str
    text: str
    kept_text: str
    checks: list[Check] = field(default_factory=list)
    edits: list[dict[str, Any]] = field(default_factory=list)
    measures: dict[str, float | str | None] = field(default_factory=dict)
    drop: Drop | None = None
    differences: list[str] = field(default_factory=list)

    @property
    def agrees(self) -> bool:
        return not self.differences

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"{self.id}  ({self.source}: {self.file}, row {self.row})"
        yield f"  text    {_excerpt(self.text)}"
        for check in self.checks:
            mark = "FAILS" if check.failed else "ok"
            name = _short(check.stage, check.rule, check.measure)
            yield f"  {mark:5}  {name} = {_value(check.value)}, passes {check.bound}"
        for edit in self.edits[:20]:
            done = "replaced" if edit["replacement"] is not None else "removed"
            found = f', found "{_excerpt(edit["match"], 60)}"' if edit["match"] else ""
            yield (
                f"  {done} bytes {edit['start']}-{edit['end']} by {edit['stage']}.{edit['rule']} "
                f"({_value(edit['value'])}, passes {edit['bound']}): "
                f"{_excerpt(edit['text'], 60)}{found}"
            )
        if len(self.edits) > 20:
            yield f"  ... and {len(self.edits) - 20} more edits"
        shown = {check.measure for check in self.checks}
        for name, value in self.measures.items():
            if name not in shown and value is not None:
                yield f"  {name} = {_value(value)}"
        yield f"  => {self.verdict}"
        for difference in self.differences:
            yield f"  DIFFERS from the stored record: {difference}"

    @property
    def verdict(self) -> str:
        """One sentence: kept, or dropped and why."""
        drop = self.drop
        if drop is None:
            return "kept"
        if drop.survivor_file is not None:
            return (
                f"dropped by {drop.stage}: {drop.measure} similarity "
                f"{_value(drop.similarity)} with {drop.survivor_id} "
                f"({drop.survivor_file}, row {drop.survivor_row}), which is kept"
            )
        if drop.measure is None:
            reason = f"dropped by {drop.stage}.{drop.rule}"
        else:
            shown = drop.match if drop.value is None else _value(drop.value)
            name = _short(drop.stage, drop.rule, drop.measure)
            reason = f"dropped by {name} = {shown}, passes {drop.bound}"
        if drop.match is not None and drop.value is not None:
            reason += f'; found "{_excerpt(drop.match, 60)}"'
            if drop.match_start is not None:
                reason += f" at bytes {drop.match_start}-{drop.match_end}"
        if drop.also_failed:
            reason += f"; also failed {', '.join(drop.also_failed)}"
        return reason

    def _repr_html_(self) -> str:
        import html

        return f"<pre>{html.escape(str(self))}</pre>"


def explain(folder: str, id: str) -> Explanation:
    """Replay one document of a run.

    Args:
        folder: the output folder.
        id: the document's id, or ``<file>:<row>``.

    Errors: ConfigError where there is no such document, or several have this id; RunError
    where its source has changed since.
    """
    store = Store(folder)
    if not store.exists("_run/plan.json"):
        raise ConfigError(f"{folder} holds no run")
    if not store.exists("summary.json"):
        raise ConfigError(f"the run in {folder} is not complete: the same command resumes it")
    key = _find(store, id)
    plan = stored_plan(store)
    stored = _row(store, f"measures/{key.part}", key)
    record = None if stored["kept"] else _row(store, f"dropped/{key.part}", key)
    explanation, batch = _replay(plan, key, record["stage"] if record else None)
    _compare(explanation, batch, stored, record)
    return explanation


def stored_plan(store: Store) -> Plan:
    """The plan of a run, from its folder.

    Errors: ConfigError where a model or list is gone or has changed.
    """
    saved = store.read_json("_run/plan.json")
    document = Document(frozen(saved["tree"]), "_run/plan.json")
    spec = parse_spec(document, saved["base"])
    sources = tuple(Source(**source) for source in frozen(saved["sources"]))
    plan = make_plan(replace(spec, sources=sources))
    before = saved["plan"]["resources"]
    changed = [name for name, digest in plan.resources.items() if before.get(name) != digest]
    if changed:
        raise ConfigError(f"changed since the run: {', '.join(changed)}")
    return plan


@dataclass(frozen=True)
class _Key:
    part: str
    file: str
    row: int
    id: str


def _find(store: Store, id: str) -> _Key:
    """The document of that id: a scan of the ids in ``measures/``."""
    file, _, row = id.rpartition(":")
    found: list[_Key] = []
    dead: list[str] = []
    for name in store.names("measures"):
        table = store.table(f"measures/{name}", ["id", "file", "row"])
        mask = pc.equal(table.column("id"), id)
        if file and row.isdecimal() and len(row) < 19:
            key = pc.and_(
                pc.equal(table.column("file"), file), pc.equal(table.column("row"), int(row))
            )
            mask = pc.or_(mask, key)
        found += [_Key(name, k["file"], k["row"], k["id"]) for k in table.filter(mask).to_pylist()]
    exact = [key for key in found if f"{key.file}:{key.row}" == id]
    if len(exact) == 1:
        return exact[0]
    if len(found) == 1:
        return found[0]
    if found:
        keys = ", ".join(f"{key.file}:{key.row}" for key in found[:10])
        raise ConfigError(f'{len(found)} documents have the id "{id}": name one by its key: {keys}')
    for name in store.names("dead"):
        rows = store.table(f"dead/{name}").to_pylist()
        dead += [f"{r['reason']}: {r['message']}" for r in rows if f"{r['file']}:{r['row']}" == id]
    if dead:
        raise ConfigError(f'"{id}" could not be read: {dead[0]}')
    raise ConfigError(f'no document has the id "{id}"; a key is written <file>:<row>')


def _replay(plan: Plan, key: _Key, dropped_by: str | None) -> tuple[Explanation, Batch]:
    batch = _read_one(plan, key)
    read_text = str(batch.text[0].as_py())
    checks: list[Check] = []

    def watch(judged: Judged) -> None:
        if not isinstance(judged.stage, Filter):
            return
        for rule, failed in zip(judged.stage.rules(), judged.failures, strict=True):
            if rule.only and judged.measures[rule.only[0]][0].as_py() != rule.only[1]:
                continue
            value = judged.measures[rule.measure][0]
            bounds = str(rule.bounds) if isinstance(rule.bounds, Bounds) else rule.bounds
            checks.append(
                Check(
                    judged.step.name,
                    rule.name,
                    full_name(judged.step, judged.stage, rule.measure),
                    _scalar(value),
                    bounds,
                    bool(failed[0]),
                )
            )

    edits: list[dict[str, Any]] = []
    for phase in plan.phases:
        edits += PhaseRun(phase.steps, plan.measures, Stats(), watch).run(batch).to_pylist()
        if not batch.alive[0] or dropped_by in {step.name for step in phase.barrier}:
            break
    measures = {
        name: _scalar(value[0])
        for name, value in batch.measures.items()
        if plan.measures[name] != "hash"
    }
    made = Explanation(
        key.id,
        key.file,
        key.row,
        str(batch.source[0].as_py()),
        read_text,
        str(batch.text[0].as_py()),
        checks,
        edits,
        measures,
        batch.drops.get(0),
    )
    return made, batch


def _read_one(plan: Plan, key: _Key) -> Batch:
    inputs = find_inputs(plan)
    pieces = [p for shard in inputs.shards for p in shard.pieces if p.file.file == key.file]
    if any(needs_scan(piece) for piece in pieces):
        counts = {(p.file.index, p.start): count_lines(p) for p in pieces if needs_scan(p)}
        shards = [s for s in inputs.shards if any(p.file.file == key.file for p in s.pieces)]
        pieces = [p for s in with_rows(shards, counts) for p in s.pieces if p.file.file == key.file]
    sources = {source.name: source for source in plan.sources}
    for piece in _holding(pieces, key.row):
        for part in read(piece, sources[piece.file.source], inputs.columns, _BATCH_BYTES):
            rows = part.table.column("row").to_numpy()
            place = np.flatnonzero(rows == key.row)
            if len(place):
                at = int(place[0])
                part.table, part.columns = part.table.slice(at, 1), part.columns.slice(at, 1)
                return make_batch(piece, part)
    raise RunError(f"{key.file} has no row {key.row} any more: it changed since the run")


def _holding(pieces: list[Piece], row: int) -> list[Piece]:
    """The piece that holds a row: the last one that does not begin after it."""
    before = [piece for piece in pieces if piece.first_row is None or piece.first_row <= row]
    return before[-1:]


def _compare(
    made: Explanation, batch: Batch, stored: dict[str, Any], record: dict[str, Any] | None
) -> None:
    """Note where the replay and the stored record differ; take over a barrier's verdict."""
    digest = batch.text_hash[0].as_py()
    if stored["text_hash"] != digest:
        made.differences.append("the source's text has changed")
    for name, value in made.measures.items():
        if stored[name] != value:
            made.differences.append(f"{name} was {_value(stored[name])}, now {_value(value)}")
    if record is None:
        if made.drop is not None:
            made.differences.append("it was kept")
        return
    if made.drop is None and record["survivor_file"] is not None:
        fields = Drop.__dataclass_fields__
        made.drop = Drop(**{name: record[name] for name in fields})
    elif made.drop is None:
        made.differences.append(f"it was dropped by {record['stage']}.{record['rule']}")
    else:
        for name, value in vars(made.drop).items():
            if record[name] != value:
                made.differences.append(f"{name} was {record[name]}, now {value}")


def _row(store: Store, name: str, key: _Key) -> dict[str, Any]:
    table = store.table(name)
    same = pc.and_(pc.equal(table.column("file"), key.file), pc.equal(table.column("row"), key.row))
    table = table.filter(same)
    row: dict[str, Any] = table.to_pylist()[0]
    return row


def _scalar(value: Any) -> float | str | None:
    if isinstance(value, pa.Scalar):
        value = value.as_py()
    if value is None or isinstance(value, str):
        return value
    return None if np.isnan(value) else float(value)


def _value(value: float | str | None) -> str:
    if value is None:
        return "not taken"
    return value if isinstance(value, str) else number(round(value, 6))


def _short(stage: str, rule: str, measure: str) -> str:
    """``stage.rule: measure``, no word said twice where the names agree."""
    # A named set's member is called like its rule, and a rule like what it looks at.
    name = stage if stage.endswith(f".{rule}") or rule == measure else f"{stage}.{rule}"
    return name if measure in (name, f"{stage}.{rule}") else f"{name}: {measure}"


def _excerpt(text: str, size: int = 200) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= size else flat[: size - 3] + "..."
