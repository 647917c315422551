"""The documents of CLEANPIPE_SHARED that items are planted in, and that are to raise no alarm."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

HOST_CHARACTERS = (300, 16_000)
"""Documents as long as this are planted in: the long ones would only cost time."""

BATCH_CHARACTERS = 16 << 20


class Document(msgspec.Struct):
    """A row of the corpus; `file` is relative to it."""

    id: str
    text: str
    lang: str | None = None
    file: str = ""


def read_documents(folder: Path) -> list[Document]:
    """All documents, in the order of files and rows."""
    decoder = msgspec.json.Decoder(Document)
    documents = []
    for path in sorted(folder.glob("*/*.jsonl.gz")):
        with gzip.open(path) as file:
            rows = decoder.decode_lines(file.read())
        for row in rows:
            row.file = str(path.relative_to(folder))
        documents += rows
    return documents


def hosts(documents: Sequence[Document]) -> dict[str, list[str]]:
    """The texts to plant items of each language in: Chinese in Chinese, all else in English."""
    least, most = HOST_CHARACTERS
    found: dict[str, list[str]] = {"en": [], "zh": []}
    for document in documents:
        language = (document.lang or "en")[:2]
        if language in found and least <= len(document.text) <= most:
            found[language].append(document.text)
    return {**found, "code": found["en"]}


def batches(texts: Sequence[str]) -> Iterator[list[str]]:
    """The texts in order, some 16 million characters at a time."""
    batch: list[str] = []
    size = 0
    for text in texts:
        batch.append(text)
        size += len(text)
        if size >= BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
