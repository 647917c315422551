"""Writes the Unicode tables of the tokeniser from one version of the Unicode Character Database.

    apt-get install unicode-data                      # Debian 12 has Unicode 15.0.0
    python scripts/unicode_tables.py                  # or: --ucd DIR  --check

Two things are written, by code paths that share only the reading of the UCD files:

- `cleanpipe/native/unicode_tables.{h,c}`: the two-stage table that the C kernels look up;
- `tests/native/ucd.txt`: the properties as plain ranges, from which the tests' slow reference
  computes each code point's class again, without network and without the UCD.

The same UCD gives the same bytes. Another version changes tokens and hashes, so raise
`CP_TOKEN_TABLE_VERSION` in `cleanpipe/native/tokens.h` with it.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAX = 0x110000
OTHER, RUN, CLUSTER, MARK, SILENT = range(5)
CLUSTER_SCRIPTS = {
    "Han": "Hani",
    "Hiragana": "Hira",
    "Katakana": "Kana",
    "Khmer": "Khmr",
    "Lao": "Laoo",
    "Myanmar": "Mymr",
    "Thai": "Thai",
    "Tibetan": "Tibt",
}
SILENT_PROPERTIES = ("Join_Control", "Variation_Selector")
# Traits by general category: docs/measures.md has the words.
PRINTED, VISIBLE, LETTER, MARKS, UPPER, DIGIT, PUNCTUATION, SYMBOL = (1 << bit for bit in range(8))
STOP, WIDE_STOP, CLOSING, CLOSING_BEFORE_SPACE, TERMINAL, BULLET = (
    1 << bit for bit in range(8, 14)
)
TRAITS = {
    "Lu": LETTER | UPPER,
    **dict.fromkeys(("Ll", "Lt", "Lm", "Lo"), LETTER),
    **dict.fromkeys(("Mn", "Mc"), MARKS),
    "Nd": DIGIT,
    **dict.fromkeys(("Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po"), PUNCTUATION),
    **dict.fromkeys(("Sm", "Sc", "Sk", "So"), SYMBOL),
}
# Marks of writing, chosen by us: cleanpipe/text.py and docs/measures.md say what for.
STOPS = ".!?"
WIDE_STOPS = "。！？…｡‼⁇⁈⁉।॥؟۔։።၊။។៕"
CLOSINGS = "\"')]}”’»›」』）】》〉〕〗〙〛］｝｣＂＇"
CLOSINGS_BEFORE_SPACE = "“‘«‹"
TERMINALS = STOPS + WIDE_STOPS + "\"'”’»›」』〞＂＇"
BULLETS = "•‣⁃◦∙▪▫■□●○▶◀・"
# Letters to Unicode's general category, marks to its Grapheme_Extend and to every reader.
HALFWIDTH_VOICED_MARKS = (0xFF9E, 0xFF9F)
VOICED_MARKS = ("3099", "309A")

Ranges = list[tuple[int, int]]


class Ucd:
    """The few properties we need, straight from the files of the UCD."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.category = ["Cn"] * MAX
        self.scripts: list[frozenset[str]] = [frozenset()] * MAX
        self.silent: set[int] = set()
        self.variation_selectors: set[int] = set()
        self.whitespace: set[int] = set()
        self.fold: dict[int, int] = {}
        self.width: dict[int, int] = {}
        self.voiced: dict[int, tuple[int, int]] = {}
        versions = set()
        for name in ("Scripts", "ScriptExtensions", "PropList", "CaseFolding"):
            with open(folder / f"{name}.txt", encoding="utf-8") as file:
                found = re.match(rf"# {name}-([0-9.]+)\.txt", file.readline())
            versions.add(found.group(1) if found else "unknown")
        if len(versions) != 1:
            sys.exit(f"{folder}: files of different Unicode versions: {sorted(versions)}")
        self.version = versions.pop()
        self._read_categories()
        for first, last, fields in self.rows("Scripts"):
            code = CLUSTER_SCRIPTS.get(fields[0])
            if code:
                self._set_scripts(first, last, frozenset([code]))
        for first, last, fields in self.rows("ScriptExtensions"):
            self._set_scripts(first, last, frozenset(fields[0].split()))
        for first, last, fields in self.rows("PropList"):
            if fields[0] in SILENT_PROPERTIES:
                self.silent.update(range(first, last + 1))
            if fields[0] == "Variation_Selector":
                self.variation_selectors.update(range(first, last + 1))
        for first, _, fields in self.rows("CaseFolding"):
            if fields[0] in ("C", "S"):
                self.fold[first] = int(fields[1], 16)

    def rows(self, name: str) -> Iterator[tuple[int, int, list[str]]]:
        with open(self.folder / f"{name}.txt", encoding="utf-8") as file:
            for line in file:
                fields = [field.strip() for field in line.split("#")[0].split(";")]
                if fields[0]:
                    first, _, last = fields[0].partition("..")
                    yield int(first, 16), int(last or first, 16), fields[1:]

    def _read_categories(self) -> None:
        first = 0
        for code, _, fields in self.rows("UnicodeData"):
            tag, _, plain = fields[4].partition(" ")
            if tag in ("<wide>", "<narrow>"):
                self.width[code] = int(plain, 16)
            elif plain in VOICED_MARKS:
                self.voiced[code] = int(tag, 16), int(plain, 16)
            if fields[0].endswith(", First>"):
                first = code
                continue
            for at in range(first if fields[0].endswith(", Last>") else code, code + 1):
                self.category[at] = fields[1]
                if fields[1] == "Zs" or fields[3] in ("WS", "B", "S"):
                    self.whitespace.add(at)

    def _set_scripts(self, first: int, last: int, scripts: frozenset[str]) -> None:
        self.scripts[first : last + 1] = [scripts] * (last + 1 - first)

    def token_class(self, code: int) -> int:
        category = self.category[code]
        if code in self.silent:
            return SILENT
        if category[0] == "M" or code in HALFWIDTH_VOICED_MARKS:
            return MARK
        if category[0] not in "LN":
            return OTHER
        if category != "Nd" and not self.scripts[code].isdisjoint(CLUSTER_SCRIPTS.values()):
            return CLUSTER
        return RUN

    def folded(self, code: int) -> tuple[int, int]:
        """Simple case folding, then the code point's ordinary width, then a kana's voiced mark
        apart (0 where there is none)."""
        code = self.fold.get(code, code)
        code = self.width.get(code, code)
        return self.voiced.get(code, (code, 0))

    def traits(self, code: int) -> int:
        category = self.category[code]
        if code in self.whitespace:
            return 0
        if category == "Cf" or code in self.variation_selectors:
            return PRINTED
        found = PRINTED | VISIBLE | TRAITS.get(category, 0)
        for marks, trait in (
            (STOPS, STOP),
            (WIDE_STOPS, WIDE_STOP),
            (CLOSINGS, CLOSING),
            (CLOSINGS_BEFORE_SPACE, CLOSING_BEFORE_SPACE),
            (TERMINALS, TERMINAL),
            (BULLETS, BULLET),
        ):
            if chr(code) in marks:
                found |= trait
        return found


