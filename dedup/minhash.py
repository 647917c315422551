"""The ``minhash`` rule: documents whose n-grams are nearly the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cleanpipe import _native
from cleanpipe.bounds import Flags, Numbers
from cleanpipe.dedup.bands import ABOVE, RECALL, RECALL_ABOVE, Bands, choose, least
from cleanpipe.dedup.exact import DIGEST, digest_column, digest_rows, text_digests
from cleanpipe.dedup.resolve import DuplicateRule
from cleanpipe.signatures import Signatures, permutations
from cleanpipe.stage import Rows, Sketch
from cleanpipe.units import Units

_LANGUAGE = "language"
_DEFAULT = "default"
_MOST_TOKENS = 255  # of an n-gram: a byte a document
_ESTIMATE = 256
_MOST_VALUES = 4096  # beyond, the estimate's error is under 0.8 % and a signature 16 KiB
# Seed of the digests of short texts, so that they are other numbers than those of `exact`.
_SHORT = 0x73686F7274
# Odd, so that no two n give the same product; 2**64 divided by the golden ratio.
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class MinHash(DuplicateRule):
    """Drops a document that is similar to a kept one, which comes before it.

    Similarity is the Jaccard similarity of the sets of n-grams of tokens (docs/tokens.md),
    |A & B| / |A | B|. Candidates are pairs whose MinHash signatures agree in some band (Broder
    1997; Leskovec, Rajaraman, Ullman, "Mining of Massive Datasets", chapter 3); each is verified
    before it counts. Bands and rows follow from ``threshold`` and ``num_perm``: those with the
    least false candidates of all that find a pair at the threshold with a probability of at
    least 0.94, and one 0.1 above it with 0.999 (:mod:`cleanpipe.dedup.bands`); 16 bands of 8
    rows by default.

    Parameters:
        threshold: lowest similarity of duplicates, above 0 and at most 1. Default 0.8, where
            Lee et al. 2022 (arXiv:2107.06499, appendix A) cut, by edit similarity there.
        ngram: tokens an n-gram, 1 to 255; or a map with one for each language and ``default``
            for the others, ``{default: 5, zh: 9}``, which needs the label ``language``.
            Documents of different n are never compared. Default 5, as in Lee et al. A Chinese
            token is a character, and 5 words are 8 or 9 of them.
        num_perm: values a signature. Default: null, 128, or 256 with ``verify: signature``.
        seed: of the permutations, 0 to 2**32 - 1. Default 1.
        verify_by (``verify`` in pipeline files): ``exact`` (default): a pair counts at its
            similarity, named ``jaccard``, and texts are read a second time for it.
            ``signature``: at the share of values in which the signatures agree, named
            ``minhash_estimate``, whose standard error is at most 0.5 / sqrt(num_perm), 0.031
            at 256; fewer are refused.
        prefer: which of two similar documents stays, a list: ``longest`` or ``shortest`` (by
            tokens); ``{source: [books, web]}``, as any label, measure or ``column.NAME`` with
            values, the best first; ``{column.date: highest}`` or ``lowest``. What is null or
            not listed comes last; where all are equal, the first in source order stays. What
            one rule of the pipeline says holds for all. Default: none.
        against: output folders of complete earlier runs with the same kind of stage. Their
            survivors come before every document here, in the order of the list, whatever
            ``prefer`` says; they are not dropped, and ``survivor_run`` names the folder.
            ``ngram``, ``num_perm`` and ``seed`` must be the same there. With ``verify: exact``
            its ``kept/`` is read, too. Default: none.

    With ``when``, documents outside it are not compared; a survivor outside it can only be one
    whose text equals that of a document inside, where ``exact`` stands beside this rule.

    Documents of fewer than 2n tokens are not compared: few n-grams are similar by chance. They
    are duplicates only if their texts are equal. Documents with equal sets of n-grams are
    duplicates of similarity 1 without a look; two different sets are taken for equal by the
    chance that their 128-bit digests are, 1.5e-19 among 10 billion.

    A signature has datasketch's form (docs/signatures.md): ``datasketch.MinHash(seed=seed,
    hashvalues=..., scheme="affine32")``.
    """

    kind: ClassVar[str] = "minhash"

    threshold: float = 0.8
    ngram: int | Mapping[str, int] = 5
    num_perm: int | None = None
    seed: int = 1
    verify_by: Literal["exact", "signature"] = "exact"

    aliases: ClassVar[Mapping[str, str]] = {"verify": "verify_by"}  # ``verify`` is the method

    def check(self) -> Iterable[tuple[str, str]]:
        """Numbers out of range, signatures too short for what is asked of them."""
        for language, n in self._ngrams.items():
            if not 1 <= n <= _MOST_TOKENS:
                where = f"{language}: " if isinstance(self.ngram, Mapping) else ""
                yield "ngram", f"{where}expected 1 to {_MOST_TOKENS} tokens, got {n}"
        if _DEFAULT not in self._ngrams:
            yield "ngram", "expected a number for default, too: {default: 5, zh: 9}"
        if not 0 <= self.seed < 1 << 32:
            yield "seed", f"expected 0 to {(1 << 32) - 1}, got {self.seed}"
        if not 0 < self.threshold <= 1:
            yield "threshold", f"expected more than 0 and at most 1, got {self.threshold}"
        elif not 1 <= self.size <= _MOST_VALUES:
            yield "num_perm", f"expected 1 to {_MOST_VALUES}, got {self.size}"
        elif self.verify_by == "signature" and self.size < _ESTIMATE:
            yield (
                "num_perm",
                f"{self.size} values tell too little to drop a document by: write num_perm: "
                f"{_ESTIMATE} or more, or verify: exact",
            )
        elif choose(self.threshold, self.size) is None:
            yield (
                "num_perm" if self.num_perm else "threshold",
                f"{self.size} values have no bands that find {RECALL:.0%} of the pairs at "
                f"{self.threshold:g} and {RECALL_ABOVE:.1%} of those {ABOVE} above: write "
                f"num_perm: {least(self.threshold)} or more, or a higher threshold",
            )

    def needs(self) -> tuple[str, ...]:
        """``language``, where n depends on it, and what ``prefer`` looks at."""
        own = (_LANGUAGE,) if isinstance(self.ngram, Mapping) else ()
        return tuple(dict.fromkeys((*own, *super().needs())))

    @property
    def size(self) -> int:
        """Values a signature."""
        if self.num_perm is not None:
            return self.num_perm
        return _ESTIMATE if self.verify_by == "signature" else 128

    @property
    def measure_name(self) -> str:
        """``jaccard`` or ``minhash_estimate``."""
        return "jaccard" if self.verify_by == "exact" else "minhash_estimate"

    @property
    def reads_text(self) -> bool:
        """Where similarity is exact."""
        return self.verify_by == "exact"

    @cached_property
    def payload(self) -> pa.Schema:
        """``signature`` (its values, little-endian; null for a text of fewer than 2n tokens),
        ``digest`` (of the set of n-grams, or of such a text) and ``ngram`` (its n)."""
        return pa.schema(
            [
                pa.field("signature", pa.binary(4 * self.size)),
                pa.field("digest", DIGEST, nullable=False),
                pa.field("ngram", pa.uint8(), nullable=False),
            ]
        )

    @cached_property
    def bands(self) -> Bands:
        """How a signature is cut."""
        bands = choose(self.threshold, self.size)
        assert bands is not None  # as checked
        return bands

    def sketch(self, units: Units) -> Sketch:
        """A row a document. Those that agree in a band are compared, if they have the same n;
        those of one digest are the same."""
        n = self._n(units)
        signatures, digests, tokens = _native.sketches(units.text, n, *self._permutations)
        long = tokens >= 2 * n
        short = np.flatnonzero(~long)
        if len(short):
            digests[short] = text_digests(units.text.take(pa.array(short)), _SHORT)
        columns = [
            pa.array(np.arange(len(units), dtype=np.int64)),
            _signature_column(signatures, long),
            digest_column(digests),
            pa.array(n.astype(np.uint8)),
        ]
        documents = pa.table(columns, names=["unit", *self.payload.names])
        return Sketch(documents, self.buckets(documents))

    def comparable(self) -> Mapping[str, object]:
        """What signatures depend on besides texts."""
        return {"ngram": dict(self._ngrams), "num_perm": self.size, "seed": self.seed}

    def detail(self, payload: pa.Table, text: pa.LargeStringArray | None) -> pa.Array:
        """Sets of n-grams, ascending (large_list<uint64>); or signatures, as they are."""
        if self.verify_by == "signature":
            return payload["signature"].combine_chunks()
        assert text is not None
        n = payload["ngram"].to_numpy().astype(np.int64)
        offsets, hashes = _native.ngram_sets(text, n)
        return pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(hashes))

    def verify(self, details: pa.Array, left: Rows, right: Rows) -> Numbers:
        """The similarity, NaN where it is below the threshold."""
        if self.verify_by == "exact":
            offsets, hashes = details.offsets.to_numpy(), details.values.to_numpy()
            similarity = _native.jaccard(offsets, hashes, left, right)
        else:
            similarity = _native.agreement(signature_rows(details), left, right)
        similarity[similarity < self.threshold] = np.nan
        return similarity

    @cached_property
    def _permutations(self) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
        return permutations(self.size, self.seed)

    @property
    def _ngrams(self) -> Mapping[str, int]:
        return self.ngram if isinstance(self.ngram, Mapping) else {_DEFAULT: self.ngram}

    def _n(self, units: Units) -> Rows:
        """int64, shape (n,)."""
        n = np.full(len(units), self._ngrams[_DEFAULT], dtype=np.int64)
        if isinstance(self.ngram, Mapping):
            languages = units.value(_LANGUAGE)
            for language, tokens in self.ngram.items():
                if language != _DEFAULT:
                    equal = pc.fill_null(pc.equal(languages, language), False)
                    n[equal.to_numpy(zero_copy_only=False)] = tokens
        return n

    def buckets(self, payload: pa.Table) -> pa.Table:
        """The rows of each document, one after another: its bands, then its digest."""
        signature, digest, ngram = (c.combine_chunks() for c in payload.select(self.payload.names))
        signatures, digests = signature_rows(signature), digest_rows(digest)
        n, long = ngram.to_numpy().astype(np.uint64), signature.is_valid().to_numpy(False)
        bands = self.bands.bands
        shape = (len(n), bands + 1)
        bucket, fingerprint = np.empty(shape, np.uint64), np.empty(shape, np.uint64)
        compare, there = np.ones(shape, np.bool_), np.ones(shape, np.bool_)
        keys = _native.band_keys(signatures, *self.bands)
        bucket[:, :bands] = keys ^ (n * _SPREAD)[:, np.newaxis]
        fingerprint[:, :bands] = digests[:, 1:]
        bucket[:, bands], fingerprint[:, bands] = digests[:, 1], digests[:, 0]
        compare[:, bands] = False
        there[:, :bands] = long[:, np.newaxis]
        unit = np.broadcast_to(np.arange(len(n), dtype=np.int64)[:, np.newaxis], shape)
        names = ("unit", "bucket", "fingerprint", "compare")
        parts = (unit, bucket, fingerprint, compare)
        return pa.table([pa.array(part[there]) for part in parts], names=names)


def signature_rows(column: pa.FixedSizeBinaryArray) -> Signatures:
    """Stored signatures as uint32 of shape (n, num_perm); what a null has is undefined."""
    width = column.type.byte_width // 4
    data = column.buffers()[1] or b""
    values = np.frombuffer(data, "<u4", (column.offset + len(column)) * width)
    return values.reshape(-1, width)[column.offset :].astype(np.uint32, copy=False)


def _signature_column(signatures: Signatures, there: Flags) -> pa.FixedSizeBinaryArray:
    size, width = signatures.shape
    valid = pa.py_buffer(np.packbits(there, bitorder="little").tobytes())
    data = pa.py_buffer(signatures.astype("<u4", copy=False).tobytes())
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(4 * width), size, [valid, data])
