"""Texts prepared for a language model, and which of their tokens it knows. Not a stage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cleanpipe import _native
from cleanpipe.filters.profiles import ProfileName

_MOST = 1 << 18
"""Words remembered a process: 8 MB. One more, and all are forgotten."""
_SPECIAL = frozenset(("<s>", "</s>", "<unk>"))
_NONE = 17
"""Zeros that are a vocabulary of no words."""


@dataclass(frozen=True)
class Prepared:
    """n texts as a model's training text was prepared.

    Attributes:
        content: their sentences: tokens joined by spaces, a line feed behind each.
        first: where in it those of a text begin, and at last its end.
        tokens, known: int64, shape (n,): how many tokens each text has, and the model knows.
    """

    content: bytes
    first: list[int]
    tokens: npt.NDArray[np.int64]
    known: npt.NDArray[np.int64]

    def sentences(self, text: int) -> list[bytes]:
        """Those of a text."""
        start, end = self.first[text : text + 2]
        return self.content[start : end - 1].split(b"\n") if end > start else []


def sentence_lines(texts: pa.Array, profile: ProfileName) -> bytes:
    """The sentences of texts as a profile without subwords prepares them: tokens joined by spaces,
    a line feed behind each sentence."""
    *_, data = _native.prepared(texts, profile, np.zeros(_NONE, np.uint64))
    return data


def subwords(texts: pa.Array, pieces: Any) -> list[list[str]]:
    """The pieces that a SentencePiece model cuts each text into, as CCNet prepares it: one line.

    A piece that stands for something else to KenLM, as a model of its user's making may have, is
    an unknown word.
    """
    offsets, data = _native.ccnet_lines(texts)
    content = data.tobytes()
    spans = zip(offsets.tolist(), offsets[1:].tolist(), strict=False)
    lines = [content[start:end].decode() for start, end in spans]
    return [
        found
        if _SPECIAL.isdisjoint(found)
        else ["<unk>" if piece in _SPECIAL else piece for piece in found]
        for found in pieces.encode(lines, out_type=str)
    ]


class Vocabulary:
    """Which words a model knows, remembered: asking KenLM costs more than scoring does."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._words = np.zeros(_NONE, np.uint64)

    def prepared(self, texts: pa.Array, profile: ProfileName) -> Prepared:
        """The texts as a profile without subwords prepares them."""
        first, tokens, known, starts, stops, unseen, offsets, content = _native.prepared(
            texts, profile, self._words
        )
        if len(starts):
            spans = zip(starts.tolist(), stops.tolist(), strict=True)
            model = self._model
            flags = np.array([content[start:stop] in model for start, stop in spans], np.uint8)
            of_text = np.repeat(np.arange(len(tokens)), np.diff(offsets))
            known = known + np.bincount(of_text[flags[unseen] > 0], minlength=len(tokens))
            self._remember(content, starts, stops, flags)
        return Prepared(content, first.tolist(), tokens, known)

    def _remember(
        self,
        content: bytes,
        starts: npt.NDArray[np.int64],
        stops: npt.NDArray[np.int64],
        known: npt.NDArray[np.uint8],
    ) -> None:
        before = self._words
        if int(before[0]) + len(starts) > _MOST:
            before = np.zeros(_NONE, np.uint64)
        self._words = _native.vocabulary_with(before, content, starts, stops, known)
