"""Names to stages: every stage class found in ``cleanpipe.filters`` and ``cleanpipe.dedup``, and
in modules that other distributions name as entry points."""

from __future__ import annotations

import importlib
import importlib.metadata
import inspect
import pkgutil
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType

from cleanpipe.errors import CleanpipeError, ConfigError
from cleanpipe.stage import Stage

PACKAGES = ("cleanpipe.filters", "cleanpipe.dedup")
ENTRY_POINTS = "cleanpipe.stages"
"""The group in which other distributions name modules with stages of theirs."""


@cache
def stages() -> Mapping[str, type[Stage]]:
    """Every stage by its kind, sorted.

    Errors: CleanpipeError where two classes claim one kind; ConfigError where a module with
    stages cannot be imported.
    """
    found: dict[str, type[Stage]] = {}
    for name in _modules():
        try:
            module = importlib.import_module(name)
        except Exception as error:
            raise ConfigError(
                f"stages of {name} cannot be imported: {type(error).__name__}: {error}"
            ) from error
        for _, cls in inspect.getmembers(module, inspect.isclass):
            if cls.__module__ != module.__name__ or inspect.isabstract(cls):
                continue
            if cls.__name__.startswith("_"):  # a member of a named set, not to be asked for
                continue
            if issubclass(cls, Stage) and "kind" in vars(cls):
                register(found, cls)
    return MappingProxyType(dict(sorted(found.items())))


def _modules() -> Iterator[str]:
    """Names of the modules that may hold stages: ours, then those of other distributions."""
    for package_name in PACKAGES:
        package = importlib.import_module(package_name)
        for info in pkgutil.iter_modules(package.__path__, f"{package_name}."):
            yield info.name
    points = importlib.metadata.entry_points(group=ENTRY_POINTS)
    yield from sorted({point.module for point in points})


def register(found: dict[str, type[Stage]], cls: type[Stage]) -> None:
    """Enter a class under its kind; a second one of that kind is refused."""
    other = found.get(cls.kind)
    if other is not None:
        raise CleanpipeError(
            f'two stages are called "{cls.kind}": {other.__module__}.{other.__qualname__} '
            f"and {cls.__module__}.{cls.__qualname__}; rename one"
        )
    found[cls.kind] = cls
