"""Writes the tables of normalisation, lower case and Python's classes of characters.

    apt-get install unicode-data                      # Debian 12 has Unicode 15.0.0
    python scripts/form_tables.py                     # or: --ucd DIR  --check

`cleanpipe/native/form_tables.{h,c}` come from the same UCD as the tokeniser's tables
(`scripts/unicode_tables.py`), so that what a model is given depends on no Python's Unicode. The
tests compare them with Python's own tables, for the characters that both know.
"""

from __future__ import annotations

import sys
from functools import cache

from unicode_tables import MAX, Ucd, deliver, options, rows_of

WORD, SPACE, DECIMAL, ALPHA, UPPER, LOWER, CASED, IGNORABLE = (1 << bit for bit in range(8))
NONSPACING, BEGINS, STABLE, COMPOSES, DECOMPOSES = (1 << bit for bit in range(8, 13))
HANGUL, HANGUL_END, LEADS, VOWELS, TAILS = 0xAC00, 0xD7A4, 0x1100, 0x1161, 0x11A7
VOWEL_COUNT, TAIL_COUNT = 21, 28
SLOT_BITS = 11
FACTORS = (0x9E3779B1, 0x85EBCA6B)

Codes = tuple[int, ...]


class Forms:
    """What normalisation and lower-casing need of the UCD."""

    def __init__(self, ucd: Ucd) -> None:
        self.ucd = ucd
        self.ccc = [0] * MAX
        self.lower = {0x130: 0x69}  # and U+0307, by SpecialCasing; the kernel knows
        self.numeric: set[int] = set()
        self.mapping: dict[int, tuple[bool, Codes]] = {}
        for code, _, fields in ucd.rows("UnicodeData"):
            self.ccc[code] = int(fields[2])
            if fields[6] or fields[7]:
                self.numeric.add(code)
            if fields[12]:
                self.lower.setdefault(code, int(fields[12], 16))
            if fields[4]:
                tag, _, rest = fields[4].rpartition("> ")
                codes = tuple(int(each, 16) for each in rest.split())
                self.mapping[code] = (not tag, codes)
        for first, _, fields in ucd.rows("SpecialCasing"):
            lower = fields[0].split()
            if len(fields) == 4 and len(lower) != 1 and first != 0x130:
                sys.exit(f"U+{first:04X} has a lower-case mapping the kernel does not know")
        properties = {"Uppercase": UPPER, "Lowercase": LOWER, "Cased": CASED}
        properties["Case_Ignorable"] = IGNORABLE
        self.derived = [0] * MAX
        for first, last, fields in ucd.rows("DerivedCoreProperties"):
            for code in range(first, last + 1):
                self.derived[code] |= properties.get(fields[0], 0)
        excluded: set[int] = set()
        for first, last, fields in ucd.rows("DerivedNormalizationProps"):
            if fields[0] == "Full_Composition_Exclusion":
                excluded.update(range(first, last + 1))
        self.composites: dict[tuple[int, int], int] = {}
        for code, (canonical, codes) in self.mapping.items():
            if canonical and code not in excluded:
                first, second = codes
                self.composites[first, second] = code
        self.seconds = {second for _, second in self.composites}
        self.seconds.update(range(VOWELS, VOWELS + VOWEL_COUNT))
        self.seconds.update(range(TAILS + 1, TAILS + TAIL_COUNT))

    def decomposed(self, code: int, compatible: bool) -> Codes:
        """The full decomposition, in canonical order."""
        if HANGUL <= code < HANGUL_END:
            rest, tail = divmod(code - HANGUL, TAIL_COUNT)
            lead, vowel = divmod(rest, VOWEL_COUNT)
            return (LEADS + lead, VOWELS + vowel) + ((TAILS + tail,) if tail else ())
        canonical, codes = self.mapping.get(code, (True, (code,)))
        if codes == (code,) or not (canonical or compatible):
            return (code,)
        found: list[int] = []
        for each in codes:
            found += self.decomposed(each, compatible)
        for at in range(1, len(found)):  # canonical order: a stable sort between starters
            while at and self.ccc[found[at - 1]] > self.ccc[found[at]] > 0:
                found[at - 1], found[at] = found[at], found[at - 1]
                at -= 1
        return tuple(found)

    def composed(self, codes: Codes) -> Codes:
        """By the definition of Unicode 3.11, D117."""
        out: list[int] = []
        starter = -1
        for code in codes:
            last = self.ccc[out[-1]] if out else 0
            blocked = starter < 0 or (starter < len(out) - 1 and last >= self.ccc[code])
            pair = self.composites.get((out[starter], code)) if not blocked else None
            if not blocked and HANGUL <= out[starter] < HANGUL_END:
                if (out[starter] - HANGUL) % TAIL_COUNT == 0 and TAILS < code < TAILS + TAIL_COUNT:
                    pair = out[starter] + code - TAILS
            elif not blocked and LEADS <= out[starter] < LEADS + 19 and code - VOWELS in range(21):
                lead = (out[starter] - LEADS) * VOWEL_COUNT
                pair = HANGUL + (lead + code - VOWELS) * TAIL_COUNT
            if pair is not None:
                out[starter] = pair
                continue
            if not self.ccc[code]:
                starter = len(out)
            out.append(code)
        return tuple(out)

    def traits(self, code: int) -> int:
        category = self.ucd.category[code]
        compatible = self.decomposed(code, True)
        found = self.derived[code]
        if category[0] == "L":
            found |= WORD | ALPHA
        if category[0] == "N" or code in self.numeric or code == ord("_"):
            # Python's isnumeric goes by the numeric fields, which all of N have but for nothing.
            found |= WORD
        if category == "Nd":
            found |= DECIMAL
        if category == "Mn":
            found |= NONSPACING
        if code in self.ucd.whitespace:
            found |= SPACE
        if not self.ccc[compatible[0]] and compatible[0] not in self.seconds:
            found |= BEGINS
        if self.composed(compatible) == (code,):
            found |= STABLE
        if code in self.seconds:
            found |= COMPOSES
        if self.decomposed(code, False) != (code,):
            found |= DECOMPOSES
        return found


