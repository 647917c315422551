"""Parts of texts for fastText models: cases. test_models.py has the slow reference."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from cleanpipe import _native

from .test_tokens import strings


def lines(texts: Any, characters: int = 0, stretch: int = 0, **how: bool) -> list[bytes]:
    offsets, data = _native.model_parts(texts, characters, stretch, **how)
    assert [offsets.dtype, data.dtype] == [np.int64, np.uint8]
    assert (offsets[0], offsets[-1]) == (0, len(data))
    return [data[a:b].tobytes() for a, b in pairwise(offsets.tolist())]


@pytest.mark.parametrize("size", [0, 1, 149, 150, 151, 225, 1499, 1500, 1501, 1502, 9999])
@pytest.mark.parametrize("characters", [1, 75, 149, 150, 1500])
def test_samples_are_spread_from_the_beginning_to_the_end(size: int, characters: int) -> None:
    text = "".join(chr(0x20000 + place) for place in range(size))
    [line] = lines(strings([text]), characters, 75)
    found = line.decode().removesuffix("\n")
    if size <= characters:
        assert found == text
    elif characters < 150:
        assert found == text[:characters]
    else:
        stretches = found.split(" ")
        assert [len(stretch) for stretch in stretches] == [75] * (characters // 75)
        assert all(stretch in text for stretch in stretches)
        starts = [text.index(stretch) for stretch in stretches]
        steps = np.diff(starts)
        assert (starts[0], starts[-1]) == (0, size - 75)
        assert steps.max() - steps.min() <= 1


@pytest.mark.parametrize("stretch", [0, 1])
def test_few_code_points_of_many_bytes(stretch: int) -> None:
    raw = b"a" + b"\x80" * 9000 + b"b" * 9
    [line] = lines(strings([raw]), 4, stretch)
    assert line.decode().replace(" ", "").startswith("a" + "\ufffd" * 9000)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", b""),
        (" \n\0 12 ... </s>", b""),
        ("a\nb\r\nc", b"a b\r c\n"),
        ("a</s>b", b"a b\n"),
        ("A</S>B", b"a b\n"),  # would be one in lower case
        ("abcdefgh", b"abcdefgh\n"),
        ("ABCDEFGH", b"abcdefgh\n"),
        ("ABCDefgh", b"ABCDefgh\n"),  # exactly half
        ("ABCDEfgh", b"abcdefgh\n"),
        ("中文 A 😀", " 中  文  a 😀\n".encode()),
        ("१२३ ٤٥٦", b""),
    ],
)
def test_what_becomes_of_a_text(text: str, line: bytes) -> None:
    assert lines(strings([text]), spaced=True, lowered=True) == [line]
