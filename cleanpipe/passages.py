"""Passages that two texts have in common, for people to read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cleanpipe import _native


@dataclass(frozen=True)
class Passage:
    """Tokens in a row that occur in both texts.

    Attributes:
        start, end: byte offsets in the first text.
        other_start, other_end: in the second.
        tokens: how many.
    """

    start: int
    end: int
    other_start: int
    other_end: int
    tokens: int


def shared_passages(text: str, other: str, least: int = 5) -> list[Passage]:
    """The passages of ``text``, from left to right, that ``other`` has too.

    Tokens are compared as everywhere (docs/tokens.md): by their folded form, whatever stands
    between them. A passage is as long as it goes from where it first occurs in ``other``.

    Args:
        least: tokens that make a passage. Default 5.
    """
    both = pa.array([text, other], pa.large_string())
    offsets, starts, ends, hashes = _native.tokens(both)
    cut = int(offsets[1])
    one, two = hashes[:cut].tolist(), hashes[cut:].tolist()
    grams = _native.ngrams(both, least)
    border = int(grams[0][1])
    places: dict[int, int] = {}
    for first, gram in enumerate(grams[1][border:].tolist()):
        places.setdefault(gram, first)
    ours = grams[1][:border].tolist()
    found, at = [], 0
    while at + min(least, len(one)) <= len(one) and at < len(ours):
        place = places.get(ours[at])
        if place is None:
            at += 1
            continue
        size = 0
        while (
            at + size < len(one) and place + size < len(two) and one[at + size] == two[place + size]
        ):
            size += 1
        if size < min(least, len(one)):  # grams of other lengths
            at += 1
            continue
        last, theirs = at + size - 1, cut + place
        found.append(
            Passage(
                int(starts[at]),
                int(ends[last]),
                int(starts[theirs]),
                int(ends[theirs + size - 1]),
                size,
            )
        )
        at += size
    return found


def marked(text: str, spans: list[tuple[int, int]], width: int = 60, most: int = 12) -> str:
    """``text`` on one line, with the spans in ⟦ ⟧, long pieces shortened in the middle.

    Args:
        spans: byte offsets, in any order; overlapping ones are joined.
        width: characters that a piece may have. Default 60.
        most: pieces that are shown. Default 12.
    """
    data = text.encode()
    inside = np.zeros(len(data) + 1, dtype=np.int64)
    for start, end in spans:
        inside[start] += 1
        inside[end] -= 1
    depth = np.cumsum(inside)[:-1] > 0
    edges = [0, *(np.flatnonzero(depth[1:] != depth[:-1]) + 1).tolist(), len(data)]
    pieces = []
    for start, end in zip(edges, edges[1:], strict=False):
        piece = " ".join(data[start:end].decode().split())
        if len(piece) > width:
            half = width // 2 - 1
            piece = f"{piece[:half]} … {piece[-half:]}"
        if piece:
            pieces.append(f"⟦{piece}⟧" if depth[start] else piece)
    shown = " ".join(pieces[:most])
    return shown if len(pieces) <= most else f"{shown} … and {len(pieces) - most} more pieces"
