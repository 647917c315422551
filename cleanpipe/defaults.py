"""What bounds hold where a pipeline file writes none, or one end of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cleanpipe import registry
from cleanpipe.bounds import Bounds
from cleanpipe.errors import CleanpipeError
from cleanpipe.parameters import build
from cleanpipe.stage import NamedSet, Stage

SIDES = {"min": "low", "above": "low", "max": "high", "below": "high"}
"""The end that each word of the grammar of bounds is about."""


def default_bounds(cls: type[Stage], values: Any, place: Sequence[str], base: str) -> Bounds | None:
    """The bounds that a stage takes at a place of its parameters where nothing is written there.

    Args:
        cls: the stage's class.
        values: its parameters as read.
        place: the keys below them: a parameter, or a key of one that is a map, such as
            ``("change", "digit_share")``, which then is called as the set's member is.
        base: the folder that paths are relative to.

    Returns:
        The parameter's default or, of a named set, what its member of that name bounds; None
        where there is neither, or the other parameters are at fault.
    """
    try:
        stage, _ = build(cls, _without(values or {}, place), base, check=False)
        name = place[-1]
        found = getattr(stage, cls.aliases.get(name, name), None) if len(place) == 1 else None
        if isinstance(stage, NamedSet) and not isinstance(found, Bounds):
            member = dict(stage.expand()).get(name)
            bounds = [rule.bounds for rule in getattr(member, "rules", tuple)()]
            found = bounds[0] if len(bounds) == 1 else None
    except (CleanpipeError, OSError, TypeError, ValueError):
        return None  # the fault is told where the stage is made
    return found if isinstance(found, Bounds) and found else None


def with_default(kind: str | None, values: Any, path: Sequence[str], base: str) -> Any:
    """A stage's parameters in which the bounds that a path ends in are written out, if they are
    a default and the path is about one end of them."""
    cls = registry.stages().get(kind or "")
    if cls is None or not isinstance(values, Mapping | None) or path[-1] not in SIDES:
        return values
    values, place = values or {}, tuple(path[:-1])
    if "per" in values:
        if place[:1] != ("cases",) or len(place) < 3:
            return values
        cases = values.get("cases") or {}
        own = cases.get(place[1]) or {}
        shared = {key: item for key, item in values.items() if key not in ("per", "cases", "else")}
        bounds = _missing(cls, {**shared, **own}, place[2:], base)
        if bounds is None:
            return values
        own = _put(own, place[2:], bounds)
        return {**values, "cases": {**cases, place[1]: own}}
    bounds = _missing(cls, values, place, base)
    return values if bounds is None else _put(values, place, bounds)


def half_written(
    cls: type[Stage], values: Mapping[str, Any], base: str
) -> list[tuple[tuple[str, ...], str]]:
    """Bounds with one end written whose default has another: the place, and a sentence."""
    found = []
    for place, item in _maps(values):
        sides = {SIDES.get(key) for key in item}
        if None in sides or len(sides) != 1:
            continue
        default = default_bounds(cls, values, place, base)
        end = "high" if sides == {"low"} else "low"
        if default is not None and getattr(default, end) is not None:
            kept = "no upper" if end == "high" else "no lower"
            found.append(
                (place, f"has {kept} end now: write both ends; the default is {default.written()}")
            )
    return found


def _missing(
    cls: type[Stage], values: Mapping[str, Any], place: Sequence[str], base: str
) -> dict[str, Any] | None:
    """The default at a place where nothing is written, as a map of its ends."""
    node: Any = values
    aliases = {cls.aliases.get(key, key) for key in values}
    if not place or (len(place) == 1 and cls.aliases.get(place[0], place[0]) in aliases):
        return None
    for key in place:
        if not isinstance(node, Mapping) or key not in node:
            default = default_bounds(cls, values, place, base)
            return None if default is None else default.sides()
        node = node[key]
    return None


def _maps(values: Mapping[str, Any]) -> list[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Parameters that are maps, and maps in those."""
    found: list[tuple[tuple[str, ...], Mapping[str, Any]]] = []
    for key, item in values.items():
        if isinstance(item, Mapping) and item:
            found.append(((key,), item))
            found += [((key, *place), inner) for place, inner in _maps(item)]
    return found


def _put(values: Mapping[str, Any], place: Sequence[str], item: Any) -> dict[str, Any]:
    head, *rest = place
    return {**values, head: _put(values.get(head) or {}, rest, item) if rest else item}


def _without(values: Mapping[str, Any], place: Sequence[str]) -> dict[str, Any]:
    head, *rest = place
    inner = values.get(head)
    if not rest or not isinstance(inner, Mapping):
        return {key: item for key, item in values.items() if key != head}
    return {**values, head: _without(inner, rest)}
