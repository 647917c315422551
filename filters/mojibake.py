"""The ``mojibake`` filter: text that was decoded as what it is not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cleanpipe.bounds import Bounds
from cleanpipe.stage import Codes, Evidence, Filter, Measures, Rule
from cleanpipe.text import buffers
from cleanpipe.units import Units

_HIGH = bytes(range(0x80, 0xC0))
# What cp1252 and latin-1 make of the bytes that go on with a character in UTF-8.
_GOES_ON = re.escape(_HIGH.decode("latin-1") + _HIGH.decode("cp1252", "ignore"))
_UTF8 = f"[Â-ß][{_GOES_ON}]|[à-ï][{_GOES_ON}]{{2}}|[ð-ô][{_GOES_ON}]{{3}}"
_RUN = 4
# Bytes of GBK, Big5, EUC and their like come in pairs, without a space; no language that is
# written in latin-1 has as many letters with marks in a row.
# A sign three times in a row is a line or leaders (``Desolé ·····``).
_PAIRS = f"(?:(?!(?P<sign>[\u00a1-\u00bf×÷])(?P=sign){{2}})[\u00a1-\u00fe]){{{_RUN},}}"
_RUNS = re.compile(f"(?:{_UTF8}|{_PAIRS})+")
_LETTER = re.compile("[À-ÖØ-öø-þ€]")
# What stands behind a word in clean text: spaces, quotation marks, dashes, a few signs.
_TYPOGRAPHY = "[\u00a0\u00ad«»‹›‘’‚“”„–—…®™©°·•´ªº¹²³¡¿§]"
_WORD_END = re.compile(f"[À-ô]{_TYPOGRAPHY}{{1,3}}")


@dataclass(frozen=True)
class Mojibake(Filter):
    """Drops texts that were decoded as what they are not: ``donâ€™t``, ``ÖÐ¹ú``.

    Formula: characters in broken passages over all characters, whitespace in neither; 0 where
    there are none. Broken are

    - what UTF-8 becomes when it is read as cp1252 or latin-1: one of ``Â`` to ``ô``, and behind
      it as many characters as it promises that stand for bytes 0x80 to 0xBF;
    - what GBK, Big5, EUC-JP and the like become: four or more characters from U+00A1 to U+00FE
      in a row, with a letter among them and no sign three times in a row.

    A single ``é`` or ``Ö`` is neither, nor is one letter with nothing but the typography that
    stands behind a word (``café…”``, ``Spaß“``, ``NESCAFÉ®``, a no-break space); but for ``Â`` and
    ``Ã``, unless a capital letter stands before them (``MANHÃ”``). Source: none; the first is
    how UTF-8 is
    defined (RFC 3629). What was lost is not brought back: see ``normalize`` for that.

    Parameters:
        share: bounds on that share. It has no default.

    Measures: ``share``.
    """

    kind: ClassVar[str] = "mojibake"
    version: ClassVar[int] = 2

    share: Bounds

    def rules(self) -> tuple[Rule, ...]:
        """One rule on ``share``."""
        return (Rule("share", "share", self.share),)

    def measure(self, units: Units) -> Measures:
        """One look at all bytes; a search of those texts alone that may have a passage."""
        share = np.zeros(len(units))
        rows = _suspect(units.text)
        share[rows] = list(map(_share, units.take(rows).strings))
        return {"share": share}

    def evidence(self, units: Units, codes: Codes, measures: Measures) -> Sequence[Evidence | None]:
        """The first broken passage, if there is one."""
        return [_first(text) for text in units.strings]


def _suspect(text: pa.LargeStringArray) -> npt.NDArray[np.int64]:
    """The texts with a character of U+0080 to U+00FF and another one beyond ASCII behind it: each
    broken passage begins so."""
    offsets, data = buffers(text)
    data = data[offsets[0] : offsets[-1]]
    latin = (data & 0xFE) == 0xC2  # of two bytes
    places = np.flatnonzero(latin[:-2] & (data[2:] >= 0xC2)) + offsets[0]
    return np.unique(np.searchsorted(offsets, places, side="right") - 1)


def _broken(text: str) -> Iterator[re.Match[str]]:
    for found in _RUNS.finditer(text):
        if _LETTER.search(found[0]) and not _ends_a_word(text, found):
            yield found


def _ends_a_word(text: str, found: re.Match[str]) -> bool:
    if not _WORD_END.fullmatch(found[0]):
        return False
    # Most of what is broken begins with these two, and few words end in them: MANHÃ.
    return found[0][0] not in "ÂÃ" or text[max(0, found.start() - 1) : found.start()].isupper()


def _share(text: str) -> float:
    broken = sum(_visible(found[0]) for found in _broken(text))
    return broken / _visible(text) if broken else 0.0


def _visible(text: str) -> int:
    return sum(map(len, text.split()))


def _first(text: str) -> Evidence | None:
    found = next(_broken(text), None)
    if found is None:
        return None
    start = len(text[: found.start()].encode())
    return Evidence(found[0], start, start + len(found[0].encode()))
