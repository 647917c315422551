"""The reference of stages and measures, made from docstrings: ``cleanpipe stages``."""

from __future__ import annotations

import dataclasses
import inspect
import json
from typing import Any, get_type_hints

from cleanpipe import registry, surface
from cleanpipe.errors import ConfigError
from cleanpipe.parameters import build, nearest, shown, written_name
from cleanpipe.stage import Barrier, Filter, NamedSet, Rewriter, Stage


def contents() -> str:
    """One line for every stage and surface measure."""
    lines = ["stages"]
    width = max(map(len, registry.stages()))
    for kind, cls in registry.stages().items():
        lines.append(f"  {kind:{width}} {_family(cls):10} {_first_line(cls)}")
    lines.append("")
    lines.append("surface measures, usable by name in rule and when")
    width = max(map(len, surface.SURFACE))
    for name, measure in surface.SURFACE.items():
        lines.append(f"  {name:{width}} {measure.description}")
    return "\n".join(lines) + "\n"


def page(name: str) -> str:
    """Everything about one stage or measure; where both have the name the stage comes first.

    Errors: ConfigError for an unknown name, offering the nearest.
    """
    found = registry.stages()
    measure = ""
    if name in surface.SURFACE:
        measure = f"{name}: a surface measure\n\n{surface.SURFACE[name].description}\n"
    if name in found:
        return "\n".join(filter(None, (_stage(name, found[name]), measure)))
    if not measure:
        known = [*found, *surface.SURFACE]
        raise ConfigError(f'unknown stage or measure "{name}"; {nearest(name, known)}')
    return measure


def _stage(name: str, cls: type[Stage]) -> str:
    lines = [f"{name}: {_article(_family(cls))} (version {cls.version})", ""]
    lines += [inspect.getdoc(cls) or "", "", "parameters and defaults"]
    lines += [f"  {line}" for line in _parameters(cls)]
    more = {a: real for a, real in cls.aliases.items() if written_name(cls, real) != a}
    if more:
        spellings = ", ".join(f"{alias} for {real}" for alias, real in more.items())
        lines.append(f"  also written: {spellings}")
    members = _members(cls)
    if members:
        lines += ["", "its rules, each a stage of the plan, turned off by null"]
        lines += [
            f"  {f'{name}.{member}' if member else name}: {json.dumps(parameters)}"
            for member, parameters in members
        ]
    return "\n".join(lines) + "\n"


def _family(cls: type[Stage]) -> str:
    families = {Filter: "filter", Rewriter: "rewriter", Barrier: "barrier", NamedSet: "named set"}
    return next(name for base, name in families.items() if issubclass(cls, base))


def _article(word: str) -> str:
    return f"a {word}"


def _first_line(cls: type[Stage]) -> str:
    return (inspect.getdoc(cls) or "").split("\n")[0]


def _parameters(cls: type[Any]) -> list[str]:
    hints = get_type_hints(cls)
    lines = []
    for field in dataclasses.fields(cls):
        if field.default is not dataclasses.MISSING:
            default = json.dumps(shown(field.default), ensure_ascii=False)
        elif field.default_factory is not dataclasses.MISSING:
            default = json.dumps(shown(field.default_factory()), ensure_ascii=False)
        else:
            default = "required"
        hint = hints[field.name]
        kind = getattr(hint, "__name__", None) if isinstance(hint, type) else str(hint)
        lines.append(f"{written_name(cls, field.name)}: {default}  ({_short(str(kind))})")
    return lines


def _short(hint: str) -> str:
    for prefix in ("typing.", "cleanpipe.bounds.", "cleanpipe.parameters.", "collections.abc."):
        hint = hint.replace(prefix, "")
    return hint


def _members(cls: type[Stage]) -> list[tuple[str, Any]]:
    if not issubclass(cls, NamedSet):
        return []
    alone, _ = build(cls, {})
    if alone is None:
        return []  # they depend on what is given
    return [(member, shown(stage)) for member, stage in alone.expand()]
