"""Lists of phrases in text files: read, every fault with its file and line. Not a stage.

A list is UTF-8 text with one phrase a line. White space around a phrase, blank lines and a
byte order mark are ignored. A line that is ``#`` alone or begins with ``# `` is a comment;
``#tag`` is a phrase, as hashtags are in real lists.
"""

from __future__ import annotations

from collections.abc import Iterable


def read(path: str) -> tuple[list[str], list[str]]:
    """The phrases of one file, and what is wrong with it, as ``file:line: message``."""
    try:
        with open(path, "rb") as file:
            lines = file.read().removeprefix(b"\xef\xbb\xbf").split(b"\n")
    except OSError as error:
        return [], [f"{path}: cannot be read: {error.strerror}"]
    phrases, faults = [], []
    for number, line in enumerate(lines, start=1):
        try:
            phrase = line.decode("utf-8").strip()
        except UnicodeDecodeError as error:
            faults.append(
                f"{path}:{number}: not UTF-8: byte 0x{line[error.start]:02x} "
                f"at place {error.start + 1} of the line"
            )
            continue
        if phrase and phrase != "#" and not phrase.startswith("# "):
            phrases.append(phrase)
    return phrases, faults


def read_all(paths: Iterable[str]) -> tuple[list[str], list[str]]:
    """The phrases of several files in order, and all that is wrong with them."""
    phrases: list[str] = []
    faults: list[str] = []
    for path in paths:
        more, wrong = read(path)
        phrases += more
        faults += wrong
    return phrases, faults
