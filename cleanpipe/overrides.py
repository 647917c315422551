"""``--set path=value``: the file's own keys, with stage names in place of list positions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cleanpipe.bounds import plain_text
from cleanpipe.defaults import SIDES, with_default
from cleanpipe.document import Document, Place
from cleanpipe.errors import ConfigError
from cleanpipe.parameters import nearest


def override(
    tree: Mapping[str, Any], settings: Sequence[str], sections: Sequence[str], base: str = "."
) -> tuple[Mapping[str, Any], list[tuple[str, str]], dict[Place, str]]:
    """Apply settings, in order, to a copy of ``tree``.

    Args:
        tree: the pipeline's plain values.
        settings: texts ``path=value``; values are YAML.
        sections: the top-level keys; any other first word is a stage's name.
        base: the folder that the file's paths are relative to. Default: the working directory.

    Returns:
        The new tree; (path, message) for every setting that could not be applied; and of the
        others the places that they changed, with the paths.
    """
    faults: list[tuple[str, str]] = []
    places: dict[Place, str] = {}
    changed: Any = tree
    for setting in settings:
        path, equals, text = setting.partition("=")
        parts = path.strip().split(".")
        if not equals or not all(parts):
            faults.append((setting, "expected path=value"))
            continue
        try:
            value = Document.parse(text, "").tree
        except ConfigError:
            faults.append((path, f'expected a YAML value, got "{text}"'))
            continue
        try:
            above: Place = () if parts[0] in sections else ("stages",)
            node = changed.get("stages", ()) if above else changed
            put = _Put(value, base, above)
            node = put.at(node, parts)
            changed = {**changed, "stages": node} if above else node
            places[put.place] = path.strip()
        except KeyError as error:
            faults.append((path, error.args[0]))
    return changed, faults, places


class _Put:
    """Puts one value; ``place`` is then where in the file's tree it went."""

    def __init__(self, value: Any, base: str, above: Place) -> None:
        self.value, self.base, self.place = value, base, above

    def at(self, node: Any, parts: Sequence[str]) -> Any:
        """A copy of ``node`` with the value at the path; missing maps are made."""
        if not parts:
            return self.value
        head, *rest = parts
        if isinstance(node, tuple) and any(isinstance(item, (Mapping, str)) for item in node):
            return self._at_stage(node, parts)
        if not rest and head in SIDES and (node is None or _is_bounds(node)):
            # The place is that of the bounds: they are at fault together.
            return _with_end(node or {}, head, self.value)
        if node is None:
            node = {}
        if not isinstance(node, Mapping):
            raise KeyError(f'nothing is called "{head}" below {plain_text(node)}')
        if head == "cases" and "per" in node and len(rest) > 2:
            node = _with_shared(node, rest[0], rest[1])
        self.place = (*self.place, head)
        return {**node, head: self.at(node.get(head), rest)}

    def _at_stage(self, stages: tuple[Any, ...], parts: Sequence[str]) -> Any:
        names = [_name(entry) for entry in stages]
        # Named sets' members have dots in their names, so names are looked up as a whole.
        head, *rest = parts
        if head not in names:
            raise KeyError(f'no stage is called "{head}"; {nearest(head, [n for n in names if n])}')
        index = names.index(head)
        entry = stages[index]
        if isinstance(entry, str):
            entry = {entry: None}
        self.place = (*self.place, index)
        if rest and rest[0] in ("when", "name"):
            new = self.at(entry, rest)
        else:
            kind = next((key for key in entry if key not in ("name", "when")), None)
            if kind is None:
                raise KeyError(f'"{head}" is the name of no stage: nothing stands beside it')
            self.place = (*self.place, kind)
            rest = [*_list_with(entry[kind], rest), *rest]
            values = with_default(kind, entry[kind], rest, self.base) if rest else None
            new = {**entry, kind: self.at(values or {}, rest)}
        return (*stages[:index], new, *stages[index + 1 :])


def _with_shared(node: Mapping[str, Any], case: str, key: str) -> Mapping[str, Any]:
    """A part of a parameter that the cases share is changed for one case: it gets its own."""
    cases = node.get("cases") or {}
    own = cases.get(case) or {}
    if key in own or key not in node:
        return node
    return {**node, "cases": {**cases, case: {**own, key: node[key]}}}


def _list_with(values: Any, path: Sequence[str]) -> list[str]:
    """The parameter that is a list with a filter of the path's first name, which need not be
    said: ``lines.figures.max`` is ``lines.failing.figures.max``."""
    if not path or not isinstance(values, Mapping) or path[0] in values:
        return []
    lists = [key for key, items in values.items() if isinstance(items, tuple)]
    holds = (key for key in lists if any(isinstance(item, Mapping) for item in values[key]))
    return [key for key in holds if path[0] in map(_name, values[key])][:1]


def _name(entry: Any) -> str:
    if isinstance(entry, str):
        return entry
    if isinstance(entry, Mapping):
        kinds = [key for key in entry if key not in ("name", "when")]
        return str(entry.get("name", kinds[0] if kinds else ""))
    return ""


def _is_bounds(node: Any) -> bool:
    if isinstance(node, tuple):
        return len(node) == 2 and all(end is None or isinstance(end, (int, float)) for end in node)
    return isinstance(node, Mapping) and bool(node) and node.keys() <= SIDES.keys()


def _with_end(node: Any, end: str, value: Any) -> Any:
    if isinstance(node, tuple):
        if end in ("min", "max"):
            return (value, node[1]) if end == "min" else (node[0], value)
        node = {key: one for key, one in zip(("min", "max"), node, strict=True) if one is not None}
    # An end has one word: the new one takes the place of the old one.
    return {**{key: one for key, one in node.items() if SIDES[key] != SIDES[end]}, end: value}
