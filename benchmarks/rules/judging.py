"""What a recipe makes of texts: dropped by which rule, or which bytes of it taken out by which."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import cleanpipe as cp
from cleanpipe import registry
from cleanpipe.document import Document
from cleanpipe.parse import document_of
from cleanpipe.recipes import find_recipe
from cleanpipe.stage import Barrier, CorpusRewriter

REMOVED = 0.8
"""Junk of which this share of the bytes is gone counts as removed."""


@dataclass(frozen=True)
class Verdict:
    """What became of a text.

    Attributes:
        dropped: the rule that dropped it, as ``stage.rule``, or None.
        gone: for each byte of the text as it came the rule that took it out, from 1 on, or 0.
        rules: the names of these rules, the first one for 1.
    """

    dropped: str | None
    gone: npt.NDArray[np.int16]
    rules: Sequence[str]

    def caught(self, spans: Sequence[tuple[int, int]]) -> str | None:
        """The rule that dropped the text or took out most of the bytes in these ranges, at least
        :data:`REMOVED` of them with its like; None where the junk is still there."""
        if self.dropped is not None:
            return self.dropped
        inside = np.concatenate([self.gone[start:end] for start, end in spans])
        taken = inside[inside > 0]
        if not len(inside) or len(taken) < REMOVED * len(inside):
            return None
        ((most, _),) = Counter(map(int, taken)).most_common(1)
        return self.rules[most - 1]


def judge(recipe: str, texts: Sequence[str]) -> list[Verdict]:
    """Run a recipe over texts, and follow every edit back to the bytes of the text as it came.

    Left out are its stages that look for duplicates: the same host is planted in often.
    """
    path = find_recipe(recipe)
    tree = Document.read(path).tree
    stages = [entry for entry in tree["stages"] if not _of_the_corpus(entry)]
    document = document_of({"stages": stages, "guards": "off"})
    result = cp.Pipeline(document, os.path.dirname(path) or ".").run(list(texts))
    dropped = {
        row["id"]: _rule(row["stage"], row["rule"])
        for row in result.dropped.select(["id", "stage", "rule"]).to_pylist()
    }
    edits = _by_document(result.edits)
    return [
        Verdict(dropped.get(place), *_gone(len(text.encode()), edits.get(place, [])))
        for place, text in enumerate(texts)
    ]


def _of_the_corpus(entry: Any) -> bool:
    known = registry.stages()
    kinds = [entry] if isinstance(entry, str) else [key for key in entry if key in known]
    return any(issubclass(known[kind], (Barrier, CorpusRewriter)) for kind in kinds)


def _rule(stage: str, rule: str) -> str:
    """``length.tokens``; a set's member and its one rule mostly have one name."""
    parts = f"{stage}.{rule}".split(".")
    return ".".join(
        part for part, before in zip(parts, ["", *parts[:-1]], strict=True) if part != before
    )


def _by_document(edits: pa.Table) -> Mapping[int, list[dict[str, Any]]]:
    found: dict[int, list[dict[str, Any]]] = {}
    columns = ["id", "stage", "rule", "start", "end", "replacement"]
    for row in edits.select(columns).to_pylist() if len(edits) else []:
        found.setdefault(row["id"], []).append(row)
    return found


def _gone(size: int, edits: Sequence[Mapping[str, Any]]) -> tuple[npt.NDArray[np.int16], list[str]]:
    """Replay the edits stage by stage: their offsets are those of the text as each stage saw it."""
    origin = np.arange(size)  # Of every byte there now; -1 for one that a rewriter wrote.
    gone = np.zeros(size, np.int16)
    rules: list[str] = []
    for stage in dict.fromkeys(edit["stage"] for edit in edits):
        parts, last = [], 0
        for edit in (edit for edit in edits if edit["stage"] == stage):
            rule = _rule(stage, edit["rule"])
            if rule not in rules:
                rules.append(rule)
            taken = origin[edit["start"] : edit["end"]]
            gone[taken[taken >= 0]] = rules.index(rule) + 1
            written = len((edit["replacement"] or "").encode())
            parts += [origin[last : edit["start"]], np.full(written, -1)]
            last = edit["end"]
        origin = np.concatenate([*parts, origin[last:]])
    return gone, rules
