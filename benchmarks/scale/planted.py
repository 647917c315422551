"""What became of planted near-duplicates, by how many of their words were replaced."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq


def fates(output: Path) -> dict[str, tuple[int, int]]:
    """Dropped, and all, of each kind of document by the end of its `id`: a strength, a page, or
    "original"."""
    kept, dropped = (_kinds(output / folder) for folder in ("kept", "dropped"))
    return {kind: (dropped[kind], dropped[kind] + kept[kind]) for kind in sorted({*kept, *dropped})}


def _kinds(folder: Path) -> Counter[str]:
    found: Counter[str] = Counter()
    for path in folder.glob("*.parquet"):
        ids = pq.read_table(path, columns=["id"])["id"]
        strength = pc.struct_field(pc.extract_regex(ids, r" at (?P<strength>.*)$"), "strength")
        kind = pc.if_else(pc.starts_with(ids, "page "), pa.scalar("page"), strength)
        for count in pc.value_counts(pc.fill_null(kind, "original")).to_pylist():
            found[count["values"]] += count["counts"]
    return found
