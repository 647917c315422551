"""A filter's test is a table: text, parameters as in a pipeline file, the rule that fails."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cleanpipe.document import frozen
from cleanpipe.parameters import build
from cleanpipe.stage import Filter, NamedSet, Stage
from cleanpipe.units import Units

TABLES: dict[str, list[Mapping[str, Any]]] = {}
"""Parameters of every table by the stage's kind: the contract test tries them too."""

Case = tuple[str, Mapping[str, Any], str | None]
"""Text, parameters, the first rule it fails (None where it passes them all)."""


def table(stage: type[Stage], cases: Sequence[Case]) -> Callable[..., None]:
    """A test over these cases; assign it to a name that begins with ``test_``.

    Every text is judged among others, so that a filter that mixes up its units fails too.
    """

    seen = TABLES.setdefault(stage.kind, [])
    seen.extend(case for _, case, _ in cases if case not in seen)

    @pytest.mark.parametrize(("text", "parameters", "rule"), cases)
    def test(text: str, parameters: Mapping[str, Any], rule: str | None) -> None:
        filters = _filters(made(stage, parameters))
        units = Units(pa.array(["", text, "Other text."], pa.large_string()))
        failed = next((name for name in map(_failing(units), filters) if name), None)
        assert failed == rule, (
            f"fails {failed}, expected {rule}; measured {_measured(filters, units)}"
        )

    parametrised: Callable[..., None] = test
    return parametrised


def made(stage: type[Stage], parameters: Mapping[str, Any]) -> Any:
    """The stage as a pipeline file makes it."""
    instance, faults = build(stage, frozen(parameters))
    assert not faults
    return instance


def faults(stage: type[Stage], parameters: Mapping[str, Any], base: str = ".") -> list[str]:
    """What is wrong with these parameters, as ``place: message``; ``base`` is the folder that
    paths start from."""
    _, found = build(stage, frozen(parameters), base)
    return [f"{'.'.join(map(str, place))}: {message}" for place, message in found]


def _filters(stage: Stage) -> list[Filter]:
    members = [member for _, member in stage.expand()] if isinstance(stage, NamedSet) else [stage]
    return [member for member in members if isinstance(member, Filter)]


def _measured(filters: list[Filter], units: Units) -> str:
    taken = [(name, value[1]) for each in filters for name, value in each.measure(units).items()]
    return ", ".join(f"{name}={value}" for name, value in taken)


def _failing(units: Units) -> Callable[[Filter], str | None]:
    def failing(stage: Filter) -> str | None:
        measures = stage.measure(units)
        assert all(len(measures[name]) == len(units) for name in stage.takes())
        codes = stage.judge(measures)
        assert codes.dtype == np.uint16
        code = int(codes[1])
        return stage.rules()[code - 1].name if code else None

    return failing
