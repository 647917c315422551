"""What became of planted near-duplicates, by how many of their words were replaced."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

_COPY = r"^(?P<copy>\d+) from (?P<original>\d+) at (?P<strength>.*)$"


def found(output: Path) -> dict[str, tuple[int, int]]:
    """For each strength the copies that did not stay together with their original, and all."""
    kept, dropped = (_ids(output / folder) for folder in ("kept", "dropped"))
    numbers = pc.extract_regex(kept, r"^(?P<number>\d+)")
    stayed = np.unique(pc.drop_null(pc.struct_field(numbers, "number")).cast(pa.int64()))
    copies = pc.drop_null(pc.extract_regex(pa.concat_arrays([kept, dropped]), _COPY))
    both = np.ones(len(copies), dtype=np.bool_)
    for name in ("copy", "original"):
        both &= np.isin(pc.struct_field(copies, name).cast(pa.int64()), stayed)
    strengths = pc.struct_field(copies, "strength").to_numpy(zero_copy_only=False)
    return {
        strength: (int((~both[strengths == strength]).sum()), int((strengths == strength).sum()))
        for strength in np.unique(strengths).tolist()
    }


def _ids(folder: Path) -> pa.Array:
    tables = [pq.read_table(path, columns=["id"]) for path in sorted(folder.glob("*.parquet"))]
    return pa.concat_tables(tables)["id"].cast(pa.large_string()).combine_chunks()