def rows_of(numbers: list[int], width: int = 98) -> str:
    lines, line = [], ""
    for number in numbers:
        item = f"{number},"
        if len(line) + len(item) > width:
            lines.append(line)
            line = ""
        line += item
    return "\n".join([*lines, line])


def c_tables(ucd: Ucd) -> tuple[str, str]:
    """The header and the source of the two-stage table."""
    of_code = []
    for code in range(MAX):
        token_class = ucd.token_class(code)
        folded, mark = ucd.folded(code) if token_class != OTHER else (code, 0)
        kind = (folded - code, mark)
        of_code.append((kind != (0, 0), token_class, *kind, ucd.traits(code)))
    # Unassigned first, then by class, and what folds last: a number says much by itself.
    nothing = (False, OTHER, 0, 0, PRINTED | VISIBLE)
    kinds = sorted(set(of_code), key=lambda kind: (kind != nothing, kind))
    plain = sum(not folds and token_class != SILENT for folds, token_class, *_ in kinds)
    number = {kind: place for place, kind in enumerate(kinds)}
    values = [number[kind] for kind in of_code]
    if len(kinds) > 256:
        sys.exit(f"{len(kinds)} kinds do not fit a byte")

    shift = 7
    size = 1 << shift
    blocks: dict[tuple[int, ...], int] = {}
    index = []
    for at in range(0, MAX, size):
        index.append(blocks.setdefault(tuple(values[at : at + size]), len(blocks)))
    while not any(values[(len(index) - 1) * size :]):
        index.pop()  # behind the index everything is unassigned
    index_type = "uint8_t" if len(blocks) <= 256 else "uint16_t"
    flat = [value for block in blocks for value in block]

    note = f"/* Written by scripts/unicode_tables.py from Unicode {ucd.version}; do not edit. */\n"
    header = f"""{note}#ifndef CP_UNICODE_TABLES_H
#define CP_UNICODE_TABLES_H

#include <stdint.h>

#define CP_UNICODE_VERSION "{ucd.version}"

/* What a code point does to a token; docs/tokens.md has the definition. */
enum {{
    CP_OTHER = {OTHER},   /* ends a token */
    CP_RUN = {RUN},     /* starts or continues a run */
    CP_CLUSTER = {CLUSTER}, /* always starts a token of its own */
    CP_MARK = {MARK},    /* continues a token, never starts one */
    CP_SILENT = {SILENT},  /* as a mark, but adds nothing to the hash */
}};

/* What a code point is to the measures; docs/measures.md has the words. No trait: whitespace. */
enum {{
    CP_PRINTED = {PRINTED},       /* not whitespace */
    CP_VISIBLE = {VISIBLE},       /* neither that, nor Cf, nor a variation selector */
    CP_LETTER = {LETTER},        /* L */
    CP_WRITTEN_MARK = {MARKS},  /* Mn, Mc, but no variation selector */
    CP_UPPER = {UPPER},        /* Lu */
    CP_DIGIT = {DIGIT},        /* Nd */
    CP_PUNCTUATION = {PUNCTUATION},  /* P */
    CP_SYMBOL = {SYMBOL},      /* S */
    CP_STOP = {STOP},        /* {STOPS} */
    CP_WIDE_STOP = {WIDE_STOP},   /* ends a sentence whatever follows */
    CP_CLOSING = {CLOSING},    /* a closing quote or bracket */
    CP_CLOSING_BEFORE_SPACE = {CLOSING_BEFORE_SPACE},
    CP_TERMINAL = {TERMINAL},   /* terminal punctuation of a line */
    CP_BULLET = {BULLET},     /* makes a line a list item */
}};

/* A kind below CP_PLAIN_KINDS is hashed as it stands, one from it on is silent or folds; kind 0 is
 * what is not assigned. */
#define CP_PLAIN_KINDS {plain}

typedef struct {{
    int32_t fold;  /* add it to the code point for its folding */
    uint16_t mark; /* a voiced mark that follows when it is folded, or 0 */
    uint8_t token_class;
    uint16_t traits;
}} cp_unicode_kind;

extern const {index_type} cp_unicode_index[{len(index)}];
extern const uint8_t cp_unicode_blocks[{len(flat)}];
extern const cp_unicode_kind cp_unicode_kinds[{len(kinds)}];

/* The kind of any code point, and 0 for what is none. */
static inline uint8_t cp_unicode_kind_of(uint32_t code)
{{
    uint32_t block = code >> {shift};
    if (block >= {len(index)})
        return 0;
    return cp_unicode_blocks[((uint32_t)cp_unicode_index[block] << {shift}) | (code & {size - 1})];
}}

#endif
"""
    rows = "\n".join(
        f"    {{{delta}, {mark}, {token_class}, {traits}}},"
        for _, token_class, delta, mark, traits in kinds
    )
    source = f"""{note}#include "unicode_tables.h"

const cp_unicode_kind cp_unicode_kinds[{len(kinds)}] = {{
{rows}
}};

const {index_type} cp_unicode_index[{len(index)}] = {{
{rows_of(index)}
}};

const uint8_t cp_unicode_blocks[{len(flat)}] = {{
{rows_of(flat)}
}};
"""
    return header, source


