"""One document's way through the stages, as a person reads it."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from cleanpipe._native import token_counts
from cleanpipe.batch import Drop
from cleanpipe.bounds import number
from cleanpipe.passages import marked, shared_passages

_SHOWN = 20
"""Test items that are shown of one document."""
_BESIDE = 30
"""Characters shown on each side of the word or passage that a document was dropped for."""
_AROUND = 100
"""Bytes of the document before and after a match that are shown with it."""


_CONTROLS = dict.fromkeys([*range(0x20), *range(0x7F, 0xA0)], "\ufffd")
"""What a terminal would obey: ids and texts are shown, and not obeyed."""


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


@dataclass(frozen=True)
class Match:
    """A test item that was found in the document.

    Attributes:
        row: as in ``matches/``.
        text: the document's text in which it was found.
        item_text: the item's, or None where the stage does not have it.
    """

    row: dict[str, Any]
    text: str
    item_text: str | None


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
        survivor_text: of a duplicate, its survivor's text as the two were compared; else None.
        matches: test items that were found in it.
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
    survivor_text: str | None = None
    matches: list[Match] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)

    @property
    def agrees(self) -> bool:
        return not self.differences

    def __str__(self) -> str:
        return "\n".join(line.translate(_CONTROLS) for line in self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"{self.id}  ({self.source}: {self.file}, row {self.row})"
        yield f"  text    {_excerpt(self.text)}"
        for check in self.checks:
            mark = "FAILS" if check.failed else "ok"
            name = _short(check.stage, check.rule, check.measure)
            says = "must be" if check.failed else "passes"
            yield f"  {mark:5}  {name} = {value_text(check.value)}, {says} {check.bound}"
        for edit in self.edits[:20]:
            done = "replaced" if edit["replacement"] is not None else "removed"
            found = f', found "{_excerpt(edit["match"], 60)}"' if edit["match"] else ""
            yield (
                f"  {done} bytes {edit['start']}-{edit['end']} by {edit['stage']}.{edit['rule']} "
                f"({value_text(edit['value'])}, must be {edit['bound']}): "
                f"{_excerpt(edit['text'], 60)}{found}"
            )
        if len(self.edits) > 20:
            yield f"  ... and {len(self.edits) - 20} more edits"
        shown = {check.measure for check in self.checks}
        for name, value in self.measures.items():
            if name not in shown and value is not None:
                yield f"  {name} = {value_text(value)}"
        yield f"  => {self.verdict}"
        if self.survivor_text is not None:
            yield from _compared(self.kept_text, self.survivor_text, "survivor")
        if self.matches:
            yield "  test items found"
        for match in self.matches[:_SHOWN]:
            yield from _found(match)
        if len(self.matches) > _SHOWN:
            yield f"  ... and {len(self.matches) - _SHOWN} more test items"
        for difference in self.differences:
            yield f"  DIFFERS from the stored record: {difference}"

    @property
    def verdict(self) -> str:
        """One sentence: kept, or dropped and why."""
        drop = self.drop
        if drop is None:
            return "kept"
        if drop.survivor_file is not None:
            run = f" in {drop.survivor_run}" if drop.survivor_run is not None else ""
            return (
                f"dropped by {drop.stage}: {drop.measure} similarity "
                f"{value_text(drop.similarity)} with {drop.survivor_id} "
                f"({drop.survivor_file}, row {drop.survivor_row}), which is kept{run}"
            )
        if drop.test_set is not None:
            parts = f" ({drop.test_evidence})" if drop.test_evidence is not None else ""
            score = drop.value if drop.test_score is None else drop.test_score
            reason = (
                f"dropped by {drop.stage}: score {value_text(score)} (must be {drop.bound}) "
                f"for item {drop.test_item} of {drop.test_set}{parts}"
            )
        elif drop.measure is None:
            reason = f"dropped by {drop.stage}.{drop.rule}"
        else:
            shown = drop.match if drop.value is None else value_text(drop.value)
            name = _short(drop.stage, drop.rule, drop.measure)
            reason = f"dropped by {name} = {shown}, must be {drop.bound}"
        if drop.match is not None and drop.value is not None:
            reason += f'; found "{_excerpt(drop.match, 60)}"'
            if drop.match_start is not None:
                reason += f" at bytes {drop.match_start}-{drop.match_end}"
            if drop.match_entry is not None:
                reason += f", of {drop.match_entry}"
            reason += _around(self.kept_text, drop)
        if drop.also_failed:
            reason += f"; also failed {', '.join(drop.also_failed)}"
        return reason

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def _around(text: str, drop: Drop) -> str:
    """What stands on both sides of the match, where this is the text that was judged."""
    data, start, end = text.encode(), drop.match_start, drop.match_end
    if start is None or end is None or data[start:end] != (drop.match or "").encode():
        return ""
    before, after = data[:start].decode(), data[end:].decode()
    near = (before[-_BESIDE:], f"⟦{_excerpt(drop.match or '', 60)}⟧", after[:_BESIDE])
    return "; there: " + re.sub(r"\s+", " ", "".join(near)).strip()


def _compared(text: str, other: str, name: str, least: int = 5) -> Iterator[str]:
    """The document's text and another, what they share in ⟦ ⟧."""
    passages = shared_passages(text, other, least)
    tokens = _tokens(text)
    share = sum(passage.tokens for passage in passages) / tokens if tokens else 0.0
    number = "1 passage" if len(passages) == 1 else f"{len(passages)} passages"
    yield f"  in common, in ⟦ ⟧: {number}, {share:.1%} of its tokens"
    yield f"  this      {marked(text, [(p.start, p.end) for p in passages])}"
    yield f"  {name:8}  {marked(other, [(p.other_start, p.other_end) for p in passages])}"


def _found(match: Match) -> Iterator[str]:
    """What was found of a test item, and both texts beside each other."""
    row = match.row
    where = "" if row["match_start"] is None else f", bytes {row['match_start']}-{row['match_end']}"
    yield (
        f"  {row['stage']} ({row['action']}): item {row['test_item']} of {row['test_set']} "
        f"({row['evidence']}), score {value_text(row['score'])}, "
        f"found from {value_text(row['threshold'])}{where}"
    )
    if match.item_text is None:
        return
    data = match.text.encode()
    start, end = 0, len(data)
    if row["match_start"] is not None:
        start, end = max(0, row["match_start"] - _AROUND), row["match_end"] + _AROUND
    shown = data[start:end].decode(errors="ignore")
    # A test item's passages are short: its coverage is of 3 tokens (docs/contamination.md).
    least = max(1, min(3, _tokens(match.item_text)))
    yield from _compared(shown, match.item_text, "item", least)


def _tokens(text: str) -> int:
    return int(token_counts(pa.array([text]))[0])


def value_text(value: float | str | None) -> str:
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
