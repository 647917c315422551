"""Units: what is known of texts, and that a measure is taken once."""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pytest

from cleanpipe import surface
from cleanpipe.bounds import Numbers
from cleanpipe.surface import SURFACE
from cleanpipe.units import Units

Taken: TypeAlias = tuple[str, tuple[str, ...]]
TEXTS = ["a b", "", "c d e", "f"]


def units(**known: object) -> Units:
    return Units(pa.array(TEXTS, pa.large_string()), known)


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[Taken]:
    """The surface measures taken in one go, and of which texts."""
    calls: list[Taken] = []
    real = surface.take

    def watched(text: pa.LargeStringArray, names: Collection[str]) -> dict[str, Numbers]:
        calls.append((" ".join(names), tuple(text.to_pylist())))
        return real(text, names)

    monkeypatch.setattr(surface, "take", watched)
    return calls


def rows(*places: int) -> np.ndarray:
    return np.array(places, np.int64)


def test_a_measure_is_taken_once(taken: list[Taken]) -> None:
    some = units()
    assert some.number("tokens").tolist() == [2, 0, 3, 1]
    assert some.number("tokens").tolist() == [2, 0, 3, 1]
    assert some.take(rows(2, 0)).number("tokens").tolist() == [3, 2]
    assert taken == [("tokens", tuple(TEXTS))]


def test_a_part_takes_only_what_is_missing(taken: list[Taken]) -> None:
    some = units()
    part = some.take(rows(2, 3))
    assert part.number("tokens").tolist() == [3, 1]
    assert part.take(rows(1)).number("tokens").tolist() == [1]
    assert some.take(rows(0, 2)).number("tokens").tolist() == [2, 3]
    assert some.number("tokens").tolist() == [2, 0, 3, 1]
    assert taken == [
        ("tokens", ("c d e", "f")),
        ("tokens", ("a b",)),
        ("tokens", ("",)),
    ]


def test_a_group_is_taken_in_one_go(taken: list[Taken]) -> None:
    text = pa.array(TEXTS, pa.large_string())
    some = Units(text, together=[("lines", "tokens"), ("tokens", "characters")])
    assert some.number("characters").tolist() == [3, 0, 5, 1]
    assert some.take(rows(0)).number("lines").tolist() == [1]
    assert some.number("tokens").tolist() == [2, 0, 3, 1]
    assert some.number("sentences").tolist() == [1, 0, 1, 1]
    assert taken == [
        ("tokens characters", tuple(TEXTS)),
        ("lines", ("a b",)),
        ("sentences", tuple(TEXTS)),
    ]


@pytest.mark.parametrize("name", sorted(SURFACE))
def test_parts_and_wholes_agree(name: str) -> None:
    whole = units().number(name)
    some = units()
    for place in (3, 1, 0, 2):
        assert some.take(rows(place)).number(name).tolist() == [whole[place]]
    assert some.number(name).tolist() == whole.tolist()


def test_what_is_known_comes_first(taken: list[Taken]) -> None:
    label = pa.array(["en", None, "zh", "und"], pa.large_string())
    some = units(tokens=np.array([9.0, 9, 8, np.nan]), language=label)
    assert some.number("tokens")[:3].tolist() == [9, 9, 8]
    part = some.take(rows(3, 2)).take(rows(1))
    assert part.number("tokens").tolist() == [8]
    assert part.value("language").to_pylist() == ["zh"]  # type: ignore[union-attr]
    assert part.strings == ["c d e"]
    assert part.text.to_pylist() == ["c d e"]
    assert len(part) == 1
    assert not taken


def test_looking_up() -> None:
    asked: list[str] = []

    def find(name: str) -> np.ndarray | None:
        asked.append(name)
        return np.arange(4.0) if name == "length.tokens" else None

    some = Units(pa.array(TEXTS, pa.large_string()), {"x": np.zeros(4)}, find=find)
    assert some.number("length.tokens").tolist() == [0, 1, 2, 3]
    assert some.take(rows(2)).number("length.tokens").tolist() == [2]
    assert some.number("x").tolist() == [0] * 4
    assert asked == ["length.tokens", "length.tokens"]
    with pytest.raises(KeyError):
        some.value("nobody")


def test_numbers_of_columns() -> None:
    some = units(
        ints=pa.array([1, None, 3, 4]),
        decimals=pa.array([1, None, 3, 4]).cast(pa.decimal128(22, 2)),
        nothing=pa.nulls(4),
        labels=pa.array(["a", None, "c", "d"], pa.large_string()),
        flags=pa.array([True, False, None, True]),
    )
    for name in ("ints", "decimals"):
        assert some.number(name)[[0, 2, 3]].tolist() == [1, 3, 4]
        assert np.isnan(some.number(name)[1])
    assert np.isnan(some.number("nothing")).all()
    for name in ("labels", "flags"):
        with pytest.raises(KeyError):
            some.number(name)


def test_no_units_at_all() -> None:
    none = units().take(rows())
    assert len(none) == 0
    for name in SURFACE:
        assert none.number(name).tolist() == []
    # Nothing was taken for nobody's sake.
    assert units().take(rows(0)).take(rows()).strings == []


def test_a_slice_of_an_array() -> None:
    some = Units(pa.array(["zz zz", *TEXTS, "zz"], pa.large_string()).slice(1, 4))
    for name in SURFACE:
        assert some.number(name).tolist() == units().number(name).tolist(), name
