"""The picture: a bar from the 10th to the 90th percentile of each kind, on one axis."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

LEFT, RIGHT, TOP, STEP = 250, 30, 40, 22
WIDTH = 820
FROM, TO = 1.0, 5.0
"""Powers of ten at the ends of the axis."""
TITLES = {"en": "English model", "zh": "Chinese model"}


class Box(NamedTuple):
    """Percentiles of perplexity: 10th, 50th, 90th."""

    name: str
    low: float
    middle: float
    high: float


def picture(boxes: Mapping[str, Sequence[Box]]) -> str:
    """An SVG, one part a language."""
    height = TOP + sum(len(each) * STEP + 60 for each in boxes.values())
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        f'<text x="{LEFT}" y="20" font-weight="bold">Perplexity by kind of text: '
        "10th percentile, median, 90th</text>",
    ]
    top = TOP
    for language, each in boxes.items():
        parts += _part(TITLES[language], each, top)
        top += len(each) * STEP + 60
    return "\n".join([*parts, "</svg>", ""])


def _part(title: str, boxes: Sequence[Box], top: int) -> list[str]:
    bottom = top + 20 + len(boxes) * STEP
    parts = [f'<text x="10" y="{top + 12}" font-weight="bold">{title}</text>']
    for power in range(int(FROM), int(TO) + 1):
        x = _x(10.0**power)
        parts.append(f'<path d="M{x} {top + 18}V{bottom}" stroke="#ddd"/>')
        parts.append(f'<text x="{x}" y="{bottom + 16}" text-anchor="middle">{10**power:,}</text>')
    for place, box in enumerate(boxes):
        y = top + 20 + place * STEP
        low, middle, high = (_x(value) for value in (box.low, box.middle, box.high))
        name = html.escape(box.name)
        parts.append(f'<text x="{LEFT - 10}" y="{y + 13}" text-anchor="end">{name}</text>')
        parts.append(
            f'<rect x="{low}" y="{y + 3}" width="{round(high - low, 1)}" height="12" '
            f'fill="{"#2a7" if place == 0 else "#69c"}" rx="2"/>'
        )
        parts.append(f'<path d="M{middle} {y + 1}v16" stroke="black" stroke-width="2"/>')
    return parts


def _x(value: float) -> float:
    share = (min(max(math.log10(value), FROM), TO) - FROM) / (TO - FROM)
    return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)
