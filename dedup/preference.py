"""``prefer``: which of two similar documents stays, before source order decides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pydantic import BeforeValidator

from cleanpipe.bounds import Numbers
from cleanpipe.units import Units
from cleanpipe.when import Equals

Keys: TypeAlias = npt.NDArray[np.uint64]

_TOKENS = "tokens"
_BY_LENGTH = {"longest": "highest", "shortest": "lowest"}
_LAST = np.uint64(2**64 - 1)


def _checked(value: Any) -> Any:
    """One entry, as it was written.

    Errors: ValueError with what was expected and found.
    """
    if isinstance(value, str) and value in _BY_LENGTH:
        return value
    if not isinstance(value, Mapping) or len(value) != 1:
        raise ValueError(
            "expected longest, shortest, or one name with what comes first, such as "
            f"{{source: [books, web]}} or {{perplexity.perplexity: lowest}}, got {value}"
        )
    ((name, wanted),) = value.items()
    if wanted in ("highest", "lowest"):
        return dict(value)
    if not isinstance(wanted, (tuple, list)) or not wanted:
        raise ValueError(
            f"{name}: expected a list of values, the best first, or highest or lowest, got {wanted}"
        )
    for place, item in enumerate(wanted):
        if not isinstance(item, (str, int, float)):
            raise ValueError(f"{name}: expected texts and numbers, got {item}")
        if item in wanted[:place]:
            raise ValueError(f"{name}: {item} is listed twice")
    return {str(name): tuple(wanted)}


Preference: TypeAlias = Annotated[Any, BeforeValidator(_checked)]
"""One entry of ``prefer``: ``longest``, ``shortest`` (by tokens); ``{NAME: [values, the best
first]}`` or ``{NAME: highest}``, ``{NAME: lowest}``, NAME being ``source``, a label, a measure or
``column.NAME``."""


def names(prefer: Sequence[Preference]) -> tuple[str, ...]:
    """The measures, labels and columns that these look at, each once."""
    return tuple(dict.fromkeys(name for name, _ in _parts(prefer)))


def numbers(prefer: Sequence[Preference]) -> tuple[str, ...]:
    """The names that these take the highest or lowest of."""
    return tuple(name for name, wanted in _parts(prefer) if isinstance(wanted, str))


def listed(prefer: Sequence[Preference]) -> Iterator[tuple[str, str]]:
    """The texts that these list: (name, value)."""
    for name, wanted in _parts(prefer):
        if not isinstance(wanted, str):
            yield from ((name, value) for value in wanted if isinstance(value, str))


def keys(prefer: Sequence[Preference], units: Units) -> list[Keys]:
    """What documents are sorted by: the lower, the better.

    Returns uint64 of shape (n,), one for each entry. A listed value has its place in the list;
    a number x has the bits of its float64 (of -x for ``highest``), the sign bit flipped, or
    all bits where it is set, which is the order of the numbers; dates and times count in their
    column's unit. What is null, NaN or not listed comes last: 2**64 - 1.

    Errors: KeyError where ``highest`` or ``lowest`` is asked of text.
    """
    return [
        _ordered(_number(units, name) * (-1 if wanted == "highest" else 1))
        if isinstance(wanted, str)
        else _listed(units, name, wanted)
        for name, wanted in _parts(prefer)
    ]


def _parts(prefer: Sequence[Preference]) -> Iterator[tuple[str, Any]]:
    for entry in prefer:
        if isinstance(entry, str):
            yield _TOKENS, _BY_LENGTH[entry]
        else:
            yield from entry.items()


def _number(units: Units, name: str) -> Numbers:
    value = units.value(name)
    if not isinstance(value, np.ndarray) and pa.types.is_temporal(value.type):
        whole = pa.int32() if value.type.bit_width == 32 else pa.int64()
        number: Numbers = (
            value.cast(whole).cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        )
        return number
    return units.number(name)


def _ordered(number: Numbers) -> Keys:
    bits = (number + 0.0).view(np.uint64)  # -0.0 is 0.0
    sign = np.uint64(2**63)
    return np.where(np.isnan(number), _LAST, np.where(bits >= sign, ~bits, bits | sign))


def _listed(units: Units, name: str, wanted: Sequence[Any]) -> Keys:
    value = units.value(name)
    key = np.full(len(units), _LAST)
    for place, item in enumerate(wanted):
        key[Equals((item,)).holds(value)] = place
    return key
