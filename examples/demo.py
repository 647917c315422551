"""Prints the id of one dropped document of a finished run, for `cleanpipe explain DIR ID`.

python examples/demo.py DIR
"""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow.parquet as pq

# A drop with a number and a bound tells more than one by label; any drop will do.
COLUMNS = ["id", "stage", "measure", "value", "bound"]


def telling_drop(folder: Path) -> str:
    rows = [
        row
        for part in sorted((folder / "dropped").glob("*.parquet"))
        for row in pq.read_table(part, columns=COLUMNS).to_pylist()
    ]
    if not rows:
        raise SystemExit(f"demo: nothing was dropped in {folder}")
    # Stable: of equals, the first in source order.
    rows.sort(key=lambda row: (row["stage"] != "gopher_quality", row["value"] is None))
    return str(rows[0]["id"])


if __name__ == "__main__":
    print(telling_drop(Path(sys.argv[1])))
