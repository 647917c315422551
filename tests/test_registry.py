"""Names to stages: found by themselves, each name once."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

import pytest

from cleanpipe import registry
from cleanpipe.errors import CleanpipeError, ConfigError
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


def test_stages_of_another_distribution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Named as an entry point, a module's stages are found as ours are."""
    (tmp_path / "theirs.py").write_text(
        "from dataclasses import dataclass\n"
        "from cleanpipe.stage import Filter, Rule\n"
        "@dataclass(frozen=True)\n"
        "class Theirs(Filter):\n"
        '    """A stage of another distribution."""\n'
        '    kind = "theirs"\n'
        "    def rules(self) -> tuple[Rule, ...]:\n"
        "        return ()\n"
    )
    info = tmp_path / "theirs-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: theirs\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[cleanpipe.stages]\nany = theirs\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(registry, "stages", registry.stages.__wrapped__)
    assert registry.stages()["theirs"].__module__ == "theirs"
    (tmp_path / "theirs.py").write_text("import nothing_of_that_name\n")
    monkeypatch.delitem(sys.modules, "theirs")
    with pytest.raises(ConfigError, match="stages of theirs cannot be imported: ModuleNotFound"):
        registry.stages()
