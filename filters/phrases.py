"""Lists of phrases in text files: found, read, every fault with its file and line. Not a stage.

A list is UTF-8 text with one phrase a line. White space around a phrase, blank lines and a
byte order mark are ignored. A line that is ``#`` alone or begins with ``# `` is a comment;
``#tag`` is a phrase, as hashtags are in real lists.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable

from cleanpipe.parameters import LocalPath


def files(patterns: Iterable[LocalPath]) -> tuple[list[LocalPath], list[str]]:
    """The files that patterns name.

    Args:
        patterns: paths, or globs with ``*``, ``?``, ``[]`` and ``**``.

    Returns:
        The files, sorted within each pattern, each once; and what is wrong with a pattern.
    """
    found: dict[LocalPath, None] = {}
    faults = []
    for pattern in patterns:
        written = pattern.written
        # A path that exists is meant as it stands, brackets and all.
        matched = [pattern] if os.path.lexists(pattern) else glob.glob(pattern, recursive=True)
        plain = sorted(os.fspath(path) for path in matched if not os.path.isdir(path))
        if os.path.isdir(pattern):
            faults.append(f"{written} is a folder: write {written.rstrip('/')}/* for its files")
        elif not plain:
            faults.append(f"no file matches {written}")
        found.update((pattern.found(path), None) for path in plain)
    return list(found), faults


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
