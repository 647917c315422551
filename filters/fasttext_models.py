"""fastText models: their files checked, their labels read, texts given to them. Not a stage.

A file that breaks off, or that is longer than it should be, is loaded by fastText without a word
and gives wrong labels. So the file's own numbers are added up before it is used: the header, the
dictionary and the two matrices must end where the file ends. (Format: fastText's ``loadModel`` and
the ``load`` of Args, Dictionary, DenseMatrix, QuantMatrix, ProductQuantizer; versions 11 and 12.)
"""

from __future__ import annotations

import mmap
import os
import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from cleanpipe import _native
from cleanpipe.errors import ConfigError
from cleanpipe.fingerprint import file_sha256

PREFIX = "__label__"

KNOWN_SHA256 = {
    "lid.176.ftz": "8f3472cfe8738a7b6099e8e999c3cbfae0dcd15696aac7d7738a8039db603e83",
    "lid.176.bin": "7e69ec5451bc261cc7844e49e4792a85d7f09c06789ec800fc4a44aec362764e",
}
"""Digests of published models, by the name of the file."""

Predict: TypeAlias = Callable[[bytes, int], list[tuple[float, str]]]
"""(a line of :func:`lines`, how many labels, -1 for all) -> probabilities and labels, the most
likely first; probabilities are in [0, 1], labels without ``__label__``."""

_MAGIC, _VERSIONS = 793712314, (11, 12)
_SUPERVISED = 3
_LABEL = 1
_CENTROIDS = 256  # a codebook's, fixed in fastText
_ENTRY = re.compile(rb"([^\0]*)\0(.{8})([\0\1])", re.DOTALL)


class BrokenModelError(Exception):
    """What is wrong with a file, as half a sentence."""


@dataclass(frozen=True)
class ModelFile:
    """What a model file says of itself.

    Attributes:
        path: where it is.
        labels: every label, without ``__label__``, the most frequent in training first.
        dimensions: how long its vectors are.
        words: how many words its dictionary has.
    """

    path: str
    labels: tuple[str, ...]
    dimensions: int
    words: int


def inspected(path: str) -> ModelFile:
    """Read a model file's header and labels, and check that it is whole.

    Its matrices are not read, but for the numbers of the smaller one, and a file that did not
    change is read once.

    Args:
        path: a file that exists.

    Errors: ConfigError with what is wrong where it is no whole, supervised model; OSError.
    """
    stat = os.stat(path)
    return _inspected(path, stat.st_ino, stat.st_size, stat.st_mtime_ns)


@cache
def _inspected(path: str, *state: int) -> ModelFile:
    with open(path, "rb") as file:
        try:
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError:  # an empty file cannot be mapped
            raise ConfigError(f"{path} is no fastText model: it is empty") from None
        with content:
            try:
                return _Walk(content).model(path)
            except BrokenModelError as fault:
                raise ConfigError(f"{path} is no fastText model: {fault}") from None


def expected_sha256(path: str, given: str | None) -> str | None:
    """What a model file's digest must be: as given, else that of a published model of its name."""
    return given or KNOWN_SHA256.get(os.path.basename(path))


def fault_of(path: str, sha256: str | None) -> str | None:
    """What is wrong with a model file.

    Args:
        path: where it should be.
        sha256: what its digest must be, or None.

    Returns:
        A sentence; None where nothing is wrong, and where the engine says it: the file is
        missing, or is not the one that ``sha256`` asks for.
    """
    try:
        inspected(path)
    except OSError:
        return None
    except ConfigError as error:
        another = sha256 is not None and file_sha256(path) != sha256.lower()
        return None if another else str(error)
    return None


