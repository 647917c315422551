"""datasketch: update_batch with 128 permutations of affine32, fed with shingles made in Python."""

from __future__ import annotations

from datasketch import MinHash
from driver import serve, shingles

PERMUTATIONS = MinHash(num_perm=128, scheme="affine32").permutations
"""Given to each, as drawing them anew would cost more than a short text does."""


def signature(text: str) -> object:
    sketch = MinHash(num_perm=128, scheme="affine32", permutations=PERMUTATIONS)
    sketch.update_batch([shingle.encode() for shingle in shingles(text)])
    return sketch.hashvalues


serve({"signature": signature})
