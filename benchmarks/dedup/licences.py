"""The licence texts of data/neardup, and the similar pairs that are given with them."""

from __future__ import annotations

import gzip
from pathlib import Path

import msgspec

from benchmarks.dedup.truth import Pair

TEXTS = "scancode_license_texts.jsonl.gz"
PAIRS = "scancode_exact_jaccard_pairs.tsv.gz"


class _Row(msgspec.Struct):
    id: str
    text: str


def read_texts(folder: Path) -> list[str]:
    """The texts, in the order of the file."""
    return [row.text for row in _rows(folder)]


def read_pairs(folder: Path) -> dict[Pair, float]:
    """Every pair of texts with Jaccard >= 0.5 of sets of 5-grams of words (runs of `\\w`)."""
    number = {row.id: place for place, row in enumerate(_rows(folder))}
    found = {}
    with gzip.open(folder / PAIRS, "rt", encoding="utf-8") as file:
        next(file)
        for line in file:
            one, other, similarity, _ = line.split("\t")
            a, b = sorted((number[one], number[other]))
            found[a, b] = float(similarity)
    return found


def _rows(folder: Path) -> list[_Row]:
    with gzip.open(folder / TEXTS) as file:
        return msgspec.json.Decoder(_Row).decode_lines(file.read())
