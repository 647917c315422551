"""Languages of the texts of ``shared`` (CLEANPIPE_SHARED), by the model that ships."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cleanpipe.filters.language import Language
from cleanpipe.units import Units

WHOLE = Language(characters=None)


def records(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def texts_of(folder: Path) -> pa.Array:
    found = [each["text"] for path in sorted(folder.glob("*.jsonl.gz")) for each in records(path)]
    return pa.array(found, pa.large_string())


def languages(stage: Language, texts: pa.Array) -> list[str]:
    found: list[str] = stage.measure(Units(texts))["language"].tolist()
    return found


def test_labelled_sentences(shared: Path) -> None:
    """Micro accuracy in the languages that the model has; a low score makes nothing ``und``.

    Without what is done to texts before, 0.8931 are right. The difference is mostly Chinese, which
    gets spaces: 0.999 instead of 0.959.
    """
    every = [
        each
        for each in records(shared / "langid" / "lingua_testdata.jsonl.gz")
        if each["unit"] == "sentences"
    ]
    stage = Language()
    known = stage.label_values()["language"]
    assert len({each["iso1"] for each in every if each["iso1"] in known}) == 66
    measures = stage.measure(Units(pa.array([each["text"] for each in every], pa.large_string())))
    found, scores = measures["language"].tolist(), np.asarray(measures["score"])
    cases = list(zip(every, found, strict=True))
    right = [found == each["iso1"] for each, found in cases if each["iso1"] in known]
    chinese = [found == "zh" for each, found in cases if each["iso1"] == "zh"]
    low = float((scores < 0.5).mean())
    print(
        f"{sum(right) / len(right):.4f} of {len(right):,} right; Chinese "
        f"{sum(chinese) / len(chinese):.4f}; {low:.3f} of {len(every):,} score under 0.5"
    )
    assert sum(right) / len(right) >= 0.893 - 0.005  # issue 7, the reference
    assert sum(chinese) / len(chinese) >= 0.99
    assert low == pytest.approx(0.21, abs=0.02)
    assert [each["text"] for each, code in cases if code == "und"] == [".."]


@pytest.mark.parametrize("kind", ["web", "docs", "zh"])
def test_the_part_has_the_language_of_the_whole(kind: str, shared: Path) -> None:
    texts = texts_of(shared / "corpus" / kind)
    pairs = Counter(zip(languages(Language(), texts), languages(WHOLE, texts), strict=True))
    same = sum(count for (part, whole), count in pairs.items() if part == whole) / len(texts)
    print(f"{kind}: {same:.4f} of {len(texts):,}")
    assert same >= 0.995


def test_short_chinese_is_chinese(shared: Path) -> None:
    """The figure in the docstring of ``language``."""
    texts = texts_of(shared / "corpus" / "zh")
    right = languages(Language(), texts).count("zh")
    print(f"{right} of {len(texts)} Chinese texts are labelled zh")
    assert right / len(texts) >= 0.98
