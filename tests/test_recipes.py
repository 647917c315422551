"""Every shipped recipe runs with ``--input`` alone, and does what its name says."""

from __future__ import annotations

from pathlib import Path

import pytest

import cleanpipe as cp
from cleanpipe.errors import ConfigError
from cleanpipe.filters.profiles import ccnet
from cleanpipe.recipes import recipes

from .filters.test_word_order import CHINESE, PROSE
from .language_models import known_pieces, pieces_of, write_arpa

MENU = "Home\nNews\nSports\nWeather\nContact us"
MORE = "Nobody in the town can say with any certainty who it was that planted them, or to what end."
GERMAN = (
    "Das Haus am Ende der Straße wurde von einem Mann gebaut, der aus dem Norden gekommen war, und "
    "seit mehr als hundert Jahren gehört es derselben Familie. Den Garten hat er nie gesehen."
)
ENGLISH = f"{PROSE} {MORE}"
ONLY = {"starter": [ENGLISH, CHINESE], "web-zh": [CHINESE], "web-multi": [ENGLISH, CHINESE, GERMAN]}


def test_what_ships() -> None:
    assert set(recipes()) == {"starter", "web-en", "web-zh", "web-multi", "gopher", "c4", "ccnet"}


@pytest.mark.parametrize("name", sorted({*recipes()} - {"ccnet"}))
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


ENGLISH_PAGE = f"{ENGLISH} Nobody knows who came to live there first, or when they left the hill."
CHINESE_PAGE = "。".join(f"{CHINESE}第{n}次看到这座山的人都说它很高" for n in "一二三四五六")


@pytest.fixture
def ccnet_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Models of these texts, where CCNet has its own."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "data" / "lm_sp"
    folder.mkdir(parents=True)
    for language, text in (("en", ENGLISH_PAGE), ("zh", CHINESE_PAGE)):
        pieces = pieces_of(folder / f"{language}.sp.model", [ccnet(text)], 120)
        write_arpa(folder / f"{language}.arpa.bin", known_pieces(pieces))
    return folder


def test_ccnet(ccnet_models: Path, tmp_path: Path) -> None:
    """Lines seen before go, then languages are found, then buckets."""
    frame = "Ein Menü mit vielen Worten\n"
    texts = [frame + ENGLISH_PAGE, frame + CHINESE_PAGE, GERMAN * 2, ENGLISH_PAGE, "short"]
    result = cp.Pipeline.from_yaml("ccnet").run(texts)
    assert result.kept["text"].to_pylist() == [frame + ENGLISH_PAGE, CHINESE_PAGE]
    dropped = {row["id"]: row["stage"] for row in result.dropped.to_pylist()}
    assert dropped == {2: "language", 3: "paragraphs", 4: "length"}
    measures = result.measures.to_pylist()
    for row, (language, middle, tail) in enumerate((("en", 340, 520), ("zh", 1460, 1950))):
        value = measures[row]["perplexity.perplexity"]
        bucket = "head" if value < middle else "middle" if value < tail else "tail"
        lineage = result.kept["cleanpipe"][row].as_py()
        assert (lineage["language"], lineage["bucket"]) == (language, bucket)


def test_ccnet_with_models_elsewhere(ccnet_models: Path, tmp_path: Path) -> None:
    ccnet_models.rename(tmp_path / "lm")
    with pytest.raises(ConfigError, match="data/lm_sp/en.arpa.bin: No such file"):
        cp.Pipeline.from_yaml("ccnet")
    names = {"model": "arpa.bin", "spm": "sp.model"}
    settings = [
        f"perplexity.cases.{language}.{key}=lm/{language}.{name}"
        for language in ("en", "zh")
        for key, name in names.items()
    ]
    result = cp.Pipeline.from_yaml("ccnet", settings).run([ENGLISH_PAGE])
    assert result.summary["documents"]["kept"] == 1
