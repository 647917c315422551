"""Texts as they are shown, slowly: what cleanpipe/native/plain.h says, by regular expressions."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

_WS = rb"[ \t\n\v\f\r]"
_NAME = rb"[A-Za-z0-9_:.@-]"
_VALUE = rb"(?:\"[^\"<]*+\"|'[^'<]*+'|[^ \t\n\v\f\r<>\"'=`]++)"
_ATTRIBUTE = rb"%b*+/?+%b++%b*+(?:=%b*+%b)?+" % (_WS, _NAME, _WS, _WS, _VALUE)
_TAG = re.compile(
    rb"<(?:!(?=[A-Za-z])[^<>]{0,62}>|/[A-Za-z]%b*+%b*+/?>|[A-Za-z]%b*+((?:%b)*+)%b*+/?>)"
    % (_NAME, _WS, _NAME, _ATTRIBUTE, _WS)
)
_ENTITY = re.compile(rb"&(?:([A-Za-z][A-Za-z0-9]{1,31})|#([0-9]{1,7})|#[xX]([0-9A-Fa-f]{1,6}));")
_PAIR = rb"\\u([dD][89abAB][0-9A-Fa-f]{2})\\u([dD][c-fC-F][0-9A-Fa-f]{2})"
_ESCAPE = re.compile(rb"(?<!\\)(?:%b|\\u([0-9A-Fa-f]{4}))" % _PAIR)
_NAMED = {b"lt": "<", b"gt": ">", b"amp": "&", b"quot": '"', b"apos": "'"}


def plain(text: bytes) -> bytes:
    made, at = b"", 0
    while at < len(text):
        for pattern, shown in _SHOWN:
            found = pattern.match(text, at)
            replaced = shown(found) if found else None
            if found and replaced is not None:
                assert len(replaced) == len(found[0])
                made += replaced
                at = found.end()
                break
        else:
            made += text[at : at + 1]
            at += 1
    return made


def _tag(found: re.Match[bytes]) -> bytes | None:
    bare, long = 0, []
    for attribute in re.finditer(_ATTRIBUTE, found[1] or b""):
        quoted = re.search(rb"=%b*([\"'])(.*)\1\Z" % _WS, attribute[0], re.DOTALL)
        bare += b"=" not in attribute[0]
        if quoted and len(quoted[2]) > 64:
            long.append(quoted[2])
    if bare > 2:
        return None
    tag = found[0]
    blanked, at = b"", 0
    for value in long[:8]:
        start = tag.index(value, at)
        blanked += b" " * (start - at) + value
        at = start + len(value)
    return blanked + b" " * (len(tag) - at)


def _entity(found: re.Match[bytes]) -> bytes:
    name, number, digits = found.groups()
    if name:
        return _NAMED.get(name, " ").encode().ljust(len(found[0]))
    return _character(int(number or digits, 10 if number else 16), len(found[0]))


def _escape(found: re.Match[bytes]) -> bytes:
    high, low, one = found.groups()
    code = int(one, 16) if one else 0x10000 + (int(high, 16) - 0xD800 << 10) + int(low, 16) - 0xDC00
    return _character(code, len(found[0]))


def _character(code: int, length: int) -> bytes:
    if code == 0 or code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        code = 0xFFFD
    shown = chr(code).encode()
    left = length - len(shown)
    if left in (1, 2, 5) or (code < 0x80 and not chr(code).isalnum()):
        return shown + b" " * left
    threes = next(n for n in range(4) if (left - 3 * n) % 4 == 0)
    fours = (left - 3 * threes) // 4
    return shown + "\u200d".encode() * threes + "\U000e0100".encode() * fours


_SHOWN: Sequence[tuple[re.Pattern[bytes], Callable[[re.Match[bytes]], bytes | None]]] = (
    (_TAG, _tag),
    (_ENTITY, _entity),
    (_ESCAPE, _escape),
)
