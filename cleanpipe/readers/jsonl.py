"""JSON lines: fast for blocks of good lines, line by line around bad ones.

A block is first decoded in one call into structs with a typed field a column. Anything out
of the ordinary (a bad line, a blank one, a null text, a value that does not fit its column,
a key never seen) makes the block go line by line, and only the odd lines key by key; the
three ways give the same documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Annotated, Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cleanpipe.columns import Columns
from cleanpipe.encodings import UTF8, decoded, why_not
from cleanpipe.readers.batches import RAW_BYTES, TABLE, Dead, ReadBatch, nothing, own_ids
from cleanpipe.readers.inputs import Piece
from cleanpipe.readers.json_line import MAX_DEPTH, BadLine, kind_of, label, label_of, parse, what
from cleanpipe.readers.lines import Block, blocks, is_blank

Rows = npt.NDArray[np.int64]

EXACT = 2**53
"""Integers up to this size are float64 values."""

_INT64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
_SAFE = Annotated[int, msgspec.Meta(ge=-EXACT, le=EXACT)]
_TYPES: dict[pa.DataType, Any] = {
    pa.large_string(): str | None,
    pa.bool_(): bool | None,
    pa.int64(): _INT64 | None,
    pa.float64(): _SAFE | float | None,
}
_TEXT = msgspec.json.Decoder(str)
_ODD = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


def read(piece: Piece, columns: Columns) -> Iterator[ReadBatch]:
    """The documents of a piece of a JSON-lines file, a part for each block of lines.

    Errors: RunError where the file cannot be reached.
    """
    reader = _Reader(piece, columns)
    for block in blocks(piece):
        if isinstance(block, Dead):
            yield nothing(columns.schema, [block])
        else:
            yield reader.read(block)


class _NoText(BadLine):
    """A JSON object without a text."""


class _Document(NamedTuple):
    """One line: the values of its fields, and what they cannot hold."""

    record: Any
    extra: dict[str, str] | None = None
    id: str | None = None
    replaced: bool = False


class _Reader:
    """Decodes the blocks of one piece."""

    def __init__(self, piece: Piece, columns: Columns) -> None:
        source = piece.file.source
        roles = columns.roles[source]
        self.file = piece.file.file
        self.codec = piece.file.encoding
        self.schema = columns.schema
        self.text = roles.text or "text"
        self.id = roles.id
        self.url = columns.mapping[source].get(roles.url) if roles.url else None
        self.names = columns.mapping[source]
        kinds = {key: columns.schema.field(name).type for key, name in self.names.items()}
        fields: dict[str, Any] = {self.text: str | None}
        fields |= {key: _TYPES[kind] for key, kind in kinds.items() if kind in _TYPES}
        self.decoders = {key: msgspec.json.Decoder(fields[key]) for key in fields}
        self.floats = {key for key, kind in kinds.items() if kind == pa.float64()}
        if self.id is not None:
            fields.setdefault(self.id, str | int | float | None)
        self.slots = {key: f"f{place}" for place, key in enumerate(fields)}
        definition: list[Any] = [(slot, fields[key], None) for key, slot in self.slots.items()]
        loose = dict.fromkeys((*columns.loose.get(source, ()), *kinds))
        self.loose: list[tuple[str, Callable[[Any], Any]]] = []
        for key in loose:
            if key not in self.slots:
                slot = self.slots[key] = f"f{len(definition)}"
                definition.append((slot, msgspec.Raw | msgspec.UnsetType, msgspec.UNSET))
                self.loose.append((key, attrgetter(slot)))
        rename = {slot: key for key, slot in self.slots.items()}
        self.lines: Any = None
        try:
            self.record: Any = msgspec.defstruct(
                "Record", definition, rename=rename, forbid_unknown_fields=True, gc=False
            )
            self.lines = msgspec.json.Decoder(self.record)
        except ValueError:  # a key with a quote or a control character: all goes key by key
            self.record = msgspec.defstruct("Record", definition, gc=False)

    def read(self, block: Block) -> ReadBatch:
        """The documents and dead records of a block."""
        return self._at_once(block) or self._by_line(block)

    def _at_once(self, block: Block) -> ReadBatch | None:
        if self.lines is None:
            return None
        try:
            data = self._utf8(block.data, block.offset)
        except UnicodeError:
            return None
        # One object a line: decode_lines itself takes two a line, and one over several.
        joints = data.count(b"}\n{")
        if joints != block.lines - 1:
            joints += data.count(b"}\r\n{")
        if joints != block.lines - 1:
            return None
        try:
            records = self.lines.decode_lines(data)
            if len(records) != block.lines:
                return None
            extras = [self._extra(record) for record in records] if self.loose else []
        except _ODD:
            return None
        texts = pa.array([record.f0 for record in records], pa.large_string())
        if texts.null_count:
            return None
        rows = np.arange(block.row, block.row + block.lines, dtype=np.int64)
        found = {place: extra for place, extra in enumerate(extras) if extra}
        return self._batch(records, texts, rows, found, {})

    def _by_line(self, block: Block) -> ReadBatch:
        documents: list[_Document] = []
        rows: list[int] = []
        dead: list[Dead] = []
        offset = block.offset
        for row, line in enumerate(block.data.split(b"\n"), block.row):
            if not is_blank(line):
                try:
                    documents.append(self._document(self._utf8(line, offset)))
                    rows.append(row)
                except UnicodeError as error:
                    message = why_not(error, self.codec)
                    dead.append(Dead("undecodable", message, row, offset, line[:RAW_BYTES]))
                except BadLine as error:
                    reason = "no_text" if isinstance(error, _NoText) else "bad_json"
                    dead.append(Dead(reason, str(error), row, offset, line[:RAW_BYTES]))
            offset += len(line) + 1
        if not documents:
            return nothing(self.schema, dead)
        records = [document.record for document in documents]
        batch = self._batch(
            records,
            pa.array([record.f0 for record in records], pa.large_string()),
            np.array(rows, dtype=np.int64),
            {place: doc.extra for place, doc in enumerate(documents) if doc.extra},
            {place: doc.id for place, doc in enumerate(documents) if doc.id is not None},
        )
        batch.dead = dead
        batch.replaced = sum(document.replaced for document in documents)
        return batch

    def _utf8(self, data: bytes, offset: int) -> bytes:
        """Lines of the file in UTF-8 (which is repaired later). Errors: UnicodeError."""
        if self.codec == UTF8:
            return data
        return decoded(data, self.codec, at_start=offset == 0).encode()

    def _document(self, line: bytes) -> _Document:
        if self.lines is not None:
            try:
                record = self.lines.decode(line)
                if record.f0 is not None:
                    return _Document(record, self._extra(record))
            except _ODD:
                pass
        return self._by_key(line)

    def _by_key(self, line: bytes) -> _Document:
        raws, replaced = parse(line)
        text = raws.pop(self.text, None)
        if text is None:
            raise _NoText(f"there is no `{self.text}`")
        if text[0] != '"':
            raise _NoText(f"`{self.text}` is {what(text)}")
        values: dict[str, Any] = {"f0": _TEXT.decode(text)}
        name = None
        if self.id is not None and self.id in raws:
            name = label_of(raws[self.id])
            if self.id not in self.names:
                del raws[self.id]
        extra: dict[str, str] = {}
        for key, raw in raws.items():
            if raw == "null":
                continue
            try:
                values[self.slots[key]] = self._value(key, raw)
            except (KeyError, msgspec.ValidationError):
                extra[key] = raw
        return _Document(self.record(**values), extra, name, replaced)

    def _value(self, key: str, raw: str) -> Any:
        try:
            return self.decoders[key].decode(raw)
        except msgspec.ValidationError:
            # Larger integers may be float64 values too: all of at most 309 digits.
            if key in self.floats and kind_of(raw) == "integer" and len(raw) < 320:
                exact = int(raw)
                if abs(exact) < 2**1023 and int(float(exact)) == exact:
                    return float(exact)
            raise

    def _extra(self, record: Any) -> dict[str, str] | None:
        """Values of keys that have no column. Errors: one of ``_ODD`` for the odd ones."""
        extra = {}
        for key, get in self.loose:
            raw = get(record)
            if raw is not msgspec.UNSET:
                text = str(raw, "utf-8")
                if text.count("[") + text.count("{") > MAX_DEPTH:
                    raise msgspec.ValidationError("perhaps too deep")
                if text != "null":
                    extra[key] = text
        return extra

    def _batch(
        self,
        records: list[Any],
        texts: pa.Array[Any],
        rows: Rows,
        extras: dict[int, dict[str, str]],
        ids: dict[int, str],
    ) -> ReadBatch:
        slots = {self.names[key]: self.slots[key] for key in self.decoders if key in self.names}
        arrays: dict[str, pa.Array[Any]] = {}
        for field in self.schema:
            if field.name in slots:
                get = attrgetter(slots[field.name])
                arrays[field.name] = pa.array(list(map(get, records)), field.type)
            elif field.name == "extra":
                found: list[str | None] = [None] * len(records)
                for place, extra in extras.items():
                    found[place] = self._written(extra)
                arrays["extra"] = pa.array(found, pa.large_string())
            else:
                arrays[field.name] = pa.nulls(len(records), field.type)
        url = arrays.get(self.url) if self.url else None
        if url is None or url.type != pa.large_string():
            url = pa.nulls(len(records), pa.large_string())
        table = [pa.array(rows), self._ids(records, rows, ids), url, texts]
        return ReadBatch(
            pa.RecordBatch.from_arrays(table, schema=TABLE),
            pa.RecordBatch.from_arrays(list(arrays.values()), schema=self.schema),
            misfits=sum(map(len, extras.values())),
        )

    def _ids(self, records: list[Any], rows: Rows, ids: dict[int, str]) -> pa.Array[Any]:
        if self.id is None:
            return own_ids(self.file, rows)
        values: list[Any] = list(map(attrgetter(self.slots[self.id]), records))
        for place, name in ids.items():
            values[place] = name
        try:
            array = pa.array(values, pa.large_string())
        except (pa.ArrowTypeError, pa.ArrowInvalid):
            array = None
        if array is None or array.null_count:
            array = pa.array([label(value) for value in values], pa.large_string())
            array = pc.coalesce(array, own_ids(self.file, rows))
        return array

    def _written(self, extra: dict[str, str]) -> str:
        """``extra`` as a JSON object, by output names (input names where two would be one)."""
        named = {key: text for key, text in extra.items() if key not in self.names}
        for key, text in extra.items():
            name = self.names.get(key, key)
            named[key if name in named else name] = text
        members = (
            f"{str(msgspec.json.encode(key), 'utf-8')}:{named[key]}" for key in sorted(named)
        )
        return "{" + ",".join(members) + "}"
