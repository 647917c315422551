"""What finds items in texts: the form in which ours and the rules are compared."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchmarks.contamination.items import TestSet

Key = tuple[str, str]
"""(test set, test item)."""


@dataclass(frozen=True)
class Hit:
    """An item found in a text.

    Attributes:
        evidence: which parts of the item were found.
        score: of the best of them.
        match: the text that gave it away.
    """

    evidence: str = ""
    score: float = 1.0
    match: str = ""


Detector = Callable[[list[str]], list[dict[Key, Hit]]]
"""Gives what is found in each text."""


def ours(sets: Iterable[TestSet], folder: Path) -> Detector:
    """`cleanpipe.contamination` with the sets' files as they are.

    Args:
        folder: of the files.
    """
    tests: dict[str, Any] = {
        of.name: {
            "paths": str(folder / of.file),
            "fields": list(of.fields),
            **({"id": of.id} if of.id else {}),
            "tokens": of.tokens,
        }
        for of in sets
    }
    judge = importlib.import_module("cleanpipe").contamination

    def detect(texts: list[str]) -> list[dict[Key, Hit]]:
        table: pa.Table = judge(texts, tests)
        found: list[dict[Key, Hit]] = [{} for _ in texts]
        for row in table.to_pylist():
            hit = Hit(str(row["evidence"]), row["score"], row["match"])
            found[row["id"]][row["test_set"], str(row["test_item"])] = hit
        return found

    return detect
