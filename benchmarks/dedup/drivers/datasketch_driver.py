"""datasketch: a text is kept and put into MinHashLSH unless that finds one like it there."""

from __future__ import annotations

from datasketch import MinHash, MinHashLSH
from driver import main, shingles


def verdicts(texts: list[str]) -> list[int | None]:
    first = MinHash(num_perm=128, seed=1, scheme="affine32")
    index = MinHashLSH(threshold=0.8, num_perm=128)
    found: list[int | None] = []
    for number, of in enumerate(shingles(texts)):
        sketch = MinHash(num_perm=128, seed=1, scheme="affine32", permutations=first.permutations)
        sketch.update_batch([shingle.encode() for shingle in of])
        near = index.query(sketch)
        found.append(min(near) if near else None)
        if not near:
            index.insert(number, sketch)
    return found


main(verdicts)
