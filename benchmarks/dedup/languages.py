"""How well near-duplicates are found by language and by how much was edited.

Real passages that have little in common, and of each a copy that was edited; ours looks at all of
them. Prints the Markdown tables of docs/near-duplicates.md.
"""

from __future__ import annotations

import gzip
import random
import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from statistics import mean
from typing import NamedTuple

import msgspec

from benchmarks.dedup.edits import edits
from benchmarks.dedup.truth import gram_sets, jaccard, similar_pairs
from benchmarks.measuring.texts import SHARED
from cleanpipe import Pipeline


class Language(NamedTuple):
    """Where passages come from.

    Attributes:
        file: below data/corpus.
        letters: the letters that most of a passage's must be (manuals are translated in part).
        length: characters of a passage, some 400 tokens.
        ngrams: the n that are tried.
    """

    file: str
    letters: str
    length: int
    ngrams: tuple[int, ...]


LANGUAGES = {
    "en": Language("docs/libreoffice_help.en-us.jsonl.gz", "a-zA-Z", 2400, (5,)),
    "zh": Language("zh/cmrc2018_wiki_passages.jsonl.gz", "\u4e00-\u9fff", 500, (5, 9)),
    "ja": Language("docs/libreoffice_help.ja.jsonl.gz", "\u3041-\u30ff\u4e00-\u9fff", 500, (5, 9)),
}
PASSAGES = 400
UNLIKE = 0.3
"""Passages are less similar to each other than this."""
THRESHOLD = 0.8
LEAST = 40
"""Of an edit that changes fewer passages there is no row: katakana in English."""
BINS = (0.8, 0.85, 0.9, 0.95, 1.01)


class _Row(msgspec.Struct):
    text: str


class Copy(NamedTuple):
    """A copy of a passage: how it was edited, its true Jaccard, whether it was found."""

    edit: str
    near: float
    found: bool


def passages(language: Language) -> list[str]:
    """Parts of texts, in their language for the most part, none like an earlier one."""
    with gzip.open(SHARED / "data" / "corpus" / language.file) as file:
        rows = msgspec.json.Decoder(_Row).decode_lines(file.read())
    size, written = language.length, re.compile(f"[{language.letters}]")
    cut = [
        text
        for row in rows
        for text in [row.text[-size:]]
        if len(text) == size
        and 2 * len(written.findall(text)) > sum(letter.isalnum() for letter in text)
    ]
    later = {b for _, b in similar_pairs(gram_sets(cut, 3), UNLIKE)}
    return [text for place, text in enumerate(cut) if place not in later][:PASSAGES]


def duplicates(texts: Sequence[str], ngram: int) -> set[int]:
    """The numbers of the texts that are dropped."""
    stages = [{"minhash": {"ngram": ngram, "threshold": THRESHOLD}}]
    result = Pipeline.from_dict({"stages": stages, "guards": "off"}).run(list(texts))
    return set(map(int, result.dropped["id"].to_pylist()))


def copies(originals: Sequence[str], ngram: int, seed: str) -> list[Copy]:
    """Each passage edited in every way, and whether it is found beside the passages."""
    size = len(originals)
    made = []
    for name, edit in edits(originals).items():
        chance = random.Random(f"{seed} {name}")
        texts = [*originals, *(edit(text, chance) for text in originals)]
        sets = gram_sets(texts, ngram)
        dropped = duplicates(texts, ngram)
        for number, (one, other) in enumerate(zip(sets[:size], sets[size:], strict=True)):
            if texts[number] != texts[number + size]:
                made.append(Copy(name, jaccard(one, other), number + size in dropped))
    return made


def share(found: Iterable[Copy]) -> str:
    flags = [copy.found for copy in found]
    return f"{mean(flags):.1%} of {len(flags):,}" if flags else "-"


def by_edit(made: Sequence[Copy], start: str) -> list[str]:
    lines = []
    for name, group in groupby(made, key=lambda copy: copy.edit):
        of = list(group)
        if len(of) < LEAST:
            continue
        similar = [copy for copy in of if copy.near >= THRESHOLD]
        near = f"{mean(copy.near for copy in of):.2f}"
        lines.append(f"{start} {name} | {near} | {share(similar)} | {share(of)} |")
    return lines


def by_similarity(made: Sequence[Copy], start: str) -> str:
    cells = [
        share(copy for copy in made if low <= copy.near < high)
        for low, high in zip((0.0, *BINS[:-1]), BINS, strict=True)
    ]
    return f"{start} {' | '.join(cells)} |"


def main() -> None:
    edited, similar = [], []
    for name, language in LANGUAGES.items():
        originals = passages(language)
        for ngram in language.ngrams:
            made = copies(originals, ngram, name)
            edited += by_edit(made, f"| {name} | {ngram} |")
            similar.append(by_similarity(made, f"| {name} | {ngram} |"))
    print("| language | n | edited | mean Jaccard | found of those >= 0.8 | found of all |")
    print("|---|---|---|---|---|---|")
    print(*edited, sep="\n")
    print("\n| language | n | < 0.8 | 0.8 to 0.85 | 0.85 to 0.9 | 0.9 to 0.95 | 0.95 to 1 |")
    print("|---|---|---|---|---|---|---|")
    print(*similar, sep="\n")


if __name__ == "__main__":
    main()
