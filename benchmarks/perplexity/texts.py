"""Good text, and text that is to look worse to the model: held-out, shuffled, foreign, framed."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import cleanpipe as cp
from benchmarks.measuring.texts import SHARED
from cleanpipe.document import Document
from cleanpipe.recipes import find_recipe

DATA = SHARED / "data"
LINES = 4
"""Of held-out English to a text: the documents' bounds are lost, and they had 4.3 on average."""
MOST = 2000
"""Texts of one kind: every n-th where there are more."""
FRAMES = {"en": ("web-en", "lines"), "zh": ("web-zh", "lines")}
"""The stage of a recipe that takes menus and footers out of a page."""


@dataclass(frozen=True)
class Kind:
    """Texts of one kind.

    Attributes:
        name: what they are.
        texts: theirs.
        against: the kind that is better text, with as many texts one for one, or None (default)
            where it is held-out prose.
    """

    name: str
    texts: Sequence[str]
    against: str | None = None


def kinds(language: str, seed: int) -> list[Kind]:
    """Held-out prose first, then all that is compared with it, or with the kind before."""
    return [*(_english if language == "en" else _chinese)(seed), *_pages(language)]


def _english(seed: int) -> Iterator[Kind]:
    with gzip.open(DATA / "models/en_wiki_held.txt.gz", "rt", encoding="utf-8") as file:
        lines = [line.strip() for line in file if line.strip()]
    held = ["\n".join(lines[at : at + LINES]) for at in range(0, len(lines), LINES)]
    yield Kind("held-out encyclopaedia", held)
    yield Kind("the same, words shuffled", _shuffled(held, " ", seed))
    yield Kind("manuals in English", _some(_manuals("en-us")))
    for language in ("de", "fr", "es"):
        yield Kind(f"manuals, {language}", _some(_manuals(language)))
    yield Kind(
        "Chinese encyclopaedia", _some(_records("corpus/zh/cmrc2018_wiki_passages.jsonl.gz"))
    )


def _chinese(seed: int) -> Iterator[Kind]:
    passages = list(_records("corpus/zh/cmrc2018_wiki_passages.jsonl.gz"))
    random.Random(0).shuffle(passages)  # as data/models/kprep.py: the others trained the model
    held = passages[:100]
    yield Kind("held-out encyclopaedia", held)
    yield Kind("the same, characters shuffled", _shuffled(held, "", seed))
    reviews = "corpus/zh/chinese_reviews_hotel_takeaway_shopping.jsonl.gz"
    yield Kind("reviews of shops and hotels", _some(_records(reviews)))
    yield Kind("classical poetry", _some(_records("corpus/zh/chinese_poetry_fifth.jsonl.gz")))
    yield Kind("manuals, simplified Chinese", _some(_manuals("zh-cn")))
    yield Kind("manuals, traditional Chinese", _some(_manuals("zh-tw")))
    yield Kind("manuals, Japanese", _some(_manuals("ja")))
    yield Kind("manuals, English", _some(_manuals("en-us")))


def _pages(language: str) -> Iterator[Kind]:
    """The same web pages, without their frames and with them."""
    if language == "en":
        rows = list(_rows("corpus/web/readability_newspaper_pages.jsonl.gz"))
        pairs = [(row["clean_text"], row["text"]) for row in rows if row.get("clean_text")]
        yield Kind("web pages, main text by hand", [clean for clean, _ in pairs])
        yield Kind("the same pages whole", [whole for _, whole in pairs], "main text by hand")
    pages = [text for path in sorted((DATA / "corpus/web").glob("*.gz")) for text in _texts(path)]
    recipe, name = FRAMES[language]
    stages = Document.read(find_recipe(recipe)).tree["stages"]
    [remove] = [stage for stage in stages if stage.get("name") == name]
    pipe = cp.Pipeline.from_dict({"stages": [stages[0], _plain(remove)]})
    kept = pipe.run(pages).kept
    pairs = [
        (text, pages[at])
        for text, at in zip(kept["text"].to_pylist(), kept["id"].to_pylist(), strict=True)
        if text != pages[at]
    ]
    pairs = pairs[:: -(-len(pairs) // MOST)]
    yield Kind(f"web pages, frames out by {recipe}", [clean for clean, _ in pairs])
    yield Kind(
        "the same pages as they were", [whole for _, whole in pairs], f"frames out by {recipe}"
    )


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def _shuffled(texts: Sequence[str], between: str, seed: int) -> list[str]:
    """The words (or characters) of each line in random order."""
    draw = random.Random(seed)
    made = []
    for text in texts:
        lines = [line.split() if between else list(line) for line in text.split("\n")]
        made.append("\n".join(between.join(draw.sample(line, len(line))) for line in lines))
    return made


def _manuals(language: str) -> Iterator[str]:
    return _records(f"corpus/docs/libreoffice_help.{language}.jsonl.gz")


def _rows(path: str) -> Iterator[dict[str, Any]]:
    with gzip.open(DATA / path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _records(path: str) -> Iterator[str]:
    return (row["text"] for row in _rows(path))


def _texts(path: Any) -> Iterator[str]:
    return _records(str(path.relative_to(DATA)))


def _some(texts: Iterator[str]) -> list[str]:
    every = list(texts)
    return every[:: -(-len(every) // MOST)]