def loaded(model: ModelFile) -> Predict:
    """Load a model.

    Errors: ConfigError where the module or the model cannot be loaded.
    """
    try:
        import fasttext
    except ImportError as error:
        raise ConfigError(
            f"the module `fasttext` cannot be imported ({error}). It comes from "
            "the distribution fasttext-community; fasttext-wheel and fasttext install a "
            "module of the same name over it: uninstall those, then `pip install "
            "--force-reinstall fasttext-community`"
        ) from error
    try:
        # Not `load_model`: upstream's prints a warning that is about something else.
        inner = fasttext.FastText._FastText(model_path=model.path).f
    except (ValueError, MemoryError, RuntimeError) as error:
        raise ConfigError(f"{model.path} is no fastText model: {error}") from error
    call = inner.predict  # the method behind `predict`: works with every NumPy, and takes bytes
    names = {PREFIX + label: label for label in model.labels}

    def predict(line: bytes, most: int) -> list[tuple[float, str]]:
        try:
            found = call(line, most, 0.0, "replace")
        except RuntimeError as error:  # a weight that is no number
            raise ConfigError(f"{model.path} is a broken fastText model: {error}") from error
        # fastText gives up to 1.00001; min() would take longer than all the rest.
        return [(share if share < 1.0 else 1.0, names[label]) for share, label in found]

    return predict


def lines(
    texts: pa.LargeStringArray,
    characters: int | None,
    stretch: int = 0,
    *,
    spaced: bool = False,
    lowered: bool = False,
) -> Iterator[bytes]:
    """What of each text a model is given, as one line: line breaks, and a literal ``</s>``, either
    of which would end it for fastText, are spaces.

    Args:
        texts: n texts.
        characters: how many code points of each, or None for all.
        stretch: code points of one of the stretches across the text that these are to be. Default
            0: its beginning.
        spaced: put a space on either side of Han and kana. Default no.
        lowered: lower the case where more than half of the cased letters are capitals. Default no.

    Yields:
        n lines of UTF-8 with their line feed; empty where the part has no letter.
    """
    offsets, content = _native.model_parts(
        texts, characters or 0, stretch, spaced=spaced, lowered=lowered
    )
    whole = content.tobytes()
    return (whole[begin:end] for begin, end in pairwise(offsets.tolist()))


