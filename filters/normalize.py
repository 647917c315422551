"""The ``normalize`` rewriter: one way to write what can be written in several."""

from __future__ import annotations

import importlib.util
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import ClassVar, TypeAlias

import numpy as np
import pyarrow.compute as pc

from cleanpipe.bounds import Bounds, Flags, Numbers
from cleanpipe.filters.forms import LONG, Form, in_order
from cleanpipe.filters.replacing import Change, changed, composed, edits
from cleanpipe.stage import Edits, Measures, Rewriter, Rule
from cleanpipe.units import Units

_Ranges: TypeAlias = Sequence[tuple[int, int]]

_NAMES = ("mojibake", "line_ends", "control", "zero_width", "width", "spaces", "unicode")
"""The rules, in the order in which their steps are taken."""

_LINE_ENDS = ((0x0B, 0x0D), (0x85, 0x85), (0x2028, 0x2029))
_CONTROLS = ((0x00, 0x08), (0x0E, 0x1B), (0x7F, 0x84), (0x86, 0x9F))
_SEPARATORS = ((0x1C, 0x1F),)
_ZERO_WIDTH = ((0xAD, 0xAD), (0x200B, 0x200D), (0x2060, 0x2060), (0xFEFF, 0xFEFF))
_SPACES = ((0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x202F, 0x202F), (0x205F, 0x205F),
           (0x3000, 0x3000))  # fmt: skip
# Not ！（），．：；？～, which Chinese and Japanese write so.
_WIDE = ((0xFF02, 0xFF07), (0xFF0A, 0xFF0B), (0xFF0D, 0xFF0D), (0xFF0F, 0xFF19), (0xFF1C, 0xFF1E),
         (0xFF20, 0xFF5D))  # fmt: skip
_KANA = ((0xFF61, 0xFF9F),)
_STOP = ((0xFF0E, 0xFF0E),)
_JOINING = ((0x0600, 0x0DFF), (0x0F00, 0x109F), (0x1700, 0x18AF), (0x1900, 0x1CFF),
            (0xA800, 0xA8FF), (0xA980, 0xA9DF), (0xAA00, 0xAADF), (0xABC0, 0xABFF),
            (0x10A00, 0x10AFF), (0x10F30, 0x11FFF), (0x1E900, 0x1E95F))  # fmt: skip
"""Scripts in which U+200C and U+200D say how letters join: Arabic and those like it, those of
India and around it, Mongolian."""
_UNSPACED = ((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x1950, 0x19FF),
             (0x1A20, 0x1AAF), (0xA9E0, 0xA9FF), (0xAA60, 0xAADF))  # fmt: skip
"""Scripts of South-East Asia, in which U+200B is between words."""
_PICTURES = ((0x2600, 0x27BF), (0x2B00, 0x2BFF), (0x1F300, 0x1FAFF))
_AFTER_PICTURES = ((0x20E3, 0x20E3), (0xFE0F, 0xFE0F), (0xE0020, 0xE007F))
_JOINED_PICTURES = ((0x2190, 0x25FF),)
_ALPHANUMERIC = "[0-9A-Za-z０-９Ａ-Ｚａ-ｚ]"

_ROUNDS = 8
"""Times that all steps are taken, at most; two are enough, or three."""


def _class(ranges: _Ranges, form: str = "\\U{:08x}") -> str:
    """Characters as a class in a pattern: for RE2 with another form."""
    return "[" + "".join(f"{form.format(a)}-{form.format(b)}" for a, b in ranges) + "]"


def _one_of(*ranges: _Ranges) -> Callable[[str], bool]:
    pattern = re.compile(_class([each for some in ranges for each in some]))
    return lambda character: pattern.match(character) is not None


_joins = _one_of(_JOINING)
_is_unspaced = _one_of(_UNSPACED)
_ends_picture = _one_of(_PICTURES, _AFTER_PICTURES)
_begins_picture = _one_of(_PICTURES, _JOINED_PICTURES)


