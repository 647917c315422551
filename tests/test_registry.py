"""Names to stages: found by themselves, each name once."""

from __future__ import annotations

import inspect

import pytest

from cleanpipe import registry
from cleanpipe.errors import CleanpipeError
from cleanpipe.stage import Stage

from .stages_for_tests import Count, Cut


def test_every_stage_is_found_sorted() -> None:
    found = registry.stages()
    assert list(found) == sorted(found)
    assert {"exact", "gopher_quality", "language", "length", "perplexity"} <= found.keys()
    for kind, cls in found.items():
        assert cls.kind == kind
        assert issubclass(cls, Stage)
        assert not inspect.isabstract(cls)
        assert cls.__module__.startswith(registry.PACKAGES)


def test_it_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        registry.stages()["mine"] = Count  # type: ignore[index]


def test_a_second_one_of_a_name_is_refused() -> None:
    found: dict[str, type[Stage]] = {}
    registry.register(found, Count)
    registry.register(found, Cut)
    assert found == {"count": Count, "cut": Cut}

    class Other(Count):
        pass

    with pytest.raises(CleanpipeError, match='two stages are called "count": .*Count and .*Other'):
        registry.register(found, Other)
    assert found["count"] is Count


def test_the_engine_names_no_stage() -> None:
    # Only the registry knows the folders; nothing in the engine imports from them.
    import cleanpipe

    import_of = ("from cleanpipe.filters", "from cleanpipe.dedup", "import cleanpipe.filters")
    folder = inspect.getfile(cleanpipe).removesuffix("__init__.py")
    import pathlib

    for path in pathlib.Path(folder).glob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not any(words in text for words in import_of), path
