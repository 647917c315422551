"""Bounds of a named set that its ``variant`` fills in where they are not given. Not a stage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from cleanpipe.bounds import Bounds
from cleanpipe.stage import NamedSet

ByVariant: TypeAlias = Bounds | Literal["variant"] | None
"""Bounds; or ``variant`` for those of the set's variant; or None: off."""


def chosen(stage: NamedSet, numbers: Mapping[str, Bounds]) -> dict[str, Bounds]:
    """The bounds of a set, by parameter, in order; what leaves nothing out is not among them.

    Args:
        stage: the set.
        numbers: its variant's bounds, by parameter; one that is missing is off.
    """
    found = {}
    for name in stage.__dataclass_fields__:
        value = getattr(stage, name)
        bounds = numbers.get(name) if value == "variant" else value
        if isinstance(bounds, Bounds) and bounds and name != "variant":
            found[name] = bounds
    return found
