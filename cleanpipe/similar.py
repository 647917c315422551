"""Which kept documents a text is most like, by the signatures that a run left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from cleanpipe import _native
from cleanpipe.errors import ConfigError
from cleanpipe.signatures import permutations
from cleanpipe.store import Store
from cleanpipe.texts import text_column

if TYPE_CHECKING:
    import datasketch

_MOST = 0.95  # above, its bands find too little; what they find is looked at all the same
_LEAST = 2  # values it can cut into bands
_RECALL = (0.1, 0.9)  # what false candidates and missed ones weigh: the former are sorted out


class Similar:
    """``datasketch.MinHashLSH`` over the signatures of one stage; one for each n of n-grams.

    Args:
        store: the run's output.
        stage: the stage's name. None (default) for the only one that stored signatures.
        threshold: similarities below it are not looked for.

    Errors: ConfigError where there is no such stage, or no module ``datasketch``.
    """

    def __init__(self, store: Store, stage: str | None, threshold: float) -> None:
        if not 0 < threshold <= 1:
            raise ConfigError(f"threshold: expected more than 0 and at most 1, got {threshold}")
        try:
            import datasketch
        except ImportError:
            raise ConfigError(
                "similar needs the module datasketch: pip install 'datasketch>=2'"
            ) from None
        self._sketch = datasketch.LeanMinHash
        self._threshold = threshold
        self._seed, tables = _stored(store, stage)
        table = pa.concat_tables(tables)
        table = table.filter(table["signature"].is_valid())
        self.documents: pa.Table = table.select(["file", "row", "id"])
        width = table.schema.field("signature").type.byte_width // 4
        if width < _LEAST:
            raise ConfigError(
                f"similar needs signatures of {_LEAST} values or more, this run has {width}"
            )
        joined = b"".join(table["signature"].to_pylist())
        self._signatures = np.frombuffer(joined, "<u4").astype(np.uint32).reshape(-1, width)
        self._by_n: dict[int, datasketch.MinHashLSH] = {}
        for place, n in enumerate(table["ngram"].to_pylist()):
            if n not in self._by_n:
                self._by_n[n] = datasketch.MinHashLSH(min(threshold, _MOST), width, _RECALL)
            self._by_n[n].insert(place, self._minhash(self._signatures[place]))

    def find(self, text: str, top: int) -> tuple[list[int], list[float]]:
        """Places in ``documents`` and estimated similarities, the most similar first."""
        column = text_column([text])
        found: dict[int, float] = {}
        a, b = permutations(self._signatures.shape[1], self._seed)
        for n, lsh in self._by_n.items():
            signatures, _, tokens = _native.sketches(column, n, a, b)
            if tokens[0] < 2 * n:
                continue
            for place in lsh.query(self._minhash(signatures[0])):
                share = float(np.mean(self._signatures[place] == signatures[0]))
                if share >= self._threshold:
                    found[place] = share
        places = sorted(found, key=lambda place: (-found[place], place))[:top]
        return places, [found[place] for place in places]

    def _minhash(self, row: Any) -> datasketch.LeanMinHash:
        return self._sketch(seed=self._seed, hashvalues=row, scheme="affine32")


def _stored(store: Store, stage: str | None) -> tuple[int, list[pa.Table]]:
    """The seed of a stage's signatures, and its files."""
    found: dict[str, tuple[int, list[pa.Table]]] = {}
    for step in store.read_json("_run/plan.json")["plan"]["stages"]:
        name, seed = step["name"], step.get("parameters", {}).get("seed")
        files = [file for file in store.names(f"index/{name}") if file.endswith(".parquet")]
        tables = [store.table(f"index/{name}/{file}") for file in files]
        if tables and {"signature", "ngram"} <= set(tables[0].schema.names):
            found[name] = seed, tables
    if stage is None and len(found) == 1:
        return next(iter(found.values()))
    if stage in found:
        return found[stage]
    if not found:
        raise ConfigError("no stage of this run stored signatures: it takes one such as minhash")
    wanted = "say which stage's" if stage is None else f'"{stage}" stored no'
    raise ConfigError(f"{wanted} signatures: {', '.join(found)}")
