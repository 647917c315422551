"""The file of an index of test sets: laid out once, mapped by every worker."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from xxhash import xxh3_128

from cleanpipe import _native
from cleanpipe.dedup.item_parts import Ints, TestSetEntry, TestSetParts, starts
from cleanpipe.dedup.ngram_index import NgramIndex
from cleanpipe.errors import ConfigError

FORMAT = 1
"""Raised when the file changes its form, or what is found with it."""

_STRINGS = ("label", "name", "text")


class Seeds(NamedTuple):
    """The n-grams that lead to parts.

    Attributes:
        code: whether they are of code tokens.
        ngrams: the n-grams.
        offsets: int64, shape (len(ngrams) + 1,): the n-gram of ordinal i leads to
            ``parts[offsets[i]:offsets[i + 1]]``, uint32.
    """

    code: bool
    ngrams: NgramIndex
    offsets: Ints
    parts: npt.NDArray[np.uint32]


_COLUMNS: Mapping[str, pa.DataType] = {
    "set": pa.uint32(),
    "item": pa.uint32(),
    "label": pa.large_string(),
    "name": pa.large_string(),
    "text": pa.large_string(),
    "n": pa.uint8(),
    "least": pa.uint32(),
    "token_offsets": pa.int64(),
    "tokens": pa.uint64(),
    "weights": pa.uint32(),
    "gram_offsets": pa.int64(),
    "grams": pa.uint64(),
    "gram_positions": pa.uint32(),
    "gram_lengths": pa.uint8(),
}
_SEEDS = pa.struct(
    [
        ("code", pa.bool_()),
        ("ngrams", pa.large_binary()),
        ("offsets", pa.large_list(pa.int64())),
        ("parts", pa.large_list(pa.uint32())),
    ]
)
_MAGIC = b"cpitems\n"
_HEADER = 64  # of which the second 16 bytes are a checksum of all that follows


RAGGED: Mapping[str, tuple[str, ...]] = {
    "token_offsets": ("tokens", "weights"),
    "gram_offsets": ("grams", "gram_positions", "gram_lengths"),
}


class Content(NamedTuple):
    """What a file holds, mapped.

    Attributes:
        sets: the test sets, in order.
        labels, names, texts: large_string, shape (parts,): of each part, its item's id, its own
            name and its text.
        arrays: the other columns, by name. ``set`` and ``item`` say whose a part is, ``n`` by
            which n-grams it is looked for (0: it is too short), ``least`` how many it takes;
            :data:`RAGGED` names the rest.
        seeds: the n-grams, a kind each.
        fingerprint: 32 hexadecimal digits, XXH3-128 of the content.
    """

    sets: tuple[TestSetEntry, ...]
    labels: pa.Array
    names: pa.Array
    texts: pa.Array
    arrays: Mapping[str, npt.NDArray[Any]]
    seeds: Sequence[Seeds]
    fingerprint: str


def begins(path: str) -> bool:
    """Whether a file begins as an index does, of whatever version, whole or damaged.

    Errors: OSError where it cannot be read.
    """
    with open(path, "rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def read(image: pa.Buffer) -> Content:
    """What a file of these bytes holds, without a copy.

    Errors: ValueError where they are no index, are damaged, or are of another format, token table
    or Unicode version.
    """
    head = image.slice(0, min(_HEADER, image.size)).to_pybytes()
    if not head.startswith(_MAGIC):
        raise ValueError("no index of test sets")
    body = image.slice(_HEADER) if image.size >= _HEADER else pa.py_buffer(b"")
    if len(head) < _HEADER or _checksum(body) != head[16:32]:
        raise ValueError("a damaged index of test sets: its checksum is another")
    batch = pa.ipc.open_file(body).get_batch(0)
    about = json.loads(batch.schema.metadata[b"about"])
    if about["versions"] != _versions():
        theirs = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
        ours = ", ".join(f"{name} {version}" for name, version in _versions().items())
        raise ValueError(f"an index of other versions ({theirs}; here {ours})")
    sets = tuple(
        TestSetEntry(**{**entry, "too_short": tuple(entry["too_short"])}) for entry in about["sets"]
    )
    columns = {name: batch.column(name)[0].values for name in _COLUMNS}
    labels, names, texts = (columns.pop(name) for name in _STRINGS)
    seeds = [
        Seeds(
            each["code"].as_py(),
            NgramIndex(each["ngrams"].as_buffer()),
            each["offsets"].values.to_numpy(),
            each["parts"].values.to_numpy(),
        )
        for each in batch.column("seeds")[0].values
    ]
    arrays = {name: column.to_numpy() for name, column in columns.items()}
    return Content(sets, labels, names, texts, arrays, seeds, head[16:32].hex())


def written(sets: Sequence[TestSetParts]) -> pa.Buffer:
    """The bytes of a file of these sets.

    Errors: ConfigError for two sets of one name.
    """
    called = [made.entry.name for made in sets]
    for name in called:
        if called.count(name) > 1:
            raise ConfigError(f'two test sets are called "{name}": rename one')
    parts = [len(made.names) for made in sets]
    begin = np.cumsum([0, *parts])
    arrays: dict[str, Any] = {
        "set": np.repeat(np.arange(len(sets)), parts),
        "label": [each for made in sets for each in made.labels],
        "name": [each for made in sets for each in made.names],
        "text": [each for made in sets for each in made.texts],
    }
    for name in _COLUMNS.keys() - arrays.keys():
        values = [made.arrays[name] for made in sets]
        if name in RAGGED:
            sizes = np.concatenate([np.zeros(0, np.int64), *(np.diff(each) for each in values)])
            arrays[name] = np.cumsum([0, *sizes])
        else:
            kind = _COLUMNS[name].to_pandas_dtype()
            arrays[name] = np.concatenate([np.zeros(0, kind), *values])
    columns = {name: _listed(pa.array(arrays[name], kind)) for name, kind in _COLUMNS.items()}
    columns["seeds"] = _listed(_seeds(sets, begin))
    about = {
        "versions": _versions(),
        "sets": [{**vars(made.entry), "too_short": list(made.entry.too_short)} for made in sets],
    }
    batch = pa.RecordBatch.from_arrays(
        list(columns.values()),
        schema=pa.schema(
            [(name, column.type) for name, column in columns.items()],
            metadata={"about": json.dumps(about, ensure_ascii=False)},
        ),
    )
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, batch.schema) as writer:
        writer.write_batch(batch)
    body = sink.getvalue()
    head = _MAGIC.ljust(16, b"\0") + _checksum(body)
    return pa.py_buffer(head.ljust(_HEADER, b"\0") + body.to_pybytes())


def _seeds(sets: Sequence[TestSetParts], begin: Ints) -> pa.StructArray:
    """The n-grams of all sets, whose parts begin there, a row a kind."""
    made = []
    for key in sorted({key for each in sets for key, _, _ in each.seeds}):
        mine = [
            (gram, part.astype(np.int64) + begin[at])
            for at, each in enumerate(sets)
            for kind, gram, part in each.seeds
            if kind == key
        ]
        gram = np.concatenate([gram for gram, _ in mine])
        part = np.concatenate([part for _, part in mine])
        order = np.lexsort((part, gram))
        gram, part = gram[order], part[order]
        first = starts(gram)
        code, n = key
        ngrams = NgramIndex.build(gram[first], n, code=code)
        made.append((code, bytes(ngrams.image), np.append(first, len(gram)), part))
    columns = list(zip(*made, strict=True)) or [()] * len(_SEEDS)
    return pa.StructArray.from_arrays(
        [
            pa.array(columns[0], pa.bool_()),
            pa.array(columns[1], pa.large_binary()),
            _lists(columns[2], pa.int64()),
            _lists(columns[3], pa.uint32()),
        ],
        fields=list(_SEEDS),
    )


def _listed(values: pa.Array) -> pa.LargeListArray:
    """A column of one row, which has all these values."""
    return pa.LargeListArray.from_arrays(pa.array([0, len(values)], pa.int64()), values)


def _lists(rows: Sequence[npt.NDArray[Any]], kind: pa.DataType) -> pa.LargeListArray:
    values = np.concatenate([np.zeros(0, kind.to_pandas_dtype()), *rows])
    offsets = np.cumsum([0, *(len(row) for row in rows)])
    return pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), pa.array(values, kind))


def _versions() -> dict[str, Any]:
    return {
        "format": FORMAT,
        "tokens": _native.TOKEN_TABLE_VERSION,
        "unicode": _native.UNICODE_VERSION,
    }


def _checksum(body: pa.Buffer) -> bytes:
    return xxh3_128(body).digest()
