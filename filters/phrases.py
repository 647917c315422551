"""Lists of phrases: files, folders and lists that ship, each fault with its place. Not a stage.

A list is UTF-8 text with one phrase a line; lines end in LF, CRLF or CR. White space around a
phrase, blank lines and a byte order mark are ignored. A line that is ``#`` alone or begins with
``# `` is a comment; ``#tag`` is a phrase, as hashtags are in real lists. A file may be packed
(``.gz``, ``.zst``). A folder stands for every file below it, but for hidden ones and for those that
tell of lists (LICENSE, NOTICE, README, ``*.md``, ``*.pdf``).
"""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa

from cleanpipe.parameters import LocalPath, matched, nearest

_SHIPPED = Path(__file__).parent / "data"
_ABOUT = ("license", "licence", "notice", "readme", "copying")


class Entry(NamedTuple):
    """One phrase, pattern or line of a list.

    Attributes:
        list: what the list is called.
        text: as it stands there.
    """

    list: str
    text: str

    def __str__(self) -> str:
        return f"{self.list}: {self.text}"


class Row(msgspec.Struct, frozen=True):
    """A row of a table: what counts in the documents of one key.

    Attributes:
        number: its line in the file, from 1 on.
        key: the host, or what else the table goes by.
        phrases: phrases, as in a list. Default: none.
        lines: whole lines. Default: none.
    """

    number: int
    key: str
    phrases: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()


def is_list(name: str) -> bool:
    """Whether a file of a folder is one of its lists, and no word about them."""
    name = name.lower()
    return not name.startswith((".", *_ABOUT)) and not name.endswith((".md", ".pdf"))


def files(
    patterns: Iterable[LocalPath], wanted: Callable[[str], bool] = is_list
) -> tuple[list[LocalPath], list[str]]:
    """The files that paths, patterns and folders name, each once.

    Args:
        wanted: which files below a folder are meant, by their names.

    Returns:
        The files in order; and what is wrong with a pattern.
    """
    found: dict[LocalPath, None] = {}
    faults = []
    for pattern in patterns:
        if os.path.isdir(pattern):
            inside = sorted(_below(pattern, wanted))
            if not inside:
                faults.append(f"no list in the folder {pattern.written}")
            found.update((pattern.found(path), None) for path in inside)
        else:
            some, wrong = matched((pattern,))
            found.update(dict.fromkeys(some))
            faults += wrong
    return list(found), faults


def _below(folder: str, wanted: Callable[[str], bool]) -> Iterator[str]:
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (os.path.join(parent, name) for name in names if wanted(name))


def read(path: str) -> tuple[list[str], list[str]]:
    """The phrases of one file, and what is wrong with it, as ``file:line: message``."""
    lines, faults = _lines(path)
    return [text for _, text in lines], faults


def _lines(path: str) -> tuple[list[tuple[int, str]], list[str]]:
    """The lines of a file that say something, with their numbers; and its faults."""
    try:
        content = _content(path).removeprefix(b"\xef\xbb\xbf")
    except (OSError, EOFError, ValueError, zlib.error, pa.ArrowException) as error:
        reason = getattr(error, "strerror", None) or str(error)  # ValueError: a path with a NUL
        return [], [f"{path}: cannot be read: {reason}"]
    lines = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    found, faults = [], []
    for number, line in enumerate(lines, start=1):
        if b"\0" in line:
            faults.append(f"{path}:{number}: has a NUL byte: save the list as UTF-8 text")
            break
        try:
            text = line.decode("utf-8").strip()
        except UnicodeDecodeError as error:
            faults.append(
                f"{path}:{number}: not UTF-8: byte 0x{line[error.start]:02x} "
                f"at place {error.start + 1} of the line"
            )
            continue
        if text and text != "#" and not text.startswith("# "):
            found.append((number, text))
    return found, faults


def _content(path: str) -> bytes:
    """The bytes of a file, unpacked where its name ends in ``.gz`` or ``.zst``."""
    if path.endswith(".gz"):
        with gzip.open(path) as packed:
            return packed.read()
    with pa.input_stream(path, compression="zstd" if path.endswith(".zst") else None) as file:
        data: bytes = file.read()
        return data


def read_each(path: str, check: Callable[[str], object]) -> tuple[list[str], list[str]]:
    """:func:`read`, with the lines at fault for which ``check`` raises a ValueError."""
    lines, faults = _lines(path)
    for number, text in lines:
        try:
            check(text)
        except ValueError as error:
            faults.append(f"{path}:{number}: {error}")
    return [text for _, text in lines], faults


def shipped() -> list[str]:
    """What the lists are called that ship: ``ldnoobw.en``."""
    return sorted(
        f"{path.parent.name}.{path.stem}"
        for path in _SHIPPED.glob("*/*.txt")
        if not path.stem.endswith(".except")
    )


def shipped_files(name: str) -> tuple[LocalPath, LocalPath | None]:
    """The file of a list that ships, and that of its exceptions where it has some.

    Errors: ValueError that lists those there are.
    """
    if name not in shipped():
        raise ValueError(f'no list called "{name}" ships; {nearest(name, shipped())}')
    folder, _, language = name.partition(".")
    # Where they are installed is no matter.
    paths = [
        LocalPath(str(_SHIPPED / folder / file), f"{folder}/{file}")
        for file in (f"{language}.txt", f"{language}.except.txt")
    ]
    return paths[0], paths[1] if os.path.exists(paths[1]) else None


def read_table(path: str, by: str) -> tuple[list[Row], list[str]]:
    """The rows of a table of JSON lines, and what is wrong with it.

    A row is a map of the key (``{"host": "a.com", ...}``) and of ``phrases``, ``lines`` or both,
    which are lists of texts.

    Args:
        by: the name that the key goes by.
    """
    try:
        with open(path, "rb") as file:
            lines = file.read().removeprefix(b"\xef\xbb\xbf").split(b"\n")
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL
        return [], [f"{path}: cannot be read: {getattr(error, 'strerror', error)}"]
    rows, faults = [], []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            rows.append(_row(number, msgspec.json.decode(line), by))
        except RecursionError:
            faults.append(f"{path}:{number}: lists in lists, too deep to be a row")
        except (msgspec.DecodeError, ValueError) as error:
            faults.append(f"{path}:{number}: {error}")
    return rows, faults


def _row(number: int, value: Any, by: str) -> Row:
    if not isinstance(value, dict) or not isinstance(value.get(by), str) or not value[by].strip():
        raise ValueError(f'expected {{"{by}": ..., "lines": [...]}}, a text and a list of texts')
    unknown = [key for key in value if key not in (by, "phrases", "lines")]
    if unknown:
        raise ValueError(f'unknown key "{unknown[0]}"; known: {by}, lines, phrases')
    parts = []
    for name in ("phrases", "lines"):
        texts = value.get(name, [])
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise ValueError(f'expected a list of texts as "{name}"')
        parts.append(tuple(text.strip() for text in texts if text.strip()))
    if not any(parts):
        raise ValueError("expected phrases or lines: this row has none")
    return Row(number, value[by].strip(), *parts)
