"""``--set path=value``: the file's own keys, with stage names in place of list positions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cleanpipe.document import Document
from cleanpipe.errors import ConfigError
from cleanpipe.parameters import nearest

_ENDS = {"min": 0, "max": 1}


def override(
    tree: Mapping[str, Any], settings: Sequence[str], sections: Sequence[str]
) -> tuple[Mapping[str, Any], list[tuple[str, str]]]:
    """Apply settings, in order, to a copy of ``tree``.

    Args:
        tree: the pipeline's plain values.
        settings: texts ``path=value``; values are YAML.
        sections: the top-level keys; any other first word is a stage's name.

    Returns:
        The new tree, and (path, message) for every setting that could not be applied.
    """
    faults: list[tuple[str, str]] = []
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
            if parts[0] in sections:
                changed = _put(changed, parts, value)
            else:
                changed = {**changed, "stages": _put(changed.get("stages", ()), parts, value)}
        except KeyError as error:
            faults.append((path, error.args[0]))
    return changed, faults


def _put(node: Any, parts: Sequence[str], value: Any) -> Any:
    """A copy of ``node`` with ``value`` at the path; missing maps are made."""
    if not parts:
        return value
    head, *rest = parts
    if isinstance(node, tuple) and any(isinstance(item, (Mapping, str)) for item in node):
        return _put_stage(node, parts, value)
    if isinstance(node, (tuple, Mapping)) and not rest and head in _ENDS and _is_bounds(node):
        return _put_end(node, head, value)
    if node is None:
        node = {}
    if not isinstance(node, Mapping):
        raise KeyError(f'nothing is called "{head}" below {node}')
    if head == "cases" and "per" in node and len(rest) > 2:
        node = _with_shared(node, rest[0], rest[1])
    return {**node, head: _put(node.get(head), rest, value)}


def _with_shared(node: Mapping[str, Any], case: str, key: str) -> Mapping[str, Any]:
    """A part of a parameter that the cases share is changed for one case: it gets its own."""
    cases = node.get("cases") or {}
    own = cases.get(case) or {}
    if key in own or key not in node:
        return node
    return {**node, "cases": {**cases, case: {**own, key: node[key]}}}


def _put_stage(stages: tuple[Any, ...], parts: Sequence[str], value: Any) -> Any:
    names = [_name(entry) for entry in stages]
    # Named sets' members have dots in their names, so names are looked up as a whole.
    head, *rest = parts
    if head not in names:
        raise KeyError(f'no stage is called "{head}"; {nearest(head, [n for n in names if n])}')
    index = names.index(head)
    entry = stages[index]
    if isinstance(entry, str):
        entry = {entry: None}
    if rest and rest[0] in ("when", "name"):
        new = _put(entry, rest, value)
    else:
        kind = next((key for key in entry if key not in ("name", "when")), None)
        if kind is None:
            raise KeyError(f'"{head}" is the name of no stage: nothing stands beside it')
        new = {**entry, kind: _put(entry[kind], rest, value)}
    return (*stages[:index], new, *stages[index + 1 :])


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
    return bool(node) and node.keys() <= {"min", "max", "above", "below"}


def _put_end(node: Any, end: str, value: Any) -> Any:
    if isinstance(node, tuple):
        ends = list(node)
        ends[_ENDS[end]] = value
        return tuple(ends)
    # A strict end that is set by its plain name becomes a plain end.
    strict = {"min": "above", "max": "below"}[end]
    return {**{key: item for key, item in node.items() if key != strict}, end: value}
