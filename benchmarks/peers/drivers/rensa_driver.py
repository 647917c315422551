"""rensa: RMinHash with 128 permutations, fed with shingles made in Python."""

from __future__ import annotations

from driver import serve, shingles
from rensa import RMinHash


def signature(text: str) -> list[int]:
    sketch = RMinHash(num_perm=128, seed=1)
    sketch.update(shingles(text))
    digest: list[int] = sketch.digest()
    return digest


serve({"signature": signature})
