"""Pipeline files that ship with the package, runnable by name."""

from __future__ import annotations

import os
from importlib.resources import files

from cleanpipe.errors import ConfigError, Fault
from cleanpipe.parameters import nearest


def recipes() -> dict[str, str]:
    """Name -> path of every shipped recipe, sorted."""
    folder = files("cleanpipe.pipelines")
    found = (entry for entry in folder.iterdir() if entry.name.endswith(".yaml"))
    return {entry.name.removesuffix(".yaml"): str(entry) for entry in sorted(found, key=str)}


def base_of(path: str) -> str:
    """The folder that paths in a pipeline file are relative to: its own, but of a shipped recipe,
    beside which nobody puts a model, the working directory."""
    return "." if path in recipes().values() else os.path.dirname(path) or "."


def find_recipe(name: str) -> str:
    """The pipeline file of that path, else the recipe of that name.

    Errors: ConfigError where there is neither.
    """
    known = recipes()
    if os.path.exists(name) or name.endswith((".yaml", ".yml")) or os.sep in name:
        return name
    if name in known:
        return known[name]
    raise ConfigError(
        [
            Fault(
                0,
                0,
                "",
                f"no such file, and no recipe of that name; {nearest(name, list(known))}",
                name,
            )
        ]
    )
