"""MinHash signatures, those of datasketch 2 with ``scheme="affine32"``, over our n-grams."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cleanpipe import _native
from cleanpipe.texts import slices, text_column

Signatures: TypeAlias = NDArray[np.uint32]


def minhash(texts: Any, ngram: int = 5, num_perm: int = 128, seed: int = 1) -> Signatures:
    """The MinHash signature of each text's set of n-grams.

    The share of values in which two signatures agree estimates the Jaccard similarity of
    the two sets (Broder 1997, "On the resemblance and containment of documents").

        signature[k] = min over n-grams of (a[k] * fmix32(h) + b[k]) mod 2**32

    where h is the low half of the n-gram's 64-bit hash (docs/tokens.md; a text of fewer
    tokens is one n-gram), fmix32 MurmurHash3's finaliser, and a, b are datasketch's for that
    seed and number of permutations. A row is ready for
    ``datasketch.MinHash(seed=seed, hashvalues=row, scheme="affine32")``.

    A text without tokens, None too, has no signature: its row is all 0xFFFFFFFF, as that of
    datasketch's empty MinHash. Two such rows agree, but mean nothing: they match no text, and
    are to be left out before rows are compared or put into an index.

    Args:
        texts: n texts: a list or tuple of ``str`` and None, an Arrow array or chunked
            array of strings, a pandas Series, or what else exports an Arrow stream.
        ngram: tokens an n-gram, at least 1. Default 5.
        num_perm: values a signature, at least 1; the standard error of the estimate is at
            most 0.5 / sqrt(num_perm). Default 128, as datasketch's.
        seed: of the permutations, 0 to 2**32 - 1. Default 1, as datasketch's.

    Returns:
        uint32 of shape (n, num_perm).

    Errors: TypeError where these are not texts; ValueError for a number out of its range, and
    for a ``str`` with a lone surrogate, which is no text.
    """
    if ngram < 1:
        raise ValueError(f"ngram is at least 1, got {ngram}")
    a, b = permutations(num_perm, seed)
    column = text_column(texts)
    signatures = np.empty((len(column), num_perm), np.uint32)
    for begin, end in slices(column):
        part = column.slice(begin, end - begin)
        signatures[begin:end] = _native.minhash(part, ngram, a, b)
    return signatures


def permutations(num_perm: int, seed: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """a and b of each permutation h -> (a * h + b) mod 2**32, as datasketch 2 draws them.

    ``MinHash._init_permutations``: from NumPy's ``RandomState``, whose stream is frozen, first
    all of a, odd so that the map is a bijection, then all of b. So the first values of a longer
    signature are not those of a shorter one.

    Returns two uint32 of shape (num_perm,). ValueError for a number out of its range.
    """
    if num_perm < 1:
        raise ValueError(f"num_perm is at least 1, got {num_perm}")
    if not 0 <= seed < 1 << 32:
        raise ValueError(f"seed is 0 to 2**32 - 1, got {seed}")
    draw = np.random.RandomState(seed)
    a = draw.randint(0, 1 << 31, num_perm, np.uint32) * np.uint32(2) + np.uint32(1)
    return a, draw.randint(0, 1 << 32, num_perm, np.uint32)
