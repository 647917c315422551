"""Ill-formed UTF-8 and lone surrogates -> U+FFFD, one for each maximal subpart."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Flags = npt.NDArray[np.bool_]

_ESCAPE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # a pair: well-formed
    rb"|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})"  # a lone one
    rb"|\\.",  # any other escape, so that its backslash is not taken for another's start
    re.DOTALL,
)


def decoded(data: bytes) -> tuple[str, bool]:
    """Text of UTF-8 bytes, and whether anything had to be replaced."""
    try:
        return data.decode(), False
    except UnicodeDecodeError:
        return data.decode(errors="replace"), True


def without_lone_surrogates(line: bytes) -> bytes:
    """JSON text with escapes of lone surrogates replaced by that of U+FFFD."""
    return _ESCAPE.sub(lambda match: b"\\ufffd" if match[1] else match[0], line)


def well_formed(array: pa.Array[Any]) -> tuple[pa.Array[Any], Flags | None]:
    """An Arrow array with the strings in it repaired.

    Args:
        array: n values of any type.

    Returns:
        The array, and flags of shape (n,) for the values that changed, or None for none.

    Errors: ArrowInvalid where the array is broken in another way (offsets, indices).
    """
    try:
        array.validate(full=True)
        return array, None
    except pa.ArrowInvalid:
        fixed, changed = _repaired(array)
    fixed.validate(full=True)
    return fixed, changed


def _repaired(array: pa.Array[Any]) -> tuple[pa.Array[Any], Flags]:
    kind = array.type
    changed = np.zeros(len(array), dtype=np.bool_)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or kind == pa.string_view():
        return _repaired_strings(array)
    if isinstance(array, pa.DictionaryArray):
        values, parts = well_formed(array.dictionary)
        indices = array.indices
        indices.validate(full=True)
        fixed: pa.Array[Any] = pa.DictionaryArray.from_arrays(indices, values)
        if parts is not None:
            known = indices.is_valid().to_numpy(zero_copy_only=False)
            places = indices.fill_null(0).to_numpy(zero_copy_only=False)
            changed[known] = parts[places[known]]
        return fixed, changed
    if isinstance(array, pa.StructArray):
        fields = [well_formed(array.field(place)) for place in range(kind.num_fields)]
        for _, parts in fields:
            if parts is not None:
                changed |= parts
        names = [kind.field(place) for place in range(kind.num_fields)]
        mask = array.is_null()
        return pa.StructArray.from_arrays([f for f, _ in fields], fields=names, mask=mask), changed
    if isinstance(array, (pa.ListArray, pa.LargeListArray)):
        array = pa.concat_arrays([array]) if array.offset else array
        values, parts = well_formed(array.values)
        ends = array.offsets.to_numpy(zero_copy_only=False)
        if parts is not None:
            sums = np.concatenate(([0], np.cumsum(parts)))
            changed = sums[ends[1:]] > sums[ends[:-1]]
        remade: Any = type(array).from_arrays
        return remade(array.offsets, values, mask=array.is_null()), changed
    raise pa.ArrowInvalid(f"broken values of type {kind}")


def _repaired_strings(array: pa.Array[Any]) -> tuple[pa.Array[Any], Flags]:
    view = array.type == pa.string_view()
    raw: Any = array.cast(pa.binary_view() if view else _binary(array.type))
    raw.validate(full=True)  # before any value is touched: its offsets must be in bounds
    texts: list[str | None] = []
    changed = np.zeros(len(array), dtype=np.bool_)
    for place, value in enumerate(raw.to_pylist()):
        if value is None:
            texts.append(None)
            continue
        text, changed[place] = decoded(value)
        texts.append(text)
    return pa.array(texts, type=array.type), changed


def _binary(kind: pa.DataType) -> pa.DataType:
    return pa.large_binary() if pa.types.is_large_string(kind) else pa.binary()
