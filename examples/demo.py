"""Prints the id of one dropped document of a finished run, for `cleanpipe explain DIR ID`.

python examples/demo.py DIR
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq


def rows(folder: Path, *columns: str) -> list[dict[str, Any]]:
    parts = sorted(folder.glob("*.parquet"))
    return [row for part in parts for row in pq.read_table(part, columns=list(columns)).to_pylist()]


def telling_drop(output: Path) -> str:
    dropped = rows(output / "dropped", "id", "stage", "value")
    ids = Counter(row["id"] for row in [*dropped, *rows(output / "kept", "id")])
    # Two sources may use one id, and then it names no document.
    named = [row for row in dropped if ids[row["id"]] == 1]
    if not named:
        raise SystemExit(f"demo: nothing was dropped in {output}")
    # A number and its bound tell more than a label; of equals, the first in source order.
    named.sort(
        key=lambda row: (not row["stage"].startswith("gopher_quality"), row["value"] is None)
    )
    return str(named[0]["id"])


if __name__ == "__main__":
    print(telling_drop(Path(sys.argv[1])))
