"""A set of n-grams on disk: built once, mapped by every worker, found in texts with their places.

The file is laid out in ``cleanpipe/native/index.h``: 11 bytes an n-gram, 15 with values, and
under 100 more. An n-gram is n tokens (docs/tokens.md) in a row, known by a 64-bit hash: among
the g n-grams of a text and the N of an index, g * N / 2**64 are expected to match by accident,
one in 18 billion texts of 1,000 tokens at N = 1 million.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from xxhash import xxh3_128

from cleanpipe import _native
from cleanpipe.errors import ConfigError
from cleanpipe.store import Store

Texts: TypeAlias = "Sequence[str | None] | pa.Array | pa.ChunkedArray"
Hashes = npt.NDArray[np.uint64]
Values = npt.NDArray[np.uint32]
Places = npt.NDArray[np.int64]

# The header's bytes for the checksum, of all bytes before and behind them.
_CHECKSUM = slice(48, 64)


class Hits(NamedTuple):
    """The n-grams of t texts that are in an index, text by text, in order of position.

    Attributes:
        offsets: int64, shape (t + 1,): text i has the hits ``offsets[i]`` to
            ``offsets[i + 1] - 1``.
        positions: int64, shape (h,): which token of its text the n-gram begins at, from 0.
        starts, ends: int64, shape (h,): its bytes in that text's UTF-8, half-open.
        ordinals: uint32, shape (h,): its place in :attr:`NgramIndex.hashes`.
    """

    offsets: Places
    positions: Places
    starts: Places
    ends: Places
    ordinals: Values


class NgramIndex:
    """An immutable set of n-grams; :meth:`build`, :meth:`open` and :meth:`merge` make one.

    The same set with the same values has the same bytes, whatever the order it was given in.
    One that was opened from a file is pickled as the file's name and fingerprint, and the
    process that unpickles it maps the file itself; any other is pickled whole.

    Attributes:
        n: tokens an n-gram; a text of fewer has one n-gram, of all its tokens.
        hashes: uint64, shape (len,), read-only: ascending. An n-gram's place in it is its
            ordinal, so whatever is known of n-grams can be kept in arrays beside it.
        values: uint32, shape (len,), read-only, or None: what was given to :meth:`build`.
        code: whether texts are read as code tokens (docs/tokens.md), in which operators count.
        fingerprint: 32 hexadecimal digits, XXH3-128 of the content.
        path: the absolute path of the file it was opened from, or None.
    """

    n: int
    hashes: Hashes
    values: Values | None
    code: bool
    fingerprint: str
    path: str | None

    def __init__(self, image: Any, path: str | None = None) -> None:
        """Over the bytes of an index file: any read-only buffer, which is not copied.

        Errors: ValueError where they are no index, are damaged, or are of another format,
        token table or Unicode version.
        """
        self.n, count, hashes_at, values_at, self.code = _native.index_header(image)
        self._image = memoryview(image).cast("B").toreadonly()  # Arrow has signed bytes
        if _checksum(self._image) != self._image[_CHECKSUM]:
            raise ValueError("a damaged n-gram index: its checksum is another")
        self.hashes = np.frombuffer(self._image, "<u8", count, hashes_at)
        self.values = (
            np.frombuffer(self._image, "<u4", count, values_at) if values_at >= 0 else None
        )
        self.fingerprint = self._image[_CHECKSUM].hex()
        self.path = path

    @classmethod
    def build(
        cls,
        grams: Texts | Hashes,
        n: int,
        values: npt.ArrayLike | None = None,
        *,
        code: bool = False,
    ) -> NgramIndex:
        """An index of all n-grams of some texts, or of n-grams by their hashes.

        Args:
            grams: strings (Arrow, or a sequence), or a uint64 array of hashes as
                ``_native.ngrams`` gives them, in any order, repeated or not.
            n: tokens an n-gram, 1 or more.
            values: one number below 2**32 for each hash, None for none. Of a hash that comes
                more than once the least value stays.
            code: whether the tokens are code tokens; hashes have to be of such as well.

        Errors: ValueError for n < 1, values that are out of range, are not as many as the
        hashes or come with texts; TypeError where texts are no strings.
        """
        if not isinstance(grams, np.ndarray):
            if values is not None:
                raise ValueError("values go with hashes, not with texts")
            grams = _native.ngrams(_arrow(grams), n, code)[1]
        elif grams.dtype != np.uint64 or grams.ndim != 1:
            raise TypeError(
                f"hashes: expected uint64 of one dimension, got {grams.dtype} of {grams.ndim}"
            )
        kept = None
        # Not numpy.unique: its hash table is slow, and hashes that collide in it can be chosen.
        if values is None:
            grams = np.sort(grams)
        else:
            kept = _values(values)
            if kept.shape != grams.shape:
                raise ValueError(f"{kept.size} values for {grams.size} hashes")
            order = np.lexsort((kept, grams))
            grams, kept = grams[order], kept[order]
        first = np.ones(len(grams), dtype=np.bool_)
        first[1:] = grams[1:] != grams[:-1]
        kept = None if kept is None else kept[first]
        image = _native.index_build(grams[first], kept, n, code).data
        image[_CHECKSUM] = _checksum(image)
        return cls(image)

    @classmethod
    def merge(cls, indexes: Sequence[NgramIndex]) -> NgramIndex:
        """One index of all n-grams of several, as if built from them at once.

        Errors: ValueError where there is none, or where they differ in n, or only some have
        values or code tokens.
        """
        if not indexes:
            raise ValueError("there is no index to merge")
        lengths = sorted({index.n for index in indexes})
        if len(lengths) > 1:
            raise ValueError(f"indexes of different n do not merge: n = {lengths}")
        kinds = {index.code for index in indexes}
        if len(kinds) > 1:
            raise ValueError("indexes of code tokens and of others do not merge")
        values = [index.values for index in indexes if index.values is not None]
        if values and len(values) < len(indexes):
            raise ValueError("indexes with values and without do not merge")
        hashes = np.concatenate([index.hashes for index in indexes])
        merged = np.concatenate(values) if values else None
        return cls.build(hashes, lengths[0], merged, code=kinds.pop())

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> NgramIndex:
        """Map a file that :meth:`save` wrote, and verify it: reads all of it once.

        A file that is mapped must not be written to; :meth:`save` replaces it instead.

        Errors: ConfigError, which names the file and what to do, where it cannot be read, is
        no index, is damaged, or was built for other tokens.
        """
        name = os.fspath(path)
        try:
            with open(name, "rb") as file:
                size = os.fstat(file.fileno()).st_size
                # An empty file cannot be mapped.
                image = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
        except OSError as error:
            raise ConfigError(f"{name}: {error.strerror}; expected an n-gram index") from None
        try:
            return cls(image, os.path.abspath(name))
        except ValueError as error:
            raise ConfigError(f"{name}: {error}; build it again from its test sets") from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file, which appears whole or not at all; an old one is replaced.

        Errors: OSError where it cannot be written.
        """
        folder, name = os.path.split(os.path.abspath(path))
        with Store(folder).create(name) as file:
            file.write(self._image)

    def query(self, texts: Texts) -> Hits:
        """The n-grams of texts that are in the index.

        A text of fewer than n tokens is asked for as one n-gram, of all its tokens; a null
        has none.

        Args:
            texts: strings, Arrow (without a copy) or a sequence.

        Errors: TypeError where texts are no strings.
        """
        return self.query_all([self], texts)[0]

    @staticmethod
    def query_all(indexes: Sequence[NgramIndex], texts: Texts) -> list[Hits]:
        """What :meth:`query` of each index gives, and the texts are read once for all.

        Args:
            indexes: all of them of code tokens, or none.
            texts: as for :meth:`query`.

        Errors: ValueError where only some are of code tokens; TypeError where texts are no
        strings.
        """
        images = tuple(index._image for index in indexes)
        return [Hits(*columns) for columns in _native.index_query(images, _arrow(texts))]

    def __len__(self) -> int:
        return len(self.hashes)

    @property
    def image(self) -> memoryview:
        """The bytes of its file."""
        return self._image

    @property
    def nbytes(self) -> int:
        """Bytes in memory, and of the file."""
        return self._image.nbytes

    def __reduce__(self) -> tuple[Any, ...]:
        if self.path is None:
            return NgramIndex, (bytes(self._image),)
        return _reopen, (self.path, self.fingerprint)


def _reopen(path: str, fingerprint: str) -> NgramIndex:
    index = NgramIndex.open(path)
    if index.fingerprint != fingerprint:
        raise ConfigError(
            f"{path}: the index was replaced while it was in use "
            f"(fingerprint {index.fingerprint}, expected {fingerprint}); start again"
        )
    return index


def _arrow(texts: Texts) -> Any:
    if isinstance(texts, str):
        raise TypeError("expected texts, got one string")
    if hasattr(texts, "__arrow_c_array__") or hasattr(texts, "__arrow_c_stream__"):
        return texts
    return pa.array(texts, pa.large_string())


def _values(values: npt.ArrayLike) -> Values:
    given = np.asarray(values)
    if given.size and (
        given.dtype.kind not in "iu" or int(given.min()) < 0 or int(given.max()) >= 2**32
    ):
        raise ValueError("values are integers from 0 to 4,294,967,295")
    return given.astype(np.uint32)


def _checksum(image: memoryview) -> bytes:
    hasher = xxh3_128(image[: _CHECKSUM.start])
    hasher.update(image[_CHECKSUM.stop :])
    return hasher.digest()
