"""The ``mojibake`` filter: text that was decoded as what it is not."""

from __future__ import annotations

import re
from collections.abc import Sequence
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
_PAIRS = f"[\u00a1-\u00fe]{{{_RUN},}}"
_BROKEN = re.compile(f"(?:{_UTF8}|{_PAIRS})+")


@dataclass(frozen=True)
class Mojibake(Filter):
    """Drops texts that were decoded as what they are not: ``donâ€™t``, ``ÖÐ¹ú``.

    Formula: characters in broken passages over characters that are no whitespace; 0 where there
    are none. Broken are

    - what UTF-8 becomes when it is read as cp1252 or latin-1: one of ``Â`` to ``ô``, and behind
      it as many characters as it promises that stand for bytes 0x80 to 0xBF;
    - what GBK, Big5, EUC-JP and the like become: four or more characters from U+00A1 to U+00FE
      in a row.

    A single ``é`` or ``Ö`` is neither. Two in a row are the first where the second is a sign or a
    quotation mark (``Spaß“``): ask for a share above 0. Source: none; the first is how UTF-8 is
    defined (RFC 3629). What was lost is not brought back: see ``normalize`` for that.

    Parameters:
        share: bounds on that share. It has no default.

    Measures: ``share``.
    """

    kind: ClassVar[str] = "mojibake"

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


def _share(text: str) -> float:
    broken = sum(len(found[0]) for found in _BROKEN.finditer(text))
    return broken / sum(map(len, text.split())) if broken else 0.0


def _first(text: str) -> Evidence | None:
    found = _BROKEN.search(text)
    if found is None:
        return None
    start = len(text[: found.start()].encode())
    return Evidence(found[0], start, start + len(found[0].encode()))
