"""A corpus of any size from real paragraphs, with near-duplicates planted in it.

    python -m benchmarks.scale.corpus --documents 1000000 FOLDER

A document is a few real paragraphs one after the other, chosen by a hash of its number, so that it
is the same whatever is made beside it. Every fifth is a copy of another one with some words
replaced, a share of them from STRENGTHS; its `id` says so. JSON lines in files of FILE_DOCUMENTS.
"""

from __future__ import annotations

import argparse
import gzip
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.measuring.texts import SHARED

Ints = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]
Shares = npt.NDArray[np.float64]

FILE_DOCUMENTS = 100_000
PARAGRAPHS = (2, 6)
"""Paragraphs of a document, least and most."""
PARAGRAPH_WORDS = (12, 40)
"""Words of a paragraph, least and most; what is longer is cut."""
NEIGHBOURS = 5_000
"""A document's paragraphs are this close to each other in the real texts, so of one language."""
EVERY = 5
"""Each document whose number leaves 4 when it is divided by this is a copy."""
STRENGTHS = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1)
"""Share of the words that are replaced in a copy, one of these by turns."""
SEED = 20
_STRIDE = 1_000_003
"""A prime, so that copies of neighbours are made from documents far apart."""

_WORD = re.compile(r"[\u3040-\u9fff\uff00-\uffef]|[^\s\u3040-\u9fff\uff00-\uffef]+\s?")
"""A word with the space behind it, a Chinese or Japanese character by itself."""


@dataclass(frozen=True)
class Paragraphs:
    """Real paragraphs as numbers of words.

    Attributes:
        words: what is written for each word, escaped for JSON, with the space that follows it.
        numbers: int64, the words of all paragraphs.
        starts: int64 of shape (paragraphs + 1,), where each begins in `numbers`.
    """

    words: pa.Array
    numbers: Ints
    starts: Ints


class _Row(msgspec.Struct):
    text: str


def read_paragraphs() -> Paragraphs:
    """The lines of the real texts that are long enough, long ones in parts, none twice."""
    folder = SHARED / "data" / "corpus"
    if not folder.is_dir():
        sys.exit(f"no {folder}: set CLEANPIPE_SHARED")
    decoder = msgspec.json.Decoder(_Row)
    found: dict[tuple[str, ...], None] = {}
    for path in sorted(folder.glob("*/*.jsonl.gz")):
        with gzip.open(path) as file:
            rows = decoder.decode_lines(file.read())
        for row in rows:
            for line in row.text.splitlines():
                found |= dict.fromkeys(_parts(line))
    paragraphs = list(found)
    vocabulary: dict[str, int] = {}
    numbers = [
        vocabulary.setdefault(word, len(vocabulary)) for words in paragraphs for word in words
    ]
    return Paragraphs(
        pa.array([msgspec.json.encode(word)[1:-1].decode() for word in vocabulary]),
        np.array(numbers, dtype=np.int64),
        np.concatenate([[0], np.cumsum([len(words) for words in paragraphs])]).astype(np.int64),
    )


def _parts(line: str) -> Iterator[tuple[str, ...]]:
    least, most = PARAGRAPH_WORDS
    words = _WORD.findall(line)
    for start in range(0, len(words), most):
        part = words[start : start + most]
        if len(part) >= least:
            yield (*part[:-1], part[-1].rstrip() + "\n")


def _hash(*numbers: Ints | Hashes | int) -> Hashes:
    """64 random bits for each combination of numbers (SplitMix64's finaliser, again for each)."""
    state: Hashes = np.full(1, SEED, dtype=np.uint64)
    for number in numbers:
        mixed = np.asarray(number).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + state
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state = mixed ^ (mixed >> np.uint64(31))
    return state


def _ranges(starts: Ints, sizes: Ints) -> Ints:
    """start, start + 1, ... of each range, one range after the other."""
    ends = np.cumsum(sizes)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - ends + sizes, sizes)