def two_stages(values: list[int], shift: int) -> tuple[list[int], list[int]]:
    """An index of blocks and the blocks; behind the index all is 0."""
    blocks: dict[Codes, int] = {}
    index = []
    for at in range(0, MAX, 1 << shift):
        index.append(blocks.setdefault(tuple(values[at : at + (1 << shift)]), len(blocks)))
    while not any(values[(len(index) - 1) << shift :]):
        index.pop()
    return index, [value for block in blocks for value in block]


def c_type(values: list[int]) -> str:
    return "uint8_t" if max(values) < 256 else "uint16_t" if max(values) < 65536 else "uint32_t"


def array(name: str, values: list[int]) -> tuple[str, str]:
    """The declaration and the definition of a table."""
    head = f"const {c_type(values)} {name}[{len(values)}]"
    return f"extern {head};", f"{head} = {{\n{rows_of(values)}\n}};\n"


def slots_of(pairs: list[tuple[int, int]]) -> list[int]:
    """Open addressing: the number of a pair plus 1, or 0; the hash is the header's."""
    slots = [0] * (1 << SLOT_BITS)
    for number, (first, second) in enumerate(pairs):
        hashed = (first * FACTORS[0] ^ second * FACTORS[1]) & 0xFFFFFFFF
        at = hashed >> (32 - SLOT_BITS)
        while slots[at]:
            at = (at + 1) % len(slots)
        slots[at] = number + 1
    return slots


