"""Types of columns: what an input type becomes, and which types go together without loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

_LARGE: dict[pa.DataType, pa.DataType] = {
    pa.string(): pa.large_string(),
    pa.string_view(): pa.large_string(),
    pa.binary(): pa.large_binary(),
    pa.binary_view(): pa.large_binary(),
}


def output_type(kind: Any) -> pa.DataType:
    """The type a column has in the output: strings large, dictionaries decoded, else as is."""
    if isinstance(kind, pa.DictionaryType):
        return output_type(kind.value_type)
    if isinstance(kind, pa.RunEndEncodedType):
        return output_type(kind.value_type)
    found: pa.DataType = _LARGE.get(kind, kind)
    return found


@dataclass(frozen=True)
class Column:
    """A column as one source has it.

    Attributes:
        type: its type in the output.
        is_json: inferred from JSON: an integer may then become float64, value by value.
        file: a file that shows it.
    """

    type: pa.DataType
    is_json: bool
    file: str


_SIGNED = (pa.int8(), pa.int16(), pa.int32(), pa.int64())
_UNSIGNED = (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())
_FLOATS = {pa.float16(): 11, pa.float32(): 24, pa.float64(): 53}
"""Bits of a float type's significand."""


def widened(one: Column, two: Column) -> Column | None:
    """The narrowest column that holds every value of both, or None where there is none."""
    is_json = one.is_json and two.is_json
    for a, b in ((one, two), (two, one)):
        # Each JSON integer is checked for itself when it is read.
        if a.is_json and a.type == pa.int64() and b.type in _FLOATS:
            return Column(pa.float64(), is_json, one.file)
    kind = _wider(one.type, two.type)
    return None if kind is None else Column(kind, is_json, one.file)


def _wider(one: pa.DataType, two: pa.DataType) -> pa.DataType | None:
    if one == two or pa.types.is_null(two):
        return one
    if pa.types.is_null(one):
        return two
    if one in _FLOATS and two in _FLOATS:
        return max(one, two, key=lambda kind: _FLOATS[kind])
    for a, b in ((one, two), (two, one)):
        if pa.types.is_integer(a) and b in _FLOATS:
            bits = a.bit_width - (a in _SIGNED)
            fit = [kind for kind, size in _FLOATS.items() if size >= max(bits, _FLOATS[b])]
            return fit[0] if fit else None
        if a in _SIGNED and b in _UNSIGNED:
            bits = max(a.bit_width, 2 * b.bit_width)
            return next((kind for kind in _SIGNED if kind.bit_width == bits), None)
    if pa.types.is_integer(one) and pa.types.is_integer(two):
        return max(one, two, key=lambda kind: kind.bit_width)
    return None