@dataclass(frozen=True)
class Normalize(Rewriter):
    """Writes alike what means the same: Unicode form, line ends, characters nobody sees.

    Parameters:
        unicode: the Unicode normalization form (UAX #15): ``NFC`` (default), which changes no
            character's looks; ``NFKC``, ``NFD``, ``NFKD``; or null for none. The forms with a K
            lose what is written (x² becomes x2, … three stops, and Chinese ，a comma). As Python's
            ``unicodedata`` has it.
        line_ends: CR LF, and each of CR, VT, FF, NEL, U+2028 and U+2029, becomes LF (the Unicode
            Standard, 5.8). Default true.
        control: control characters (Cc) go, but for LF, tab and what ends lines; U+001C to U+001F,
            which are white space, become a space. Default true.
        zero_width: U+200B, U+2060, U+FEFF and U+00AD go, and U+200C and U+200D (see below).
            Default true.
        width: full-width ASCII becomes ASCII and half-width kana full-width, as NFKC has them; but
            ！（），．：；？～ stay, which Chinese and Japanese write so. ．does become a stop
            between letters or digits of ASCII. Default false.
        spaces: every other space separator (Zs), such as U+00A0 and U+3000, becomes a space; rows
            of spaces stay. Default false.
        mojibake: text that was decoded wrongly (Ã© for é) is put right by ftfy (its
            ``fix_encoding``), which the extra ``ftfy`` installs. Default false. It is given those
            lines that have two characters which can be the first two bytes of one in UTF-8, or
            one of U+0080 to U+009F.

    What means something stays: U+200C and U+200D beside a letter of a script in which letters join
    (Arabic, those of India, Mongolian and others), U+200D between parts of an emoji, U+200B between
    letters of Thai, Lao, Khmer and Burmese and the like, which have no spaces (one of a row).
    Marks of direction and variation selectors stay too.

    Measures: ``unicode``, ``line_ends`` and so on: in how many places each that is on changed the
    text.

    All is done again until nothing changes, so that a second run finds nothing. Changes of one kind
    that have at most 16 characters between them, in one line, are one edit. Marks without end on
    one letter take no longer than others.
    """

    kind: ClassVar[str] = "normalize"

    unicode: Form | None = "NFC"
    line_ends: bool = True
    control: bool = True
    zero_width: bool = True
    width: bool = False
    spaces: bool = False
    mojibake: bool = False

    def check(self) -> Iterable[tuple[str, str]]:
        """That something is on, and that ftfy is there where it is asked for."""
        if not self._on:
            yield "unicode", "nothing is to be changed: all is off"
        if self.mojibake and importlib.util.find_spec("ftfy") is None:
            yield "mojibake", 'needs ftfy, which is not installed: pip install "cleanpipe[ftfy]"'

    def rules(self) -> tuple[Rule, ...]:
        """One for each parameter that is on: nothing of it is to be there."""
        return tuple(Rule(name, name, Bounds(None, 0)) for name in self._on)

    def takes(self) -> tuple[str, ...]:
        """The names of the rules."""
        return self._on

    def rewrite(self, units: Units) -> tuple[Edits, Measures]:
        """The edits, each with the number of places changed for its rule as value."""
        on = self._on
        counts = np.zeros((len(on), len(units)))
        rows: list[int] = []
        made: list[Change] = []
        for row in np.flatnonzero(self._suspects(units)).tolist():
            text = units.strings[row]
            changes = self._changes(text, counts[:, row])
            if changes:
                found = edits(text, changes)
                made += found
                rows += [row] * len(found)
        unit = np.array(rows, np.int64)
        start, end, rule = (
            np.array([change[place] for change in made], np.int64) for place in (0, 1, 3)
        )
        put = [change.put for change in made]
        value = counts[rule, unit]
        return (
            Edits(unit, start, end, (rule + 1).astype(np.uint16), value, put),
            dict(zip(on, counts, strict=True)),
        )

    @cached_property
    def _on(self) -> tuple[str, ...]:
        return tuple(name for name in _NAMES if getattr(self, name))

    def _suspects(self, units: Units) -> Flags:
        """Flags, shape (n,): which texts may need a change; most do not."""
        found = np.zeros(len(units), dtype=np.bool_)
        ranges = {
            "line_ends": _LINE_ENDS,
            "control": _CONTROLS + _SEPARATORS,
            "zero_width": _ZERO_WIDTH,
            "width": _WIDE + _KANA + _STOP,
            "spaces": _SPACES,
        }
        every = [each for name in self._on for each in ranges.get(name, ())]
        patterns = [_class(every, "\\x{{{:x}}}")] if every else []
        if self.mojibake:
            patterns.append(_misread("\\x{{{:x}}}"))
        if patterns:
            flags = pc.match_substring_regex(units.text, "|".join(patterns))
            found |= flags.to_numpy(zero_copy_only=False)
        if self.unicode is not None:
            form = self.unicode
            normal = (unicodedata.is_normalized(form, text) for text in units.strings)
            found |= ~np.fromiter(normal, np.bool_, len(units))
        return found

    def _changes(self, text: str, counts: Numbers) -> list[Change]:
        """All that is to be changed; how often for each rule is added to ``counts``."""
        made: list[Change] = []
        for _ in range(_ROUNDS):
            before = text
            for step in self._steps:
                changes = list(step(text))
                if changes:
                    for change in changes:
                        counts[change.rule] += 1
                    made = composed(made, text, changes)
                    text = changed(text, changes)
            if text == before:
                break
        return made

    @cached_property
    def _steps(self) -> list[Callable[[str], Iterator[Change]]]:
        steps: list[Callable[[str], Iterator[Change]]] = []
        if self.mojibake:
            steps.append(self._put_right)
        if self._marks is not None:
            steps.append(self._without_marks)
        if self.unicode is not None:
            steps.append(self._in_form)
        return steps

    @cached_property
    def _marks(self) -> re.Pattern[str] | None:
        kana, wide = _class(_KANA), _class(_WIDE)
        patterns = {
            "line_ends": rf"\r\n?|{_class(_LINE_ENDS)}",
            "control": f"{_class(_CONTROLS)}+|{_class(_SEPARATORS)}",
            "zero_width": f"{_class(_ZERO_WIDTH)}+",
            "width": f"{wide}+|{kana}+|(?<={_ALPHANUMERIC})．(?={_ALPHANUMERIC})",
            "spaces": _class(_SPACES),
        }
        on = [f"(?P<{name}>{patterns[name]})" for name in self._on if name in patterns]
        return re.compile("|".join(on)) if on else None

    def _without_marks(self, text: str) -> Iterator[Change]:
        assert self._marks is not None
        places = {name: place for place, name in enumerate(self._on)}
        for match in self._marks.finditer(text):
            name, found = match.lastgroup or "", match[0]
            start, end = match.span()
            if name == "line_ends":
                put = "\n"
                if found == "\r\n":
                    end, put = start + 1, ""
            elif name == "control":
                put = " " if "\x1c" <= found[0] <= "\x1f" else ""
            elif name == "zero_width":
                put = _kept(text[start - 1 : start], found, text[end : end + 1])
                if put == found:
                    continue
            elif name == "width":
                put = unicodedata.normalize("NFKC", found)
            else:
                put = " "
            yield Change(start, end, put, places[name])

    def _in_form(self, text: str) -> Iterator[Change]:
        form, place = self.unicode, self._on.index("unicode")
        if form is None or unicodedata.is_normalized(form, text):
            return
        for match in _unstable(form).finditer(text):
            found = match[0] if len(match[0]) <= LONG else in_order(form, match[0])
            put = unicodedata.normalize(form, found)
            if put != match[0]:
                yield Change(*match.span(), put, place)

    def _put_right(self, text: str) -> Iterator[Change]:
        place, end = self._on.index("mojibake"), -1
        for match in _misread_pattern().finditer(text):
            if match.start() < end:
                continue
            start = max(text.rfind("\n", max(end, 0), match.start()) + 1, end)
            end = text.find("\n", match.start())
            end = len(text) if end < 0 else end
            line = text[start:end]
            put = self._fixed(line)
            if put != line:
                yield _trimmed(start, line, put, place)

    @cached_property
    def _fixed(self) -> Callable[[str], str]:
        import ftfy

        fixed: Callable[[str], str] = ftfy.fix_encoding
        return fixed


