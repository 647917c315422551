"""What a run left on disk, as Arrow tables."""

from __future__ import annotations

import html
import tempfile
from functools import cached_property
from typing import Any

import msgspec
import pyarrow as pa

from cleanpipe.batch import MATCHES
from cleanpipe.errors import RunError
from cleanpipe.explain import explain
from cleanpipe.explanation import Explanation
from cleanpipe.progress import totals_of
from cleanpipe.similar import Similar
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
        self._indexes: dict[tuple[str | None, float], Similar] = {}

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The values of ``summary.json``."""
        found: dict[str, Any] = self._store.read_json("summary.json")
        return found

    @cached_property
    def kept(self) -> pa.Table:
        """The documents that stay: ``id``, ``text``, the input's columns, ``cleanpipe``.

        Errors: RunError where the run did not write them (``output: {format: none}``).
        """
        if self._store.read_json("_run/plan.json")["plan"]["output"]["format"] == "none":
            raise RunError(
                "this run wrote no kept documents, for its output.format is none: run the "
                "pipeline with format: parquet or jsonl; measures has the ids of those kept"
            )
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

    @cached_property
    def matches(self) -> pa.Table:
        """The test items that were found, a row for each in each document (docs/outputs.md);
        no rows where no stage looked for any."""
        return self._table("matches", MATCHES)

    def explain(self, id: str | int) -> Explanation:
        """Replay one document from its source: measures, bounds, edits, verdict.

        Errors: ConfigError where no document, or more than one, has this id.
        """
        return explain(self.folder, str(id))

    def similar(
        self, text: str, top: int = 10, *, threshold: float = 0.5, stage: str | None = None
    ) -> pa.Table:
        """The kept documents that a text is most like, by their stored MinHash signatures.

        They are found by ``datasketch.MinHashLSH``, which is made at the first call and kept:
        for notebooks, not for corpora.

        Args:
            text: any text. One of fewer than 2n tokens is like nothing.
            top: rows at most. Default 10.
            threshold: lowest similarity shown, above 0 and at most 1. Default 0.5.
            stage: whose signatures, where several stages stored some. Default: the only one.

        Returns:
            ``id``, ``similarity`` (float64: the share of values in which the signatures agree)
            and ``text``, the most similar first.

        Errors: ConfigError where the module ``datasketch`` is missing, or no stage of this run
        stored signatures; RunError where it did not write the kept documents.
        """
        if (stage, threshold) not in self._indexes:
            self._indexes[stage, threshold] = Similar(self._store, stage, threshold)
        index = self._indexes[stage, threshold]
        places, similarity = index.find(text, top)
        found = index.documents.take(pa.array(places, pa.int64())).to_pylist()
        kept = [self._kept_places[document["file"], document["row"]] for document in found]
        shown = self.kept.select(["id", "text"]).take(pa.array(kept, pa.int64()))
        return shown.add_column(1, "similarity", pa.array(similarity, pa.float64()))

    @cached_property
    def _kept_places(self) -> dict[tuple[str, int], int]:
        keys = self.kept.column("cleanpipe").to_pylist()
        return {(key["file"], key["row"]): place for place, key in enumerate(keys)}

    def _table(self, folder: str, schema: pa.Schema | None = None) -> pa.Table:
        tables, rows = [], []
        for name in self._store.names(folder):
            if name.endswith(".parquet"):
                tables.append(self._store.table(f"{folder}/{name}"))
            else:
                with self._store.open(f"{folder}/{name}") as file:
                    rows += _decoder.decode_lines(file.read())
        # Arrow's own reader would take strings that look like dates for dates.
        table = pa.concat_tables(tables) if tables else pa.Table.from_pylist(rows, schema)
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