def c_tables(ucd: Ucd) -> tuple[str, str]:
    """The header and the source."""
    forms = Forms(ucd)
    traits = cache(forms.traits)
    of_code = [(forms.lower.get(c, c) - c, traits(c), forms.ccc[c]) for c in range(MAX)]
    nothing = (0, BEGINS | STABLE, 0)
    kinds = sorted(set(of_code), key=lambda kind: (kind != nothing, kind))
    number = {kind: place for place, kind in enumerate(kinds)}
    if len(kinds) > 256:
        sys.exit(f"{len(kinds)} kinds do not fit a byte")
    kind_shift, form_shift = 7, 6
    kind_index, kind_blocks = two_stages([number[kind] for kind in of_code], kind_shift)

    pool: list[int] = []
    records = [(0, 0, 0)]
    record_of = [0] * MAX
    placed: dict[Codes, int] = {}
    for code in forms.mapping:
        canonical, compatible = (forms.decomposed(code, how) for how in (False, True))
        canonical = () if canonical == (code,) else canonical
        compatible = () if compatible == canonical else compatible
        # Where a form is that of another, or its end, it stands once.
        codes = canonical + compatible
        if codes not in placed:
            placed[codes] = len(pool)
            pool += codes
        record = (placed[codes], len(canonical), len(compatible))
        record_of[code] = len(records)
        records.append(record)
    form_index, form_blocks = two_stages(record_of, form_shift)
    pairs = sorted(forms.composites)
    tables = [
        array("cp_form_index", kind_index),
        array("cp_form_blocks", kind_blocks),
        array("cp_decomposition_index", form_index),
        array("cp_decomposition_blocks", form_blocks),
        array("cp_decomposed", pool),
        array("cp_composition_slots", slots_of(pairs)),
    ]
    extern = "\n".join(declared for declared, _ in tables)
    defined = "\n".join(definition for _, definition in tables)
    note = f"/* Written by scripts/form_tables.py from Unicode {ucd.version}; do not edit. */\n"
    header = f"""{note}#ifndef CP_FORM_TABLES_H
#define CP_FORM_TABLES_H

#include <stdint.h>

/* Python's view of a code point, and what normalisation asks of it. */
enum {{
    CP_FORM_WORD = {WORD},         /* \\w of Python's re: str.isalnum(), or an underscore */
    CP_FORM_SPACE = {SPACE},        /* str.isspace() */
    CP_FORM_DECIMAL = {DECIMAL},      /* \\d: Nd */
    CP_FORM_ALPHA = {ALPHA},        /* str.isalpha() */
    CP_FORM_UPPER = {UPPER},       /* str.isupper() of it alone */
    CP_FORM_LOWER = {LOWER},       /* str.islower() of it alone */
    CP_FORM_CASED = {CASED},       /* Cased and Case_Ignorable, for the final sigma */
    CP_FORM_IGNORABLE = {IGNORABLE},
    CP_FORM_NONSPACING = {NONSPACING}, /* Mn */
    CP_FORM_BEGINS = {BEGINS},     /* nothing before it is ever composed with it, in NFKC */
    CP_FORM_STABLE = {STABLE},    /* by itself it is its own NFKC */
    CP_FORM_COMPOSES = {COMPOSES},  /* it may be the second of a composition */
    CP_FORM_DECOMPOSES = {DECOMPOSES}, /* it has a canonical decomposition */
}};

typedef struct {{
    int32_t lower;   /* add it to the code point for its lower case; U+0130 has U+0307 behind */
    uint16_t traits;
    uint8_t ccc;     /* canonical combining class */
}} cp_form_kind;

/* Of `canonical` code points from cp_decomposed[at] on, then `compatible` of them; the first are
 * none without a canonical decomposition, the second where both are the same. In full, and in
 * canonical order. Hangul syllables have none here. */
typedef struct {{
    uint16_t at;
    uint8_t canonical, compatible;
}} cp_decomposition;

/* Primary composites but Hangul's. */
typedef struct {{
    uint32_t first, second, composite;
}} cp_composition;

{extern}
extern const cp_form_kind cp_form_kinds[{len(kinds)}];
extern const cp_decomposition cp_decompositions[{len(records)}];
extern const cp_composition cp_compositions[{len(pairs)}];

/* Of any code point; what is none is like one that is not assigned. */
static inline const cp_form_kind *cp_form_of(uint32_t code)
{{
    uint32_t block = code >> {kind_shift};
    if (block >= {len(kind_index)})
        return &cp_form_kinds[0];
    block = cp_form_index[block];
    return &cp_form_kinds[cp_form_blocks[block << {kind_shift} | (code & {(1 << kind_shift) - 1})]];
}}

static inline const cp_decomposition *cp_decomposition_of(uint32_t code)
{{
    uint32_t block = code >> {form_shift};
    if (block >= {len(form_index)})
        return &cp_decompositions[0];
    block = cp_decomposition_index[block];
    code &= {(1 << form_shift) - 1};
    return &cp_decompositions[cp_decomposition_blocks[block << {form_shift} | code]];
}}

/* The primary composite of two code points, or 0; not of Hangul. */
static inline uint32_t cp_composite_of(uint32_t first, uint32_t second)
{{
    uint32_t hash = first * {FACTORS[0]:#X}u ^ second * {FACTORS[1]:#X}u;
    uint32_t at = hash >> {32 - SLOT_BITS}, slot;

    for (; (slot = cp_composition_slots[at]); at = (at + 1) & {(1 << SLOT_BITS) - 1}) {{
        const cp_composition *found = &cp_compositions[slot - 1];

        if (found->first == first && found->second == second)
            return found->composite;
    }}
    return 0;
}}

#endif
"""
    kind_rows = "\n".join(f"    {{{lower}, {bits}, {ccc}}}," for lower, bits, ccc in kinds)
    record_rows = braced(records)
    pair_rows = braced([(*pair, forms.composites[pair]) for pair in pairs])
    source = f"""{note}#include "form_tables.h"

const cp_form_kind cp_form_kinds[{len(kinds)}] = {{
{kind_rows}
}};

{defined}
const cp_decomposition cp_decompositions[{len(records)}] = {{
{record_rows}
}};

const cp_composition cp_compositions[{len(pairs)}] = {{
{pair_rows}
}};
"""
    return header, source


def braced(rows: list[tuple[int, int, int]]) -> str:
    items = [f"{{{a},{b},{c}}}," for a, b, c in rows]
    return "\n".join("".join(items[at : at + 6]) for at in range(0, len(items), 6))


def main() -> int:
    chosen = options(__doc__)
    ucd = Ucd(chosen.ucd)
    header, source = c_tables(ucd)
    files = {
        "cleanpipe/native/form_tables.h": header,
        "cleanpipe/native/form_tables.c": source,
    }
    return deliver(files, ucd.version, chosen.check)


if __name__ == "__main__":
    sys.exit(main())