def originals_of(numbers: Ints, documents: int) -> tuple[Ints, Ints]:
    """Which document each is made from (itself unless it is a copy), and which of STRENGTHS."""
    copies = numbers % EVERY == EVERY - 1
    groups = max(1, documents // EVERY)
    chosen = (numbers // EVERY * _STRIDE + 1) % groups * EVERY  # another one for each
    strengths = numbers // EVERY % len(STRENGTHS)
    return np.where(copies, chosen, numbers), np.where(copies, strengths, -1)


def documents_of(paragraphs: Paragraphs, numbers: Ints, documents: int) -> pa.Table:
    """Documents by their number.

    Args:
        documents: of the whole corpus; copies are made from any of them.

    Returns `id` and `text`, strings, the text escaped for JSON.
    """
    originals, strengths = originals_of(numbers, documents)
    words, offsets = _words(paragraphs, originals)
    shares = np.array([*STRENGTHS, 0.0])[strengths]
    words = _replaced(paragraphs, words, offsets, numbers, shares)
    lists = pa.LargeListArray.from_arrays(pa.array(offsets), paragraphs.words.take(pa.array(words)))
    labels = [
        str(number) if strength < 0 else f"{number} from {original} at {STRENGTHS[strength]:.1%}"
        for number, original, strength in zip(
            numbers.tolist(), originals.tolist(), strengths.tolist(), strict=True
        )
    ]
    return pa.table({"id": labels, "text": pc.binary_join(lists, "")})


def _words(paragraphs: Paragraphs, originals: Ints) -> tuple[Ints, Ints]:
    """The words of each document, and where each begins."""
    least, most = PARAGRAPHS
    sizes = least + (_hash(originals, 2) % np.uint64(most - least + 1)).astype(np.int64)
    available = np.uint64(len(paragraphs.starts) - 1)
    close = _hash(np.repeat(originals, sizes), _ranges(np.zeros_like(sizes), sizes), 3)
    close %= np.uint64(min(NEIGHBOURS, int(available)))
    chosen = ((np.repeat(_hash(originals, 4), sizes) + close) % available).astype(np.int64)
    lengths = paragraphs.starts[chosen + 1] - paragraphs.starts[chosen]
    ends = np.concatenate([[0], np.cumsum(lengths)])
    begins = np.concatenate([[0], np.cumsum(sizes)])
    return paragraphs.numbers[_ranges(paragraphs.starts[chosen], lengths)], ends[begins]


def _replaced(
    paragraphs: Paragraphs, words: Ints, offsets: Ints, numbers: Ints, shares: Shares
) -> Ints:
    """Other words, as frequent as they are in the paragraphs, in place of a share of them."""
    documents = np.flatnonzero(shares > 0)
    sizes = np.diff(offsets)[documents]
    places = _ranges(offsets[documents], sizes)
    within = _ranges(np.zeros_like(sizes), sizes)
    dice = _hash(np.repeat(numbers[documents], sizes), within, 5)
    hit = dice < np.repeat(shares[documents] * 2.0**64, sizes)
    new = _hash(dice[hit], 6) % np.uint64(len(paragraphs.numbers))
    changed = words.copy()
    changed[places[hit]] = paragraphs.numbers[new.astype(np.int64)]
    return changed


def write(folder: Path, documents: int, boilerplate: int = 0) -> None:
    """Write a corpus.

    Args:
        boilerplate: how many times one page, the same each time, stands among them, evenly spread.
            Default 0.
    """
    paragraphs = read_paragraphs()
    folder.mkdir(parents=True, exist_ok=True)
    page = documents_of(paragraphs, np.array([documents * 7 + 1]), documents)["text"][0].as_py()
    total = documents + boilerplate
    for start in range(0, total, FILE_DOCUMENTS):
        places = np.arange(start, min(start + FILE_DOCUMENTS, total))
        before = places * documents // total
        own = (places + 1) * documents // total > before
        table = documents_of(paragraphs, before[own], documents)
        lines = _lines(table["id"], table["text"])
        if boilerplate:
            labels = pa.array([f"page {place}" for place in places[~own].tolist()])
            same = pa.array(np.zeros(len(labels), dtype=np.int64))
            lines = _interleaved(lines, _lines(labels, pa.array([page]).take(same)), own)
        _, _, data = lines.buffers()
        (folder / f"part-{start // FILE_DOCUMENTS:05d}.jsonl").write_bytes(data)


def _lines(ids: pa.Array, texts: pa.Array) -> pa.Array:
    made = pc.binary_join_element_wise('{"id": "', ids, '", "text": "', texts, '"}\n', "")
    return made.combine_chunks() if isinstance(made, pa.ChunkedArray) else made


def _interleaved(own: pa.Array, others: pa.Array, is_own: npt.NDArray[np.bool_]) -> pa.Array:
    rank = np.where(is_own, np.cumsum(is_own) - 1, len(own) + np.cumsum(~is_own) - 1)
    return pa.concat_arrays([own, others.cast(own.type)]).take(pa.array(rank))


def main() -> None:
    parser = argparse.ArgumentParser(description="Write a corpus with planted near-duplicates.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--boilerplate", type=int, default=0, help="copies of one page among them")
    options = parser.parse_args()
    write(options.folder, options.documents, options.boilerplate)


if __name__ == "__main__":
    main()
