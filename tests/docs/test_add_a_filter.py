"""The worked example of docs/how-to/add-a-filter.md, run as it stands on the page."""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import cleanpipe as cp
import cleanpipe.filters
from cleanpipe import registry

from ..filters import table

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "add-a-filter.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.S)


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The page's test module, with the page's filter as one more file of ``filters/``."""
    code, test = blocks("python")
    folder = tmp_path / "filters"
    folder.mkdir()
    (folder / "brackets.py").write_text(code, "utf-8")
    (tmp_path / "test_brackets.py").write_text(test, "utf-8")
    monkeypatch.setattr(cleanpipe.filters, "__path__", [*cleanpipe.filters.__path__, str(folder)])
    registry.stages.cache_clear()
    importlib.invalidate_caches()
    # Beside table.py, whatever this run calls the package of the tests.
    name = f"{table.__name__.rpartition('.')[0]}.test_brackets"
    spec = importlib.util.spec_from_file_location(name, tmp_path / "test_brackets.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    sys.modules.pop("cleanpipe.filters.brackets", None)
    vars(cleanpipe.filters).pop("brackets", None)
    registry.stages.cache_clear()


def test_the_table_holds(example: ModuleType) -> None:
    (mark,) = example.test_brackets.pytestmark
    assert len(mark.args[1]) > 10
    for text, parameters, rule in mark.args[1]:
        example.test_brackets(text, parameters, rule)
        wrong = None if rule else "share"
        with pytest.raises(AssertionError):
            example.test_brackets(text, parameters, wrong)


def test_discovery_finds_it(example: ModuleType) -> None:
    assert registry.stages()["brackets"] is example.Brackets
    assert example.Brackets.__doc__


def test_the_pipeline_runs(example: ModuleType, tmp_path: Path) -> None:
    (page,) = blocks("yaml")
    (tmp_path / "pipeline.yaml").write_text(page, "utf-8")
    texts = [
        "It stays as it is.",
        "Short (but all of it in brackets).",
        "A first line.\n(all of this line)\n[1] A long last line that stays where it is.",
    ]
    result = cp.Pipeline.from_yaml(tmp_path / "pipeline.yaml").run(texts)
    kept: list[Any] = result.kept["text"].to_pylist()
    assert kept == [texts[0], texts[2].replace("(all of this line)\n", "")]
    (drop,) = result.dropped.to_pylist()
    assert (drop["stage"], drop["rule"], drop["bound"]) == ("brackets", "share", "<= 0.3")
    assert drop["match"] == "(but all of it in brackets)"
    assert texts[1].encode()[drop["match_start"] : drop["match_end"]].decode() == drop["match"]
