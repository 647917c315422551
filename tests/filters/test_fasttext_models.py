"""Files of fastText models: whole ones are read, and nothing else is."""

from __future__ import annotations

import random
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fasttext
import pytest

from cleanpipe.errors import ConfigError
from cleanpipe.filters.fasttext_models import (
    KNOWN_SHA256,
    expected_sha256,
    fault_of,
    inspected,
    loaded,
)
from cleanpipe.filters.language import SHIPPED
from tests.filters.toy_models import LANGUAGES, trained

HEADER = struct.Struct("<14id")  # magic, version, 12 numbers, the sampling threshold
SIZES = struct.Struct("<iiiqq")  # entries, words, labels, tokens, pruned buckets


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained(tmp_path_factory.mktemp("model") / "toy.bin", LANGUAGES)


def refused(path: Path) -> str:
    with pytest.raises(ConfigError) as caught:
        inspected(str(path))
    return str(caught.value)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"loss": "hs"},
        {"loss": "ova", "wordNgrams": 2},
        {"loss": "ns"},
        {"minn": 0, "maxn": 0},
        {"dim": 7, "bucket": 10},
    ],
    ids=str,
)
@pytest.mark.parametrize("suffix", [".bin", ".ftz"])
def test_what_fasttext_writes_is_read(suffix: str, options: dict[str, Any], tmp_path: Path) -> None:
    if suffix == ".ftz":  # a codebook of 256 needs as many rows
        options = {**options, "bucket": 500, "minn": 1, "maxn": 2}
    path = trained(tmp_path / f"toy{suffix}", LANGUAGES, **options)
    found = inspected(str(path))
    model = fasttext.FastText._FastText(model_path=str(path))
    assert [f"__label__{label}" for label in found.labels] == model.labels
    assert (found.dimensions, found.words) == (model.get_dimension(), len(model.words))
    score, label = loaded(found)(b"the cat and the house\n", 1)[0]
    assert (label, score > 0) == ("eng_Latn", True)


def test_the_shipped_model() -> None:
    found = inspected(str(SHIPPED))
    assert (len(found.labels), found.dimensions, found.labels[0]) == (176, 16, "en")


def cuts(size: int, many: int) -> list[int]:
    """Lengths to cut a file of ``size`` bytes to: the beginning's, the end's, and others."""
    some = random.Random(7).sample(range(size), min(many, size))
    return sorted({*range(min(size, 120)), *range(max(0, size - 20), size), *some})


def test_the_shipped_model_cut_anywhere_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cut.ftz"
    shutil.copy(SHIPPED, path)
    path.chmod(0o600)
    for length in reversed(cuts(SHIPPED.stat().st_size, 300)):
        with path.open("r+b") as file:
            file.truncate(length)
        assert "is no fastText model" in refused(path), length


def test_a_toy_cut_anywhere_is_refused(toy: Path, tmp_path: Path) -> None:
    content = toy.read_bytes()
    path = tmp_path / "cut.bin"
    for length in cuts(len(content), 500):
        path.write_bytes(content[:length])
        assert "is no fastText model" in refused(path), length


def put(form: str, at: int, *values: int) -> Callable[[bytearray], None]:
    return lambda content: struct.pack_into(form, content, at, *values)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (put("<i", 0, 1), "does not begin as one"),
        (put("<i", 4, 13), "of version 13"),
        (put("<i", 8, 0), "vectors of 0 numbers"),
        (put("<i", 8, 9), "x 8, not"),
        (put("<i", 32, 5), "unknown loss 5"),
        (put("<i", 36, 9), "unknown kind 9"),
        (put("<i", 40, 501), "not"),
        (put("<i", 40, -1), "negative"),
        (put("<i", HEADER.size, 3), "3 entries for"),
        (put("<i", HEADER.size + 4, -1), "-1 words"),
        (put("<q", HEADER.size + 20, 2**40), "buckets"),
        (put("<q", HEADER.size + 20, 0), "not quantised"),
        (lambda content: content.extend(b"\0"), "1 bytes follow its end"),
        (lambda content: content.extend(bytes(5000)), "5000 bytes follow its end"),
        (lambda content: struct.pack_into("<f", content, len(content) - 4, float("nan")), "no num"),
        (lambda content: content.clear(), "is empty"),
        (lambda content: content.__setitem__(slice(None), b"<!DOCTYPE html>" * 99), "not begin"),
    ],
)
def test_a_changed_file_is_refused(
    change: Callable[[bytearray], None], words: str, toy: Path, tmp_path: Path
) -> None:
    content = bytearray(toy.read_bytes())
    change(content)
    path = tmp_path / "changed.bin"
    path.write_bytes(content)
    assert words in refused(path)


def test_changes_in_the_dictionary(toy: Path, tmp_path: Path) -> None:
    whole = toy.read_bytes()
    path = tmp_path / "changed.bin"
    for old, new, words in [
        (b"__label__deu_Latn\0", b"__label__eng_Latn\0", "twice"),
        (b"__label__deu_Latn\0", b"__label__\xff\xff\xff_Latn\0", "no UTF-8"),
        (b"\x00cat\0", b"\x00cat\1", "of its dictionary"),
    ]:
        if old not in whole:
            old = old[1:]
            new = new[1:]
        assert whole.count(old) == 1
        path.write_bytes(whole.replace(old, new))
        assert words in refused(path)


def test_word_vectors_are_no_classifier(tmp_path: Path) -> None:
    source = tmp_path / "text.txt"
    source.write_text("some words of a text\n" * 50)
    model = fasttext.train_unsupervised(
        str(source), "skipgram", dim=4, minCount=1, bucket=10, thread=1, verbose=0
    )
    model.save_model(str(tmp_path / "vectors.bin"))
    assert "word vectors and no labels" in refused(tmp_path / "vectors.bin")


def test_weights_that_are_no_numbers_end_in_a_sentence(toy: Path, tmp_path: Path) -> None:
    content = bytearray(toy.read_bytes())
    labels, dimensions = len(LANGUAGES), 8
    output = 1 + 16 + 4 * labels * dimensions
    rows = (len(content) - output) // 4
    for place in range(1, 400):  # the input matrix, which is not looked at
        struct.pack_into("<f", content, len(content) - output - 4 * place, float("nan"))
    assert rows > 400
    path = tmp_path / "nan.bin"
    path.write_bytes(content)
    predict = loaded(inspected(str(path)))
    with pytest.raises(ConfigError, match="is a broken fastText model"):
        predict("the cat sat on the mat 今天 qx zv\n".encode(), 1)


def test_digests_are_known_by_the_file_name() -> None:
    assert expected_sha256("some/lid.176.bin", None) == KNOWN_SHA256["lid.176.bin"]
    assert expected_sha256("some/lid.176.bin", "abc") == "abc"
    assert expected_sha256("some/other.bin", None) is None


def test_the_engine_tells_of_missing_files_and_of_digests(toy: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.bin"
    broken.write_bytes(toy.read_bytes()[:-1])
    assert fault_of(str(toy), None) is None
    assert fault_of(str(tmp_path / "nowhere.bin"), None) is None
    assert fault_of(str(broken), "another digest") is None
    assert "breaks off" in (fault_of(str(broken), None) or "")


def test_nothing_is_printed(toy: Path, capfd: pytest.CaptureFixture[str]) -> None:
    loaded(inspected(str(toy)))(b"the cat\n", -1)
    assert capfd.readouterr() == ("", "")
