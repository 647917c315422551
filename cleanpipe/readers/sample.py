"""The columns of JSON lines, inferred from the heads of a few files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pyarrow as pa

from cleanpipe.encodings import UTF8, decoded
from cleanpipe.readers.batches import MAX_DOCUMENT
from cleanpipe.readers.files import Broken, stream
from cleanpipe.readers.inputs import InputFile
from cleanpipe.readers.json_line import BadLine, kind_of, parse
from cleanpipe.readers.lines import BOM, is_blank

FILES = 16
LINES = 1000
BYTES = 1 << 20


def spread(files: Sequence[InputFile]) -> list[InputFile]:
    """At most 16 of the files, spread evenly, the first and the last among them."""
    if len(files) <= FILES:
        return list(files)
    last = len(files) - 1
    return [files[place * last // (FILES - 1)] for place in range(FILES)]


def head(file: InputFile) -> list[bytes]:
    """The first lines of a file: 1,000, or those within 1 MiB, and at least one.

    Errors: RunError where the file cannot be reached.
    """
    data = b""
    whole = False
    try:
        for chunk in stream(file):
            data += chunk
            if len(data) >= BYTES and (b"\n" in data or len(data) > MAX_DOCUMENT):
                break
        else:
            whole = True
    except Broken:
        pass
    if len(data) > BYTES:
        whole = False
        data = data[: max(BYTES, data.find(b"\n") + 1)]
    lines = (data.removeprefix(BOM) if file.encoding == UTF8 else data).split(b"\n", LINES)
    # What follows the last newline is a line only at the end of the file.
    if not whole or len(lines) > LINES:
        lines = lines[:-1]
    return lines


ENCODINGS = ("gb18030", "big5", "shift_jis", "euc_kr", "windows-1251", "windows-1252")


def not_utf8(files: Sequence[InputFile]) -> str | None:
    """A sentence about files that are read as UTF-8, if a tenth of their sampled lines is none."""
    lines = [line for file in files if file.encoding == UTF8 for line in head(file)]
    lines = [line for line in lines if line.strip()]
    wrong = [line for line in lines if not _decodes(line, UTF8)]
    if not wrong or 10 * len(wrong) < len(lines):
        return None
    likely = next((name for name in ENCODINGS if all(_decodes(line, name) for line in wrong)), None)
    what = f"are they {likely}? write encoding: {likely}" if likely else "write their encoding:"
    return f"{len(wrong)} of {len(lines)} sampled lines are not UTF-8: {what}"


def _decodes(line: bytes, encoding: str) -> bool:
    try:
        line.decode(encoding)
    except UnicodeError:
        return False
    return True


def _utf8(line: bytes, file: InputFile, first: bool) -> bytes:
    try:
        return decoded(line, file.encoding, at_start=first).encode()
    except UnicodeError:
        return b""  # dead when it is read


class Kinds:
    """What was seen in the sampled lines of one source.

    Attributes:
        keys: for each key, in order of first appearance, how often it held each kind of
            value (:func:`cleanpipe.readers.json_line.kind_of`; ``big`` beyond int64).
        lines: lines that are not blank.
        objects: those of them that are JSON objects.
    """

    def __init__(self, files: Sequence[InputFile]) -> None:
        self.keys: dict[str, Counter[str]] = {}
        self.lines = self.objects = 0
        for file in spread(files):
            for place, line in enumerate(head(file)):
                if not is_blank(line):
                    self._add(line if file.encoding == UTF8 else _utf8(line, file, place == 0))

    def _add(self, line: bytes) -> None:
        self.lines += 1
        try:
            values, _ = parse(line)
        except BadLine:
            return
        self.objects += 1
        for key, raw in values.items():
            kind = kind_of(raw)
            if kind == "integer" and (len(raw) > 20 or not -(2**63) <= int(raw) < 2**63):
                kind = "big"
            self.keys.setdefault(key, Counter())[kind] += 1

    def column(self, key: str) -> pa.DataType | None:
        """The type most values of a key fit, or None where no scalar was seen."""
        seen = self.keys[key]
        numbers = pa.float64() if seen["float"] else pa.int64()
        votes = [
            (seen["string"], pa.large_string()),
            (seen["integer"] + seen["float"], numbers),
            (seen["boolean"], pa.bool_()),
        ]
        count, kind = max(votes, key=lambda vote: vote[0])
        return kind if count else None
