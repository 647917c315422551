"""The tokens of docs/tokens.md once more, slow and obvious, sharing nothing with the C kernels.

Properties come from `ucd.txt` beside this file, decoding from Python.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

_SCRIPTS = ("Hani", "Hira", "Kana", "Khmr", "Laoo", "Mymr", "Thai", "Tibt")


def _read() -> tuple[str, dict[str, set[int]], dict[str, dict[int, str]]]:
    version, sets, maps = "", {}, dict[str, dict[int, str]]()
    for line in (Path(__file__).parent / "ucd.txt").read_text(encoding="utf-8").splitlines():
        name, *items = line.split(" ")
        if name == "#":
            continue
        if name == "version":
            version = items[0]
        elif name in ("fold", "width", "voiced"):
            pairs = (item.split("=") for item in items)
            maps[name] = {
                int(a, 16): "".join(chr(int(code, 16)) for code in b.split("+")) for a, b in pairs
            }
        else:
            sets[name] = set[int]()
            for item in items:
                first, _, last = item.partition("-")
                sets[name].update(range(int(first, 16), int(last or first, 16) + 1))
    return version, sets, maps


UNICODE_VERSION, SETS, MAPS = _read()


class Token(NamedTuple):
    start: int  # bytes
    end: int
    folded: str
    hash: int


def token_class(code: int) -> str:
    if code in SETS["silent"]:
        return "silent"
    if code in SETS["M"] or code in (0xFF9E, 0xFF9F):
        return "mark"
    if code in SETS["L"] or code in SETS["N"]:
        if code not in SETS["Nd"] and any(code in SETS[script] for script in _SCRIPTS):
            return "cluster"
        return "run"
    return "other"


def fold(text: str) -> str:
    """What is hashed: silent code points left out, case folded, width, voiced marks apart."""
    text = "".join(c for c in text if token_class(ord(c)) != "silent")
    for name in ("fold", "width", "voiced"):
        text = text.translate(MAPS[name])
    return text


def mix(x: int) -> int:
    x ^= x >> 33
    x = x * 0xFF51AFD7ED558CCD % 2**64
    x ^= x >> 33
    x = x * 0xC4CEB9FE1A85EC53 % 2**64
    return x ^ x >> 33


def token_hash(folded: str) -> int:
    data = folded.encode()
    state = 0x9E3779B97F4A7C15
    for at in range(0, len(data), 8):
        state = mix(state ^ int.from_bytes(data[at : at + 8], "little"))
    return state


def characters(data: bytes) -> tuple[list[tuple[int, int, str]], int]:
    """(start, end, character) of each code point, ill-formed ones as U+FFFD, and their number."""
    found: list[tuple[int, int, str]] = []
    at = ill_formed = 0
    while at < len(data):
        try:
            good, bad = data[at:].decode(), 0
        except UnicodeDecodeError as error:
            good, bad = data[at : at + error.start].decode(), error.end - error.start
        for character in good:
            size = len(character.encode())
            found.append((at, at + size, character))
            at += size
        if bad:
            found.append((at, at + bad, "\ufffd"))
            at += bad
            ill_formed += 1
    return found, ill_formed


def tokens(text: str | bytes) -> list[Token]:
    data = text if isinstance(text, bytes) else text.encode()
    spans: list[tuple[int, int, str]] = []
    opened = ""  # the class of the token being read
    for start, end, character in characters(data)[0]:
        kind = token_class(ord(character))
        if kind == "other":
            opened = ""
        elif kind == "cluster" or (kind == "run" and opened != "run"):
            opened = kind
            spans.append((start, end, character))
        elif opened:
            spans[-1] = (spans[-1][0], end, spans[-1][2] + character)
    return [Token(start, end, fold(s), token_hash(fold(s))) for start, end, s in spans]


def code_tokens(text: str | bytes) -> list[Token]:
    data = text if isinstance(text, bytes) else text.encode()
    spans: list[tuple[int, int, str]] = []
    opened = ""
    for start, end, character in characters(data)[0]:
        code = ord(character)
        kind = "run" if character == "_" else token_class(code)
        unseen = code < 32 or 127 <= code < 160 or code == 0xFFFD
        if unseen or code in SETS["whitespace"] or (kind == "other" and code in SETS["Cf"]):
            opened = ""
        elif opened and kind in ("mark", "silent"):
            spans[-1] = (spans[-1][0], end, spans[-1][2] + character)
        elif kind == "silent":
            continue
        elif kind == opened == "run":
            spans[-1] = (spans[-1][0], end, spans[-1][2] + character)
        else:
            opened = kind if kind in ("run", "cluster") else ""
            spans.append((start, end, character))
    found = []
    for start, end, token in spans:
        # What is neither a letter nor a number stands for itself.
        other = len(token) == 1 and token_class(ord(token)) == "other"
        folded = token if other else fold(token)
        found.append(Token(start, end, folded, token_hash(folded)))
    return found
