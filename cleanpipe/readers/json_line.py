"""One JSON line, key by key: slow, exact, and the measure of what the fast way may do."""

from __future__ import annotations

import msgspec

from cleanpipe.readers.repair import decoded, without_lone_surrogates

MAX_DEPTH = 256
"""Deepest nesting that is read. Python's own limit would depend on who calls."""

_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ID = msgspec.json.Decoder(str | int | float | None)


class BadLine(Exception):
    """A line that is no JSON object; the message says why."""


def parse(line: bytes) -> tuple[dict[str, str], bool]:
    """Read one line key by key.

    Args:
        line: a line that is not blank.

    Returns:
        The JSON text of each key's value (of the last one where a key is repeated), and
        whether ill-formed UTF-8 or lone surrogates were replaced.

    Errors: BadLine.
    """
    text, replaced = decoded(line)
    if replaced:
        line = text.encode()
    if _depth(line) > MAX_DEPTH:
        raise BadLine(f"nested deeper than {MAX_DEPTH} levels")
    try:
        try:
            raws = _OBJECT.decode(line)
        except msgspec.ValidationError:
            raise
        except msgspec.DecodeError:
            fixed = without_lone_surrogates(line)
            if fixed == line:
                raise
            raws = _OBJECT.decode(fixed)
            replaced = True
    except msgspec.MsgspecError as error:
        raise BadLine(str(error)) from None
    return {key: str(raw, "utf-8") for key, raw in raws.items()}, replaced


def _depth(line: bytes) -> int:
    if line.count(b"[") + line.count(b"{") <= MAX_DEPTH:
        return 0
    depth = deepest = 0
    inside = escaped = False
    for byte in line:
        if inside:
            if escaped:
                escaped = False
            elif byte == 0x5C:
                escaped = True
            elif byte == 0x22:
                inside = False
        elif byte == 0x22:
            inside = True
        elif byte in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif byte in b"]}":
            depth -= 1
    return deepest


def kind_of(raw: str) -> str:
    """What JSON text is: ``null``, ``boolean``, ``string``, ``nested``, ``integer``, ``float``."""
    first = raw[0]
    if first == '"':
        return "string"
    if first in "{[":
        return "nested"
    if first in "tf":
        return "boolean"
    if first == "n":
        return "null"
    return "float" if "." in raw or "e" in raw or "E" in raw else "integer"


def label(value: str | float | None) -> str | None:
    """A decoded id as text: strings as they are, other scalars as JSON writes them."""
    if value is None or isinstance(value, str):
        return value
    return str(msgspec.json.encode(value), "utf-8")


def label_of(raw: str) -> str | None:
    """The id that JSON text stands for, as :func:`label`; nested values stay as written."""
    try:
        return label(_ID.decode(raw))
    except msgspec.ValidationError:
        return raw


def what(raw: str) -> str:
    """The kind of a JSON text in words, such as ``an array``."""
    kind = kind_of(raw)
    if kind == "nested":
        return "an object" if raw[0] == "{" else "an array"
    return {"null": "null", "string": "a string", "boolean": "a boolean"}.get(kind, "a number")
