"""The measures of real texts, naughty strings and ill-formed UTF-8, as slow Python has them."""

from __future__ import annotations

import gzip
import json
import os
import random
import re
from pathlib import Path

import pytest

from ..native.test_measures import differences

SHARED = Path(os.environ.get("CLEANPIPE_SHARED", Path(__file__).parents[3] / "shared")) / "data"
FILES = sorted((SHARED / "corpus").glob("*/*.jsonl.gz"))
SAMPLE = 300_000
"""Characters of each file: the reference reads about 100,000 in a second."""


def test_the_corpora_are_there() -> None:
    """Without them the tests below would be none at all, and pass."""
    if "CLEANPIPE_SHARED" not in os.environ and not SHARED.exists():
        pytest.skip("no ../shared")
    assert {path.parent.name for path in FILES} >= {"web", "docs", "zh"}


def sample(path: Path) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file]
    random.Random(path.name).shuffle(texts)
    size, chosen = 0, []
    for text in texts:
        if size + len(text) <= SAMPLE:
            size += len(text)
            chosen.append(text)
    return chosen


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.removesuffix(".jsonl.gz"))
def test_real_texts(path: Path) -> None:
    texts = sample(path)
    assert texts
    assert differences(texts) == []


def test_naughty_strings(shared: Path) -> None:
    texts = json.loads((shared / "robustness" / "blns.json").read_text(encoding="utf-8"))
    assert len(texts) > 500
    assert differences([*texts, "\n".join(texts), " ".join(texts)]) == []


def test_utf8_decoder_tests(shared: Path) -> None:
    """Each test string of both files, alone and among words; bytes that no decoder has seen."""
    folder = shared / "robustness" / "utf8"
    binary = (folder / "utf8tests.bin").read_bytes().split(b"\n")
    found = [line.split(b":", 2)[2] for line in binary if line.count(b":") > 1]
    for line in (folder / "utf8tests.txt").read_text(encoding="ascii").split("\n"):
        if re.match(r"[0-9.]+:(in)?valid hex:", line):
            found.append(bytes.fromhex(line.split(":")[2]))
    assert len(found) > 200
    found += [b"The <b>" + text + b"</b>. http://" + text + b"a\r\n" for text in found]
    assert differences(found) == []