def _kept(before: str, run: str, after: str) -> str:
    """What means something of characters of no width, between these two (empty at an end)."""
    joined = _joins(before) or _joins(after)
    picture = _ends_picture(before) and _begins_picture(after)
    between = _is_unspaced(before) and _is_unspaced(after)
    kept = ["\u200b"] if between and "\u200b" in run else []
    for character in run:
        joiner = character in "\u200c\u200d"
        if joiner and (joined or (picture and character == "\u200d")):
            kept.append(character)
    return "".join(kept)


def _trimmed(start: int, old: str, new: str, place: int) -> Change:
    """A change without what is equal at both ends."""
    most = min(len(old), len(new))
    head = next((i for i in range(most) if old[i] != new[i]), most)
    most -= head
    tail = next((i for i in range(most) if old[-1 - i] != new[-1 - i]), most)
    return Change(start + head, start + len(old) - tail, new[head : len(new) - tail], place)


_MISREAD = ("latin-1", "cp1252", "cp1251", "cp1250", "cp1253", "cp1254", "cp1257", "iso8859-2",
            "mac-roman", "cp437")  # fmt: skip
"""The encodings as which ftfy thinks that UTF-8 was decoded."""


def _misread(form: str) -> str:
    """A pattern for what is given to ftfy."""

    def read(low: int, high: int) -> str:
        found = {
            ord(character)
            for codec in _MISREAD
            for character in bytes(range(low, high)).decode(codec, "ignore")
        }
        # Its "sloppy" ones have these where a code page has nothing.
        found |= set(range(max(low, 0x80), 0xA0))
        return _class(_ranges(sorted(found)), form)

    return f"{read(0xC2, 0xF5)}{read(0x80, 0xC0)}|{_class([(0x80, 0x9F)], form)}"


