"""The texts that are read: real ones where CLEANPIPE_SHARED has them, else the sample."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cleanpipe import Pipeline

ROOT = Path(__file__).parents[2]
SHARED = Path(os.environ.get("CLEANPIPE_SHARED", ROOT.parent / "shared"))
SAMPLE = ROOT / "examples" / "sample"
BATCH_BYTES = 8 << 20
SAMPLE_BYTES = 16 << 20
"""The sample is repeated until it has as many: it would fit in a cache, a corpus does not."""


@dataclass(frozen=True)
class Corpus:
    """Texts of one kind.

    Attributes:
        name: what they are.
        origin: where they are from.
        texts: large_string, without nulls.
    """

    name: str
    origin: str
    texts: pa.Array

    @property
    def size(self) -> int:
        """Bytes of UTF-8."""
        return int(_ends(self.texts)[-1])

    def batches(self) -> list[pa.Array]:
        """Arrays of at most 8 MiB of text (or one text), as a pipeline's batches are."""
        return list(_batches(self.texts))

    def thinned(self, size: int) -> Corpus:
        """About this many bytes: every n-th text."""
        step = -(-self.size // size)
        chosen = self.texts.take(pa.array(range(0, len(self.texts), step), pa.int64()))
        origin = self.origin if step == 1 else f"{self.origin}, one text in {step}"
        return Corpus(self.name, origin, chosen)

    def write(self, path: Path) -> None:
        """The texts in one file, each with a line break behind it."""
        with path.open("wb") as file:
            for text in self.texts:
                file.write(text.as_buffer())
                file.write(b"\n")

    def __str__(self) -> str:
        return f"{self.name}: {self.size / 1e6:.1f} MB, {len(self.texts):,} texts ({self.origin})"


def corpora(size: int) -> list[Corpus]:
    """English web, mixed-language and Chinese texts, at most about `size` bytes of each."""
    folder = SHARED / "data" / "corpus"
    if not folder.is_dir():
        return _sample()
    kinds = {"English web": "web", "mixed languages": "docs", "Chinese": "zh"}
    return [
        Corpus(name, f"data/corpus/{kind}", _read(folder / kind)).thinned(size)
        for name, kind in kinds.items()
    ]


class _Row(msgspec.Struct):
    text: str


def _read(folder: Path) -> pa.Array:
    decoder = msgspec.json.Decoder(_Row)
    found = []
    for path in sorted(folder.glob("*.jsonl.gz")):
        with gzip.open(path) as file:
            rows = decoder.decode_lines(file.read())
        found.append(pa.array([row.text for row in rows], pa.large_string()))
    return pa.concat_arrays(found)


def _sample() -> list[Corpus]:
    files = {
        "pages": {"paths": "pages.jsonl", "text": "content", "id": "url"},
        "help": {"paths": "help.jsonl.zst"},
        "world": {"paths": "world.parquet", "text": "body", "id": "page"},
        "declarations": {"paths": "declarations.jsonl.gz"},
    }
    sources = {name: {**file, "paths": str(SAMPLE / file["paths"])} for name, file in files.items()}
    stages: list[dict[str, Any]] = [{"language": {}}]
    kept = Pipeline.from_dict({"sources": sources, "stages": stages}).run().kept
    language = pc.struct_field(kept["cleanpipe"], "language")
    texts = kept["text"].cast(pa.large_string())
    return [
        _repeated("English", texts.filter(pc.equal(language, "en"))),
        _repeated("mixed languages", texts),
        _repeated("Chinese", texts.filter(pc.equal(language, "zh"))),
    ]


def _repeated(name: str, texts: pa.ChunkedArray) -> Corpus:
    once = texts.combine_chunks()
    times = -(-SAMPLE_BYTES // int(_ends(once)[-1]))
    origin = f"examples/sample, {times} times, as there is no {SHARED}/data/corpus"
    return Corpus(name, origin, pa.concat_arrays([once] * times))


def _ends(texts: pa.Array) -> Any:
    return np.cumsum(pc.binary_length(texts).to_numpy(), dtype=np.int64)


def _batches(texts: pa.Array) -> Iterator[pa.Array]:
    ends = _ends(texts)
    edges = [0]
    while edges[-1] < len(texts):
        begin = ends[edges[-1] - 1] if edges[-1] else 0
        edges.append(max(int(np.searchsorted(ends, begin + BATCH_BYTES, "right")), edges[-1] + 1))
    for begin, end in pairwise(edges):
        # Its own buffers, as a reader's batch has them.
        yield pa.concat_arrays([texts.slice(begin, end - begin)])
