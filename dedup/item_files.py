"""Files of test sets -> objects, whole or not at all: a bad line is an error, never skipped."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from cleanpipe.errors import ConfigError, RunError
from cleanpipe.readers.files import CONTENT_ERRORS, Broken, stream
from cleanpipe.readers.inputs import Compression, InputFile
from cleanpipe.readers.json_line import BadLine, parse, what
from cleanpipe.readers.lines import BOM, is_blank
from cleanpipe.readers.repair import without_lone_surrogates

_COMPRESSIONS: dict[str, Compression] = {".gz": "gzip", ".zst": "zstd"}
_NEWLINE = b"\n"
_VALUE = msgspec.json.Decoder()
_LIST = msgspec.json.Decoder(list[msgspec.Raw])
_EITHER = msgspec.json.Decoder(list[msgspec.Raw] | dict[str, msgspec.Raw])
_BYTE = re.compile(r"\(byte (\d+)\)")


class Row(NamedTuple):
    """One object of a file.

    Attributes:
        place: where it stands, for messages: ``file:line``, in Parquet
            ``file: row 3`` (from 0).
        values: its fields: what JSON has, of Parquet what Python has for it.
    """

    place: str
    values: Mapping[str, Any]


def stem(path: str) -> str:
    """A file's name without the endings that say how to read it."""
    name = _uncompressed(os.path.basename(path))[0]
    root, ending = os.path.splitext(name)
    return root if ending.lower() in _FORMATS else name


def rows(path: str) -> Iterator[Row]:
    """The objects of one local file, in order, read by its ending.

    Errors: ConfigError, which names the file, the line and what is wrong.
    """
    name, compression = _uncompressed(path)
    read = _FORMATS.get(os.path.splitext(name)[1].lower())
    if read is None:
        raise ConfigError(
            f"{path}: expected a test set, named by its format: {', '.join(_FORMATS)}, each "
            f"also with {' or '.join(_COMPRESSIONS)}; rename or unpack it"
        )
    try:
        size = os.path.getsize(path)
        file = InputFile(0, "", path, path, "jsonl", compression, size, "")
        data = b"".join(stream(file))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except RunError as error:
        raise ConfigError(str(error)) from None
    except Broken as error:
        raise ConfigError(f"{path}: cannot be unpacked: {error.message}") from None
    yield from read(path, data)


def _uncompressed(path: str) -> tuple[str, Compression]:
    root, ending = os.path.splitext(path)
    compression = _COMPRESSIONS.get(ending.lower())
    return (root if compression else path), compression


def _text(path: str, data: bytes) -> tuple[bytes, str]:
    """Text without its byte order mark, as bytes and decoded."""
    data = data.removeprefix(BOM)
    try:
        return data, data.decode()
    except UnicodeDecodeError as error:
        line = data.count(_NEWLINE, 0, error.start) + 1
        raise ConfigError(
            f"{path}:{line}: expected UTF-8, got the byte {data[error.start]:#04x}"
        ) from None


def _json_lines(path: str, data: bytes) -> Iterator[Row]:
    for number, line in enumerate(_text(path, data)[0].split(_NEWLINE), start=1):
        if not is_blank(line):
            place = f"{path}:{number}"
            yield Row(place, _object(place, line))


def _object(place: str, data: bytes) -> dict[str, Any]:
    try:
        raws, _ = parse(data)
        return {key: _VALUE.decode(raw) for key, raw in raws.items()}
    except (BadLine, msgspec.MsgspecError) as error:
        raise ConfigError(f"{place}: no JSON object: {error}") from None


def _json(path: str, data: bytes) -> Iterator[Row]:
    data = without_lone_surrogates(_text(path, data)[0])
    if is_blank(data):
        return
    try:
        found = _EITHER.decode(data)
        items = _items(path, found) if isinstance(found, dict) else found
    except RecursionError:
        raise ConfigError(f"{path}: nested too deeply for a test set") from None
    except msgspec.MsgspecError as error:
        byte = _BYTE.search(str(error))
        at = int(byte[1]) if byte else len(data) if "truncated" in str(error) else 0
        hint = "; if each line is an object, name it .jsonl" if "trailing" in str(error) else ""
        raise ConfigError(
            f"{path}:{data.count(_NEWLINE, 0, at) + 1}: expected a list of objects: {error}{hint}"
        ) from None
    line, counted, end = 1, 0, 0
    for raw in items:
        text = bytes(raw)
        start = data.index(text, end)
        line += data.count(_NEWLINE, counted, start)
        counted, end = start, start + len(text)
        place = f"{path}:{line}"
        if not text.startswith(b"{"):
            raise ConfigError(
                f"{place}: expected a list of objects, got {what(text.decode())} in it"
            )
        yield Row(place, _object(place, text))


def _items(path: str, found: dict[str, msgspec.Raw]) -> list[msgspec.Raw]:
    """The one list of objects among the values of an object."""
    lists = {key: _LIST.decode(raw) for key, raw in found.items() if bytes(raw)[:1] == b"["}
    held = [key for key, raws in lists.items() if all(bytes(raw)[:1] == b"{" for raw in raws)]
    if len(held) == 1:
        return lists[held[0]]
    which = f"with {len(held)} such lists" if held else "without one"
    raise ConfigError(
        f"{path}: expected a list of objects, or an object with one such list, got an object "
        f"{which}; its keys: {', '.join(held or found)}"
    )


def _parquet(path: str, data: bytes) -> Iterator[Row]:
    try:
        with pq.ParquetFile(pa.BufferReader(data), page_checksum_verification=True) as file:
            table = file.read()
        _unique(path, table.column_names)
        found = table.to_pylist(maps_as_pydicts="lossy")
    except CONTENT_ERRORS as error:
        message = " ".join(str(error).split())
        raise ConfigError(f"{path}: expected a Parquet file: {message}") from None
    for index, values in enumerate(found):
        yield Row(f"{path}: row {index}", values)


def _separated(separator: str) -> Callable[[str, bytes], Iterator[Row]]:
    """A reader of lines of cells, the first of which names them."""

    def read(path: str, data: bytes) -> Iterator[Row]:
        text = _text(path, data)[1]
        cells = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        found: list[tuple[str, list[str]]] = []
        line = 1
        # The limit is the process's own: raised for a cell as long as the file, and put back.
        limit = csv.field_size_limit(len(text) + 1)
        try:
            for row in cells:
                if row:
                    found.append((f"{path}:{line}", row))
                line = cells.line_num + 1
        except csv.Error as error:
            raise ConfigError(f"{path}:{line}: cannot be taken apart: {error}") from None
        finally:
            csv.field_size_limit(limit)
        place, header = found[0] if found else (path, [])
        _unique(place, header)
        for place, row in found[1:]:
            if len(row) != len(header):
                raise ConfigError(
                    f"{place}: expected {len(header)} cells, as in the first line, got {len(row)}; "
                    "a cell with a separator or a newline in it needs quotes"
                )
            yield Row(place, dict(zip(header, row, strict=True)))

    return read


def _unique(place: str, names: list[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ConfigError(f'{place}: two columns are called "{twice[0]}": rename one')


_FORMATS: dict[str, Callable[[str, bytes], Iterator[Row]]] = {
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".json": _json,
    ".parquet": _parquet,
    ".csv": _separated(","),
    ".tsv": _separated("\t"),
}
