"""Which test items were found, and where: counts that add up, and what ``summary.json`` says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from cleanpipe.spec import Step
from cleanpipe.stage import TestSetInfo

SHOWN = 100
"""Items of a set that ``summary.json`` lists: of those found, and of those too short."""

_KEY = ["file", "row", "stage", "test_set"]


@dataclass
class Leak:
    """Where one item was found.

    Attributes:
        first: file, row and id of the first document.
        documents: how many have it.
        sources, evidence: these documents by source, and by what was found.
    """

    first: Mapping[str, Any]
    documents: int = 0
    sources: Counter[str] = field(default_factory=Counter)
    evidence: Counter[str] = field(default_factory=Counter)


class Leaks:
    """Mergeable counts of the rows of ``matches/``, added in the order of their documents.

    Attributes:
        documents: by stage and set, documents with any item.
        items: by stage, set and item.
    """

    def __init__(self) -> None:
        self.documents: Counter[tuple[str, str]] = Counter()
        self.items: dict[tuple[str, str, str], Leak] = {}

    def add(self, matches: pa.Table) -> None:
        """Count the matches of whole documents; several of one item in a document count once."""
        seen: set[tuple[object, ...]] = set()

        def new(*key: object) -> bool:
            before = len(seen)
            seen.add(key)
            return len(seen) > before

        for row in matches.select(["id", "source", "test_item", "evidence", *_KEY]).to_pylist():
            which, item = [row[name] for name in _KEY], row["test_item"]
            first = {name: row[name] for name in ("file", "row", "id")}
            leak = self.items.setdefault((row["stage"], row["test_set"], item), Leak(first))
            self.documents[row["stage"], row["test_set"]] += new(*which)
            leak.evidence[row["evidence"]] += new(*which, item, row["evidence"])
            if new(*which, item, None):
                leak.documents += 1
                leak.sources[row["source"]] += 1

    def to_json(self) -> dict[str, Any]:
        return {
            "documents": [[*key, number] for key, number in self.documents.items()],
            "items": [[*key, vars(leak)] for key, leak in self.items.items()],
        }

    def add_json(self, value: Mapping[str, Any]) -> None:
        """Add the counts of later documents, as :meth:`to_json` gave them."""
        for stage, test_set, number in value["documents"]:
            self.documents[stage, test_set] += number
        for stage, test_set, item, theirs in value["items"]:
            leak = self.items.setdefault((stage, test_set, item), Leak(theirs["first"]))
            leak.documents += theirs["documents"]
            leak.sources.update(theirs["sources"])
            leak.evidence.update(theirs["evidence"])

    def summary(self, steps: Iterable[Step]) -> list[dict[str, Any]]:
        """What ``summary.json`` says of every test set, in the order of stages, then of sets."""
        infos = {
            (step.name, info.name): info
            for step in steps
            for stage in step.stages
            for info in stage.test_sets()
        }
        leaks: dict[tuple[str, str], dict[str, Leak]] = {key: {} for key in infos}
        for (stage, test_set, item), leak in self.items.items():
            leaks[stage, test_set][item] = leak
        return [self._described(key[0], info, leaks[key]) for key, info in infos.items()]

    def _described(
        self, stage: str, info: TestSetInfo, leaks: Mapping[str, Leak]
    ) -> dict[str, Any]:
        evidence: Counter[str] = Counter()
        sources: Counter[str] = Counter()
        for leak in leaks.values():
            evidence.update(leak.evidence)
            sources.update(leak.sources)
        most = sorted(leaks, key=lambda item: (-leaks[item].documents, item))[:SHOWN]
        return {
            "name": info.name,
            "stage": stage,
            "action": info.action,
            "items": info.items,
            "too_short": {"number": len(info.too_short), "items": list(info.too_short[:SHOWN])},
            "found": len(leaks),
            "documents": self.documents[stage, info.name],
            "evidence": dict(sorted(evidence.items())),
            "by_source": dict(sorted(sources.items())),
            "leaks": [
                {
                    "item": item,
                    "documents": leaks[item].documents,
                    "sources": dict(sorted(leaks[item].sources.items())),
                    "first": dict(leaks[item].first),
                }
                for item in most
            ],
        }
