"""The English pages of the shared web corpus."""

from __future__ import annotations

from typing import Any, NamedTuple

from benchmarks.measuring.texts import SHARED
from cleanpipe import Pipeline


class Page(NamedTuple):
    """A page."""

    id: str
    text: str


def english() -> list[Page]:
    """Those of data/corpus/web that fastText takes for English with at least 0.65, as FineWeb does
    (Penedo et al. 2024, section 3.3)."""
    paths = str(SHARED / "data" / "corpus" / "web" / "*.jsonl.gz")
    stages: list[dict[str, Any]] = [{"language": {"keep": ["en"], "min_score": 0.65}}]
    found = Pipeline.from_dict({"sources": {"web": {"paths": paths}}, "stages": stages}).run()
    rows = found.kept.select(["id", "text"]).to_pylist()
    return [Page(str(row["id"]), row["text"]) for row in rows]