class _Walk:
    """Walks a mapped file from its beginning to its end."""

    def __init__(self, content: mmap.mmap) -> None:
        self._content = content
        self._at = 0

    def model(self, path: str) -> ModelFile:
        """Errors: BrokenModelError."""
        magic, version = self._numbers("<ii", "the header")
        if magic != _MAGIC:
            raise BrokenModelError("it does not begin as one")
        if version not in _VERSIONS:
            raise BrokenModelError(f"it is of version {version}, known are 11 and 12")
        dimensions, *_, loss, kind, buckets, least, most, _ = self._numbers("<12i", "the header")
        self._numbers("<d", "the header")
        if kind != _SUPERVISED:
            if kind in (1, 2):
                raise BrokenModelError(
                    "it has word vectors and no labels: a supervised one is needed"
                )
            raise BrokenModelError(f"it is of the unknown kind {kind}")
        self._sane(1 <= dimensions <= 100_000, f"vectors of {dimensions} numbers")
        self._sane(loss in (1, 2, 3, 4), f"the unknown loss {loss}")
        self._sane(buckets >= 0 and least >= 0 and most >= 0, "a negative number in its header")
        size, words, labels, tokens, pruned = self._numbers("<iiiqq", "the dictionary's sizes")
        self._sane(words >= 0 and labels >= 1, f"{words} words and {labels} labels")
        self._sane(size == words + labels, f"{size} entries for {words} words and {labels} labels")
        self._sane(tokens >= 0, f"{tokens} tokens")
        self._sane(-1 <= pruned <= buckets, f"{pruned} of {buckets} buckets")
        names = self._dictionary(words, labels)
        if pruned > 0:
            self._pruned(pruned, buckets)
        rows = words + (buckets if pruned < 0 else pruned)
        quantised = self._flag()
        if pruned >= 0 and not quantised:
            raise BrokenModelError("its buckets are pruned and its matrix is not quantised")
        self._matrix("input", rows, dimensions, quantised=quantised)
        self._matrix("output", labels, dimensions, quantised=self._flag() and quantised)
        if self._at != len(self._content):
            raise BrokenModelError(f"{len(self._content) - self._at} bytes follow its end")
        return ModelFile(path, names, dimensions, words)

    @staticmethod
    def _sane(holds: bool, found: str) -> None:
        if not holds:
            raise BrokenModelError(f"it claims {found}")

    def _skip(self, length: int, what: str) -> int:
        """Where a part begins that must be whole."""
        begun = self._at
        if length > len(self._content) - begun:
            missing = length - (len(self._content) - begun)
            raise BrokenModelError(f"it breaks off in {what}: {missing} bytes or more are missing")
        self._at += length
        return begun

    def _numbers(self, form: str, what: str) -> tuple[Any, ...]:
        begun = self._skip(struct.calcsize(form), what)
        return struct.unpack_from(form, self._content, begun)

    def _flag(self) -> bool:
        (flag,) = self._numbers("<B", "the flag before a matrix")
        self._sane(flag in (0, 1), f"{flag} where yes or no is expected")
        return bool(flag)

    def _dictionary(self, words: int, labels: int) -> tuple[str, ...]:
        """The labels; words stand before them."""
        names = []
        match, content = _ENTRY.match, self._content
        for place in range(words + labels):
            entry = match(content, self._at)
            if entry is None:
                raise BrokenModelError(f"entry {place + 1} of its dictionary cannot be read")
            self._at = entry.end()
            if (entry[3][0] == _LABEL) != (place >= words):
                raise BrokenModelError(f"entry {place + 1} of its dictionary is of the wrong kind")
            if place >= words:
                try:
                    names.append(entry[1].decode().removeprefix(PREFIX))
                except UnicodeDecodeError as error:
                    raise BrokenModelError(f"a label is no UTF-8: {entry[1]!r}") from error
        if len(set(names)) < labels:
            raise BrokenModelError("a label is there twice")
        return tuple(names)

    def _pruned(self, pruned: int, buckets: int) -> None:
        """Pairs of int32: a bucket, and its row behind the words."""
        begun = self._skip(8 * pruned, "the pruned buckets")
        pairs = np.frombuffer(self._content, "<i4", 2 * pruned, begun).reshape(-1, 2)
        low, high = pairs.min(axis=0), pairs.max(axis=0)
        inside = bool((low >= 0).all() and high[0] < buckets and high[1] < pruned)
        del pairs  # a mapped file closes only when nothing looks into it
        self._sane(inside, "buckets that it does not have")

    def _matrix(self, name: str, rows: int, columns: int, *, quantised: bool) -> None:
        what = f"the {name} matrix"
        normed = quantised and self._flag()
        shape = self._numbers("<qq", what)
        self._sane(
            shape == (rows, columns), f"{what} is {shape[0]} x {shape[1]}, not {rows} x {columns}"
        )
        if not quantised:
            begun = self._skip(4 * rows * columns, what)
            if name == "output":
                self._finite(begun, rows * columns, what)
            return
        (codes,) = self._numbers("<i", what)
        self._skip(max(codes, 0), what)
        parts = self._codebook(columns, what)
        self._sane(codes == rows * parts, f"{codes} codes for {rows} rows of {parts}")
        if normed:
            self._skip(rows, what)
            self._codebook(1, what)

    def _codebook(self, columns: int, what: str) -> int:
        """Into how many parts it divides a row."""
        length, parts, width, last = self._numbers("<4i", what)
        fits = length == columns and width >= 1 and parts == -(-columns // width)
        self._sane(fits, f"{parts} parts of {width} for rows of {columns}")
        self._sane(last == columns - (parts - 1) * width, f"a last part of {last}")
        self._finite(self._skip(4 * _CENTROIDS * columns, what), _CENTROIDS * columns, what)
        return int(parts)

    def _finite(self, begun: int, count: int, what: str) -> None:
        if not np.isfinite(np.frombuffer(self._content, "<f4", count, begun)).all():
            raise BrokenModelError(f"{what} has weights that are no numbers")
