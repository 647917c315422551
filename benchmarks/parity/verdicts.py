"""Verdicts of ours and of datatrove on the same pages, rule by rule."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from benchmarks.peers.environments import environment
from cleanpipe.edits import apply_edits
from cleanpipe.filters.c4 import C4
from cleanpipe.filters.fineweb import FineWeb
from cleanpipe.filters.gopher_quality import GopherQuality
from cleanpipe.filters.gopher_repetition import GopherRepetition
from cleanpipe.stage import Filter, NamedSet, Rewriter
from cleanpipe.units import Units

Flags = npt.NDArray[np.bool_]
DRIVER = Path(__file__).parent / "drivers" / "datatrove_rules.py"

SETS: Mapping[str, NamedSet] = {
    "gopher_quality": GopherQuality(variant="datatrove"),
    "gopher_repetition": GopherRepetition(variant="datatrove"),
    "fineweb": FineWeb(variant="datatrove"),
    "c4": C4(variant="datatrove"),
}
"""With datatrove's words and numbers, where they are others than the paper's."""

TOGETHER = {
    "gopher_quality.hash_word_ratio": "gopher_quality.symbol_word_ratio",
    "gopher_quality.ellipsis_word_ratio": "gopher_quality.symbol_word_ratio",
}
"""Rules of ours that are one parameter there."""

LINES = "c4.lines"


class Parity(NamedTuple):
    """How far one rule agrees; where datatrove has an error instead of a verdict is left out.

    Attributes:
        rule: its name, or a set's for all its rules.
        dropped, kept: how many documents (lines, of ``c4.lines``) datatrove drops and keeps.
        also_dropped, also_kept: how many of these ours does too.
        only_theirs, only_ours: places of those that one of both drops.
    """

    rule: str
    dropped: int
    kept: int
    also_dropped: int
    also_kept: int
    only_theirs: list[int]
    only_ours: list[int]

    @property
    def of_dropped(self) -> float:
        """The share of what they drop that ours drops; 1 where they drop nothing."""
        return self.also_dropped / self.dropped if self.dropped else 1.0

    @property
    def of_kept(self) -> float:
        """The share of what they keep that ours keeps; 1 where they keep nothing."""
        return self.also_kept / self.kept if self.kept else 1.0


def compare(texts: Sequence[str]) -> list[Parity]:
    """Every rule that both have, sets first among their rules."""
    theirs, ours = datatrove(texts), cleanpipe(texts)
    return [_parity(rule, flags, ours[rule]) for rule, flags in theirs.items() if rule in ours]


def _parity(rule: str, theirs: Sequence[bool | None], ours: Flags) -> Parity:
    known = np.array([flag is not None for flag in theirs], np.bool_)
    drop = np.array([bool(flag) for flag in theirs], np.bool_)
    return Parity(
        rule,
        int((known & drop).sum()),
        int((known & ~drop).sum()),
        int((known & drop & ours).sum()),
        int((known & ~drop & ~ours).sum()),
        np.flatnonzero(known & drop & ~ours).tolist(),
        np.flatnonzero(known & ~drop & ours).tolist(),
    )


def datatrove(texts: Sequence[str]) -> dict[str, list[bool | None]]:
    """For each rule which documents it drops; of ``c4.lines`` all lines of all documents."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        file.writelines(json.dumps(text) + "\n" for text in texts)
        file.flush()
        command = [str(environment("datatrove")), str(DRIVER), file.name]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    rows: list[dict[str, Any]] = [json.loads(row) for row in done.stdout.splitlines()]
    found = {rule: [row[rule] for row in rows] for rule in rows[0] if rule != "lines"}
    return {**found, LINES: [goes for row in rows for goes in row["lines"]]}


def cleanpipe(texts: Sequence[str]) -> dict[str, Flags]:
    """The same of ours."""
    found: dict[str, Flags] = {}
    for name, stage in SETS.items():
        found[name] = np.zeros(len(texts), np.bool_)
        for rule, flags in _members(stage, texts).items():
            called = TOGETHER.get(f"{name}.{rule}", f"{name}.{rule}")
            found[called] = found[called] | flags if called in found else flags
            found[name] |= flags
    lines = [line for text in texts for line in text.split("\n") if line.strip()]
    return {**found, LINES: _emptied(SETS["c4"], lines)}


def _members(stage: NamedSet, texts: Sequence[str]) -> dict[str, Flags]:
    units = Units(pa.array(texts, pa.large_string()))
    found = {}
    for name, member in stage.expand():
        if isinstance(member, Rewriter):
            units = Units(_rewritten(member, units))
        elif isinstance(member, Filter):
            found[name] = member.verdicts(units, member.measure(units))[1] > 0
    return found


def _emptied(stage: NamedSet, texts: Sequence[str]) -> Flags:
    """Of which texts the rewriters leave nothing."""
    units = Units(pa.array(texts, pa.large_string()))
    for _, member in stage.expand():
        if isinstance(member, Rewriter):
            units = Units(_rewritten(member, units))
    return np.array([not text.strip() for text in units.strings], np.bool_)


def _rewritten(stage: Rewriter, units: Units) -> pa.LargeStringArray:
    edits, _ = stage.rewrite(units)
    changed, new = apply_edits(units.text, edits)
    texts = units.text.to_pylist()
    for at, text in zip(changed.tolist(), new, strict=True):
        texts[at] = text
    return pa.array(texts, pa.large_string())
