"""Every shipped recipe runs with ``--input`` alone, and does what its name says."""

from __future__ import annotations

from pathlib import Path

import pytest

import cleanpipe as cp
from cleanpipe.recipes import recipes

from .filters.test_word_order import CHINESE, PROSE

MENU = "Home\nNews\nSports\nWeather\nContact us"
MORE = "Nobody in the town can say with any certainty who it was that planted them, or to what end."
GERMAN = (
    "Das Haus am Ende der Straße wurde von einem Mann gebaut, der aus dem Norden gekommen war, und "
    "seit mehr als hundert Jahren gehört es derselben Familie. Den Garten hat er nie gesehen."
)
ENGLISH = f"{PROSE} {MORE}"
ONLY = {"starter": [ENGLISH, CHINESE], "web-zh": [CHINESE], "web-multi": [ENGLISH, CHINESE, GERMAN]}


def test_what_ships() -> None:
    assert set(recipes()) == {"starter", "web-en", "web-zh", "web-multi", "gopher", "c4"}


@pytest.mark.parametrize("name", recipes())
def test_prose_is_kept_and_junk_is_not(name: str, tmp_path: Path) -> None:
    junk = ["buy cheap shoes " * 60, "", "正品最便宜" * 60, MENU]
    texts = [ENGLISH, CHINESE, GERMAN, *junk]
    files = tmp_path / "in"
    files.mkdir()
    for place, text in enumerate(texts):
        (files / f"{place}.txt").write_text(text, "utf-8")
    result = cp.Pipeline.from_yaml(name).run(str(files / "*.txt"))
    assert result.kept["text"].to_pylist() == ONLY.get(name, [ENGLISH])
    assert result.summary["documents"]["dead"] == 0


@pytest.mark.parametrize("name", recipes())
def test_comments_say_what_it_is_and_how_to_run_it(name: str) -> None:
    content = Path(recipes()[name]).read_text("utf-8")
    assert content.startswith("# ") and f"cleanpipe run {name} --input" in content


@pytest.mark.parametrize(
    ("name", "text"), [("web-en", ENGLISH), ("web-multi", ENGLISH), ("web-zh", CHINESE)]
)
def test_frames_go(name: str, text: str) -> None:
    menu = "首页\n新闻\n体育\n天气" if name == "web-zh" else MENU
    page = f"{menu}\n\n{text}\n<div class='x'>.</div>\nCopyright © 2020. All rights reserved."
    assert cp.Pipeline.from_yaml(name).run([page]).kept["text"].to_pylist() == [text]
