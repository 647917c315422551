"""Replays one document from its source, and says why it was kept or dropped."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cleanpipe.barrier.repeats import rewriter
from cleanpipe.batch import Batch, Drop
from cleanpipe.bounds import Bounds
from cleanpipe.document import Document, frozen
from cleanpipe.errors import ConfigError, RunError
from cleanpipe.explanation import Check, Explanation, Match, value_text
from cleanpipe.parse import parse_spec
from cleanpipe.phase import Judged, PhaseRun, batch_units
from cleanpipe.plan import Plan, make_plan
from cleanpipe.readers import read
from cleanpipe.references import full_name
from cleanpipe.run import find_inputs
from cleanpipe.shards import Piece, count_lines, needs_scan, with_rows
from cleanpipe.sources import Source
from cleanpipe.spec import Step
from cleanpipe.stage import Filter, Repeats, Stage
from cleanpipe.stats import Stats
from cleanpipe.store import Store
from cleanpipe.tasks import make_batch

_BATCH_BYTES = 8 * 2**20


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
    explanation, batch = _replay(store, plan, key, record["stage"] if record else None)
    found = _rows(store, f"matches/{key.part}", key).to_pylist() if plan.matching else []
    _compare(explanation, batch, stored, record, found)
    drop = explanation.drop
    if drop is not None and drop.survivor_file is not None:
        name = f"{drop.survivor_file}:{drop.survivor_row}"
        if drop.survivor_run is None:
            survivor = _replay(store, plan, _find(store, name), drop.stage)[0]
        else:
            runs = {run.written: run.path for run in plan.earlier}
            survivor = explain(runs[drop.survivor_run], name)
        explanation.survivor_text = survivor.kept_text
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


def _replay(
    store: Store, plan: Plan, key: _Key, dropped_by: str | None
) -> tuple[Explanation, Batch]:
    batch = _read_one(plan, key)
    read_text = str(batch.text[0].as_py())
    checks: list[Check] = []
    judges: dict[str, tuple[Stage, str]] = {}

    def watch(judged: Judged) -> None:
        judges[judged.step.name] = judged.stage, str(batch.text[0].as_py())
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
    matches: list[dict[str, Any]] = []
    for number, phase in enumerate(plan.phases):
        run = PhaseRun(plan.run_in(number), plan.measures, Stats(), watch)
        records = run.run(batch)
        edits += records.edits.to_pylist()
        matches += records.matches.to_pylist()
        if not batch.alive[0]:
            break
        if phase.rewrites:
            batch.repeats = _stored_repeats(store, plan, phase.barrier[0], key, batch)
        elif dropped_by in {step.name for step in phase.barrier}:
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
    for row in matches:
        stage, text = judges[row["stage"]]
        item = stage.item_text(row["test_set"], row["test_item"])
        made.matches.append(Match(row, text, item))
    return made, batch


def _stored_repeats(store: Store, plan: Plan, step: Step, key: _Key, batch: Batch) -> Repeats:
    """What a corpus rewriter was told of one document. The rest of the corpus is not at hand, but
    ``edits/`` has what it made of it."""
    made = _rows(store, f"edits/{key.part}", key)
    made = made.filter(pc.equal(made["stage"], step.name))
    first, end = (made[name].to_numpy() for name in ("start", "end"))
    starts = rewriter(step).sketch(batch_units(batch, plan.measures))["start"].to_numpy()
    last = np.searchsorted(first, starts, side="right") - 1
    starts, last = starts[last >= 0], last[last >= 0]
    starts, last = starts[starts < end[last]], last[starts < end[last]]
    occurrence = made["value"].to_numpy()[last].astype(np.int64)
    return Repeats(np.zeros_like(starts), starts, occurrence)


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
    made: Explanation,
    batch: Batch,
    stored: dict[str, Any],
    record: dict[str, Any] | None,
    found: list[dict[str, Any]],
) -> None:
    """Note where the replay and the stored record differ; take over a barrier's verdict."""
    digest = batch.text_hash[0].as_py()
    if stored["text_hash"] != digest:
        made.differences.append("the source's text has changed")
    for name, value in made.measures.items():
        if stored[name] != value:
            made.differences.append(
                f"{name} was {value_text(stored[name])}, now {value_text(value)}"
            )
    matches = [match.row for match in made.matches]
    if found != matches:
        made.differences.append(f"test items found were {_items(found)}, now {_items(matches)}")
    if record is None:
        if made.drop is not None:
            made.differences.append("it was kept")
        return
    if made.drop is None and record["survivor_file"] is not None:
        fields = Drop.__dataclass_fields__
        made.drop = Drop(**{name: record[name] for name in fields if name in record})
    elif made.drop is None:
        made.differences.append(f"it was dropped by {record['stage']}.{record['rule']}")
    else:
        for name, value in vars(made.drop).items():
            stored_value = record.get(name)  # runs of earlier versions have fewer columns
            if stored_value != value:
                made.differences.append(f"{name} was {stored_value}, now {value}")


def _items(matches: list[dict[str, Any]]) -> str:
    """Test items as a difference names them."""
    keys = ("test_item", "test_set", "evidence", "score", "match_start", "match_end")
    shown = ("{} of {} ({}, score {}, bytes {}-{})".format(*map(m.get, keys)) for m in matches)
    return "; ".join(shown) or "none"


def _rows(store: Store, name: str, key: _Key) -> pa.Table:
    table = store.table(name)
    same = pc.and_(pc.equal(table.column("file"), key.file), pc.equal(table.column("row"), key.row))
    return table.filter(same)


def _row(store: Store, name: str, key: _Key) -> dict[str, Any]:
    row: dict[str, Any] = _rows(store, name, key).to_pylist()[0]
    return row


def _scalar(value: Any) -> float | str | None:
    if isinstance(value, pa.Scalar):
        value = value.as_py()
    if value is None or isinstance(value, str):
        return value
    return None if np.isnan(value) else float(value)
