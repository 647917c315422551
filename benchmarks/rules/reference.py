"""Clean text of CLEANPIPE_SHARED by language and source, in two halves.

    python -m benchmarks.rules.reference en derive FOLDER

writes one JSON-lines file a source, which `scripts/language_pack.py` takes. Packs are made
of the half `derive`; tables are of the half `test`.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, get_args

import msgspec
import numpy as np
import pyarrow as pa

import cleanpipe as cp
from benchmarks.measuring.texts import SHARED
from cleanpipe.filters.language import Language
from cleanpipe.units import Units

Half = Literal["derive", "test"]

LEAST_TOKENS = 50
"""Shorter ones are no documents but stubs ("Enable JavaScript to display the help")."""

LEAST_SCORE = 0.8
"""Of lid.176: much of the documentation is labelled as translated and is not, or half."""

EACH = 400
"""Documents of a source in a table at most: the help pages would outnumber all else."""

_MANUALS = ("debian_handbook", "debian_reference", "installation_guide", "gnome_user_docs")

SOURCES: Mapping[str, Mapping[str, Mapping[str, Sequence[str]]]] = {
    "en": {
        "wikipedia": {"en_wiki_train": ()},
        "manuals": {f"docs/{name}": ["en", "en-US"] for name in _MANUALS},
        "libreoffice": {"docs/libreoffice_help.en-us": ["en-us"]},
    },
    "zh": {
        "wikipedia": {"zh/cmrc2018_wiki_passages": ["zh"]},
        "manuals": {f"docs/{name}": ["zh-CN", "zh-TW", "zh-cn", "zh_CN"] for name in _MANUALS},
        "libreoffice": {
            "docs/libreoffice_help.zh-cn": ["zh-cn"],
            "docs/libreoffice_help.zh-tw": ["zh-tw"],
        },
    },
}
"""Language -> source -> files of the corpus, and the labels that the language has there. There is
no English encyclopaedia in it: its passages are restored from the text of a language model."""

_SENTENCES = 8
_RESTORED = (
    (r"` ` ?", '"'),
    (r" ?' '", '"'),
    (r" ([.,;:!?%)\]])", r"\1"),
    (r"([(\[$]) ", r"\1"),
    (r" (['-]) ", r"\1"),
    (r"(\d)([.,:]) (?=\d)", r"\1\2"),
)
"""The spaces that splitting it into words put between them. Case and digits are lost."""


class _Row(msgspec.Struct):
    id: str
    text: str
    lang: str | None = None


@dataclass(frozen=True)
class Clean:
    """A clean document: where it is from, its id there, its text."""

    source: str
    id: str
    text: str


def half_of(id: str) -> Half:
    """Which half a document is in: by its id alone."""
    return "derive" if hashlib.sha256(id.encode()).digest()[0] % 2 else "test"


@cache
def reference(language: str, half: Half) -> tuple[Clean, ...]:
    """The clean documents of a language and half, by source, in the order of the files."""
    return tuple(found for source in SOURCES[language] for found in _source(language, source, half))


def some(language: str, half: Half) -> list[Clean]:
    """The first :data:`EACH` of each source."""
    found: dict[str, list[Clean]] = {}
    for one in reference(language, half):
        found.setdefault(one.source, []).append(one)
    return [one for each in found.values() for one in each[:EACH]]


def _source(language: str, source: str, half: Half) -> Iterator[Clean]:
    read = [
        row for name, labels in SOURCES[language][source].items() for row in _rows(name, labels)
    ]
    mine = [row for row in read if half_of(row.id) == half]
    texts = [row.text for row in mine]
    found = Language(characters=None).measure(Units(pa.array(texts, pa.large_string())))
    labels_found = pa.array(found["language"]).to_pylist()
    scores = np.asarray(found["score"])
    tokens = cp.measures(texts)["tokens"].to_numpy()
    sound = [
        row
        for row, label, score, count in zip(mine, labels_found, scores, tokens, strict=True)
        if label == language and score >= LEAST_SCORE and count >= LEAST_TOKENS
    ]
    # By a hash, as the first ones of a file are of one kind.
    sound.sort(key=lambda row: hashlib.sha256(row.id.encode()).digest())
    yield from (Clean(source, row.id, row.text) for row in sound)


def _rows(name: str, labels: Sequence[str]) -> Iterator[_Row]:
    if not labels:
        yield from _passages(name)
        return
    with gzip.open(SHARED / "data" / "corpus" / f"{name}.jsonl.gz") as file:
        rows: list[_Row] = msgspec.json.Decoder(_Row).decode_lines(file.read())
    yield from (row for row in rows if row.lang in labels)


def _passages(name: str) -> Iterator[_Row]:
    """Passages of a few sentences each, as they may have stood in the encyclopaedia."""
    with gzip.open(SHARED / "data" / "models" / f"{name}.txt.gz", "rt", encoding="utf-8") as file:
        sentences = file.read().splitlines()
    for place in range(0, len(sentences), _SENTENCES):
        restored = []
        for sentence in sentences[place : place + _SENTENCES]:
            for pattern, by in _RESTORED:
                sentence = re.sub(pattern, by, sentence)
            restored.append(sentence[:1].upper() + sentence[1:])
        yield _Row(f"{name}/{place}", " ".join(restored))


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.rules.reference", description=__doc__)
    parser.add_argument("language", choices=list(SOURCES))
    parser.add_argument("half", choices=get_args(Half))
    parser.add_argument("folder", type=Path, help="where the files are written")
    options = parser.parse_args()
    if not (SHARED / "data" / "corpus").is_dir():
        sys.exit(f"no {SHARED / 'data' / 'corpus'}: set CLEANPIPE_SHARED")
    options.folder.mkdir(parents=True, exist_ok=True)
    documents = reference(options.language, options.half)
    for source in SOURCES[options.language]:
        path = options.folder / f"{source}.jsonl"
        mine = [document for document in documents if document.source == source]
        path.write_bytes(msgspec.json.Encoder().encode_lines(mine))
        print(f"{path}: {len(mine):,} documents")


if __name__ == "__main__":
    main()