@cache
def _misread_pattern() -> re.Pattern[str]:
    return re.compile(_misread("\\U{:08x}"))


@cache
def _unstable(form: Form) -> re.Pattern[str]:
    """What may change, as far as it can be told without the rest of the text: a character and all
    that may combine with it or change places with it, or one that always changes."""
    decomposed: Form = "NFKD" if "K" in form else "NFD"
    last = 0x30000  # nothing beyond is composed of anything, or a mark
    parts = {
        character: unicodedata.normalize(decomposed, character)
        for character in map(chr, range(last))
        if not 0xD800 <= ord(character) < 0xE000
    }
    second = {part for whole in parts.values() for part in unicodedata.normalize("NFD", whole)[1:]}
    attached = [
        ord(character)
        for character, whole in parts.items()
        if unicodedata.combining(whole[0]) or whole[0] in second
    ]
    always = [ord(each) for each in parts if unicodedata.normalize(form, each) != each]
    attaching = _class(_ranges(attached))
    return re.compile(f"(?s:.){attaching}+|{_class(_ranges(always))}")


def _ranges(codes: Sequence[int]) -> list[tuple[int, int]]:
    """Ascending numbers as ranges."""
    made: list[tuple[int, int]] = []
    for code in codes:
        if made and made[-1][1] == code - 1:
            made[-1] = made[-1][0], code
        else:
            made.append((code, code))
    return made