def ranges_where(wanted: list[bool]) -> Ranges:
    found: Ranges = []
    for code, yes in enumerate(wanted):
        if yes and found and found[-1][1] == code - 1:
            found[-1] = (found[-1][0], code)
        elif yes:
            found.append((code, code))
    return found


def plain_data(ucd: Ucd) -> str:
    """The properties by name, as ranges: one line a property, and one for the foldings."""
    categories = ("L", "Lu", "M", "Mn", "Mc", "N", "Nd", "P", "S", "Cf")
    sets = {
        name: ranges_where([category.startswith(name) for category in ucd.category])
        for name in categories
    }
    for name in sorted(CLUSTER_SCRIPTS.values()):
        sets[name] = ranges_where([name in scripts for scripts in ucd.scripts])
    sets["silent"] = ranges_where([code in ucd.silent for code in range(MAX)])
    selectors = [code in ucd.variation_selectors for code in range(MAX)]
    sets["variation_selector"] = ranges_where(selectors)
    sets["whitespace"] = ranges_where([code in ucd.whitespace for code in range(MAX)])
    lines = [
        f"# Unicode {ucd.version}, written by scripts/unicode_tables.py; do not edit.",
        "# NAME first-last ...: general categories, Script_Extensions, Join_Control and",
        "# Variation_Selector as `silent`, the latter alone as `variation_selector`, Zs and",
        "# Bidi_Class WS, B, S as `whitespace`; fold code=folded ...: simple folding (C and S);",
        "# width code=plain ...: compatibility decompositions <wide> and <narrow>;",
        "# voiced code=kana+mark ...: canonical decompositions of kana.",
        f"version {ucd.version}",
    ]
    for name, ranges in sets.items():
        lines.append(" ".join([name, *(f"{a:X}-{b:X}" if a < b else f"{a:X}" for a, b in ranges)]))
    for name, pairs in (("fold", ucd.fold), ("width", ucd.width)):
        lines.append(" ".join([name, *(f"{a:X}={b:X}" for a, b in sorted(pairs.items()))]))
    voiced = (f"{code:X}={kana:X}+{mark:X}" for code, (kana, mark) in sorted(ucd.voiced.items()))
    lines.append(" ".join(["voiced", *voiced]))
    return "\n".join(lines) + "\n"


def options(documentation: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=documentation.splitlines()[0])
    parser.add_argument("--ucd", type=Path, default=Path("/usr/share/unicode"), help="UCD folder")
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 on differences")
    return parser.parse_args()


def deliver(files: dict[str, str], version: str, check: bool) -> int:
    """Writes them, or with `check` says which of them differ; the exit code."""
    stale = []
    for name, text in files.items():
        path = ROOT / name
        if not check:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
    for name in stale:
        print(f"{name} differs from what Unicode {version} gives", file=sys.stderr)
    return 1 if stale else 0


def main() -> int:
    chosen = options(__doc__)
    ucd = Ucd(chosen.ucd)
    header, source = c_tables(ucd)
    files = {
        "cleanpipe/native/unicode_tables.h": header,
        "cleanpipe/native/unicode_tables.c": source,
        "tests/native/ucd.txt": plain_data(ucd),
    }
    return deliver(files, ucd.version, chosen.check)


if __name__ == "__main__":
    sys.exit(main())
