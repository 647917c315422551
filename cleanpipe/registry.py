"""Names to stages: every stage class found in ``cleanpipe.filters`` and ``cleanpipe.dedup``."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from cleanpipe.errors import CleanpipeError
from cleanpipe.stage import Stage

PACKAGES = ("cleanpipe.filters", "cleanpipe.dedup")


@cache
def stages() -> Mapping[str, type[Stage]]:
    """Every stage by its kind, sorted.

    Errors: CleanpipeError where two classes claim one kind.
    """
    found: dict[str, type[Stage]] = {}
    for package_name in PACKAGES:
        package = importlib.import_module(package_name)
        for info in pkgutil.iter_modules(package.__path__, f"{package_name}."):
            module = importlib.import_module(info.name)
            for _, cls in inspect.getmembers(module, inspect.isclass):
                if cls.__module__ != module.__name__ or inspect.isabstract(cls):
                    continue
                if issubclass(cls, Stage) and "kind" in vars(cls):
                    register(found, cls)
    return MappingProxyType(dict(sorted(found.items())))


def register(found: dict[str, type[Stage]], cls: type[Stage]) -> None:
    """Enter a class under its kind; a second one of that kind is refused."""
    other = found.get(cls.kind)
    if other is not None:
        raise CleanpipeError(
            f'two stages are called "{cls.kind}": {other.__module__}.{other.__qualname__} '
            f"and {cls.__module__}.{cls.__qualname__}; rename one"
        )
    found[cls.kind] = cls
