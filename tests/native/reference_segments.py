"""Lines, paragraphs and sentences of docs/measures.md and `cleanpipe/text.py`, slow and obvious.

Units are as `cleanpipe/text.py` cuts them: a line, and so a paragraph, keeps its indentation.
The marks are written down once more, and Unicode's properties come from `ucd.txt`.
"""

from __future__ import annotations

from .reference_tokens import SETS

WHITESPACE = "".join(map(chr, sorted(SETS["whitespace"])))
WIDE = "。！？…｡‼⁇⁈⁉।॥؟۔։።၊။។៕"
CLOSING = "\"')]}”’»›」』）】》〉〕〗〙〛］｝｣＂＇"
CLOSING_BEFORE_SPACE = "“‘«‹"
TITLES = ("Mr", "Mrs", "Ms", "Dr", "Prof", "St")


def lines(text: str) -> list[str]:
    """What lies between two newlines, less whitespace at its end, where anything is left."""
    return [line.rstrip(WHITESPACE) for line in text.split("\n") if line.strip(WHITESPACE)]


def paragraphs(text: str) -> list[str]:
    """Lines up to the next blank one; each line where no blank line is between lines."""
    blocks, block = [], ""
    for line in [*text.split("\n"), ""]:
        if line.strip(WHITESPACE):
            block += line + "\n"
        elif block:
            blocks.append(block.rstrip(WHITESPACE))
            block = ""
    return blocks if len(blocks) > 1 else lines(text)


def sentences(text: str) -> list[str]:
    return [sentence for line in lines(text) for sentence in _sentences(line)]


def _sentences(line: str) -> list[str]:
    found, start, at = [], 0, 0
    while at < len(line):
        marks = at
        while marks < len(line) and line[marks] in ".!?" + WIDE:
            marks += 1
        if marks == at:
            at += 1
            continue
        end = marks
        while end < len(line) and (
            line[end] in CLOSING or (line[end] in CLOSING_BEFORE_SPACE and _spaced(line[end + 1 :]))
        ):
            end += 1
        wide = any(mark in WIDE for mark in line[at:marks])
        abbreviated = line[at:end] == "." and _abbreviates(line[:at])
        if wide or (_spaced(line[end:]) and not abbreviated):
            found.append(line[start:end])
            start = end
        at = end
    stripped = [sentence.strip(WHITESPACE) for sentence in [*found, line[start:]]]
    return [sentence for sentence in stripped if sentence]


def _spaced(rest: str) -> bool:
    """Whether whitespace follows, or the end of the line."""
    return not rest or rest[0] in WHITESPACE


def _abbreviates(before: str) -> bool:
    """Whether a full stop behind this ends nothing."""

    def apart(rest: str) -> bool:
        return not (rest and (rest[-1].isalnum() or not rest[-1].isascii()))

    if any(before.endswith(title) and apart(before.removesuffix(title)) for title in TITLES):
        return True
    if not before or before[-1] >= "\u0800":
        return False
    if ord(before[-1]) in SETS["L"] and before[:-1].endswith("."):
        return True
    return ord(before[-1]) in SETS["Lu"] and apart(before[:-1])
