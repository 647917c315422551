"""What a run left on disk, as Arrow tables."""

from __future__ import annotations

import html
import tempfile
from functools import cached_property
from typing import Any

import msgspec
import pyarrow as pa

from cleanpipe.explain import explain
from cleanpipe.explanation import Explanation
from cleanpipe.progress import totals_of
from cleanpipe.store import Store

_IDS = ("id", "survivor_id")
_decoder = msgspec.json.Decoder()


class Result:
    """The results of one run.

    Args:
        folder: the output folder.
        positions: ids are positions in a list, shown as integers. Default False.
        temporary: the temporary folder they live in, removed with the result. Default: none.

    Attributes:
        folder: where they are.
    """

    def __init__(
        self,
        folder: str,
        *,
        positions: bool = False,
        temporary: tempfile.TemporaryDirectory[str] | None = None,
    ) -> None:
        self.folder = folder
        self._positions = positions
        self._temporary = temporary
        self._store = Store(folder)

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The values of ``summary.json``."""
        found: dict[str, Any] = self._store.read_json("summary.json")
        return found

    @cached_property
    def kept(self) -> pa.Table:
        """The documents that stay: ``id``, ``text``, the input's columns, ``cleanpipe``."""
        return self._table("kept")

    @cached_property
    def dropped(self) -> pa.Table:
        """A drop record for every dropped document."""
        return self._table("dropped")

    @cached_property
    def dead(self) -> pa.Table:
        """What could not be read, and why."""
        return self._table("dead")

    @cached_property
    def measures(self) -> pa.Table:
        """Every measure taken, for kept and dropped documents alike."""
        return self._table("measures")

    @cached_property
    def edits(self) -> pa.Table:
        """What rewriters removed or replaced, with byte offsets."""
        return self._table("edits")

    def explain(self, id: str | int) -> Explanation:
        """Replay one document from its source: measures, bounds, edits, verdict.

        Errors: ConfigError where no document, or more than one, has this id.
        """
        return explain(self.folder, str(id))

    def _table(self, folder: str) -> pa.Table:
        tables, rows = [], []
        for name in self._store.names(folder):
            if name.endswith(".parquet"):
                tables.append(self._store.table(f"{folder}/{name}"))
            else:
                with self._store.open(f"{folder}/{name}") as file:
                    rows += _decoder.decode_lines(file.read())
        # Arrow's own reader would take strings that look like dates for dates.
        table = pa.concat_tables(tables) if tables else pa.Table.from_pylist(rows)
        if self._positions:
            for name in _IDS:
                if name in table.schema.names:
                    index = table.schema.get_field_index(name)
                    table = table.set_column(index, name, table.column(name).cast(pa.int64()))
        return table

    def __repr__(self) -> str:
        return f"<cleanpipe.Result {self.folder}: {totals_of(self.summary)}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            "<tr>"
            f"<td>{html.escape(stage['name'])}</td><td>{stage['in']:,}</td>"
            f"<td>{stage['judged']:,}</td><td>{stage['dropped']:,}</td>"
            f"<td>{stage['units_removed']:,}</td>"
            f"<td>{stage['seconds']:.1f}</td></tr>"
            for stage in self.summary["stages"]
        )
        head = "".join(
            f"<th>{name}</th>"
            for name in ("stage", "in", "judged", "dropped", "units removed", "seconds")
        )
        return f"<p>{html.escape(totals_of(self.summary))}</p><table><tr>{head}</tr>{rows}</table>"
