"""A pack of limits for a language, from clean text: docs/how-to/add-a-language.md.

    python scripts/language_pack.py LANGUAGE FILE... --output filters/packs

Writes LANGUAGE.yaml and LANGUAGE.pairs.txt. Each FILE is one kind of clean text, anything that
`cleanpipe run --input` reads. A limit is the widest that any of the files asks for.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import cleanpipe as cp
from cleanpipe import _native
from cleanpipe.bounds import Numbers
from cleanpipe.filters.packs import MEASURES, PAIRS
from cleanpipe.filters.word_order import MARK, neighbours, pair, pair_share, pairs_of
from cleanpipe.surface import take
from cleanpipe.text import segments


class Of(NamedTuple):
    """What is limited of a unit: from below, from above; the fewest tokens it must have; and how
    many of a hundred units of each kind of clean text a limit lets pass at least."""

    low: Sequence[str]
    high: Sequence[str]
    min_tokens: int
    percentile: float


_SHARES = ("symbol_share", "digit_share", "upper_share", "markup_share", "link_share")
_TOP = tuple(f"top_{n}_gram_share" for n in (2, 3, 4))
_DUPLICATE = tuple(f"duplicate_{n}_gram_share" for n in range(5, 11))
_WORDS = ("mean_word_length", "hash_word_ratio", "ellipsis_word_ratio", "alphabetic_word_share")
SPACED_ONLY = (*_WORDS, "stop_words")
"""Measures that mean nothing where words are not divided by spaces (or that are of English)."""

UNITS: Mapping[Literal["document", "line"], Of] = {
    "document": Of(
        (
            "letter_share",
            "alphabetic_word_share",
            "stop_words",
            "terminal_punctuation_line_share",
        ),
        (
            "mean_word_length",
            "hash_word_ratio",
            "ellipsis_word_ratio",
            *_SHARES,
            "bullet_line_share",
            "ellipsis_line_share",
            "short_line_share",
            "duplicate_line_share",
            "duplicate_line_character_share",
            "duplicate_paragraph_share",
            "duplicate_paragraph_character_share",
            *_TOP,
            *_DUPLICATE,
            "span_repeats",
            PAIRS,
        ),
        50,
        99.9,  # Of thirty limits, all together 2 % at most.
    ),
    "line": Of(
        ("letter_share", "stop_words"),
        (
            "mean_word_length",
            *_SHARES,
            *_TOP,
            "duplicate_5_gram_share",
            "duplicate_10_gram_share",
            "span_repeats",
            PAIRS,
        ),
        20,
        99.5,
    ),
}

LEAST_UNITS = 100
"""A file of fewer says nothing of its last percents."""

EXPECTED, RARE = 10.0, 0.2
"""A pair of neighbours is odd if chance would have put it side by side so often, and it is there
at most this share of that."""

COMMON = 1000
"""Of the most frequent tokens pairs are made: rarer ones are expected too seldom."""


def odd_pairs(texts: pa.Array) -> list[str]:
    """The pairs of neighbours that are far rarer than by chance, the surest first."""
    offsets, starts, ends, hashes = _native.tokens(texts)
    which, first, counts = np.unique(hashes, return_index=True, return_counts=True)
    common = np.argsort(-counts, kind="stable")[:COMMON]
    _, found = neighbours(texts)
    seen, times = np.unique(found, return_counts=True)
    every = np.append(which[common], MARK)
    marks = int(np.isin(found, pair(MARK, which)).sum())
    share = np.append(counts[common] / len(hashes), marks / len(found))
    expected = len(found) * share[:, None] * share[None, :]
    expected[-1, -1] = 0.0  # A mark is no neighbour of a mark.
    pairs = pair(every[:, None], every[None, :])
    place = np.minimum(np.searchsorted(seen, pairs), len(seen) - 1)
    there = np.where(seen[place] == pairs, times[place], 0)
    odd = (expected >= EXPECTED) & (there <= RARE * expected)
    text_of = np.searchsorted(offsets, first[common], side="right") - 1
    words = [
        texts[int(text)].as_py().encode()[starts[at] : ends[at]].decode().lower()
        for text, at in zip(text_of, first[common], strict=True)
    ]
    words.append(",")
    rows, columns = np.nonzero(odd)
    order = np.lexsort((columns, rows, -expected[odd]))
    return [f"{words[rows[at]]} {words[columns[at]]}" for at in order]


def crosswise(texts: pa.Array) -> Numbers:
    """Of each text the share of odd pairs, by a list made of the other half of the texts: by one
    made of the text itself there would be next to none."""
    shares = np.zeros(len(texts))
    for half in (0, 1):
        mine, others = np.arange(half, len(texts), 2), np.arange(1 - half, len(texts), 2)
        pairs = pairs_of(odd_pairs(texts.take(pa.array(others))), "")
        shares[mine] = pair_share(texts.take(pa.array(mine)), pairs)
    return shares


def limits(
    files: Mapping[str, Mapping[str, Numbers]], of: Of, odd_pairs_percentile: float
) -> Iterator[str]:
    """The lines of a unit's ``limits``.

    Args:
        files: name of a file -> measure -> its values, shape (n,).
        of: what to limit.
        odd_pairs_percentile: in place of the unit's own, for that one measure.
    """
    for name in dict.fromkeys((*of.low, *of.high)):
        percentile = odd_pairs_percentile if name == PAIRS else of.percentile
        yield f"      {name}:"
        for end, sign, names in (("min", -1, of.low), ("max", 1, of.high)):
            if name not in names:
                continue
            wanted = {
                file: _outwards(sign * _quantile(sign * values[name], percentile), sign)
                for file, values in files.items()
            }
            file = max(wanted, key=lambda each: sign * wanted[each])
            shown = percentile if sign > 0 else round(100 - percentile, 6)
            value = f"{wanted[file]:.12g}"
            yield f"        {end}: {{value: {value}, percentile: {shown:g}, text: {file}}}"


def _quantile(values: Numbers, percentile: float) -> float:
    """The smallest value that at least this share does not exceed."""
    return float(np.quantile(values, percentile / 100, method="inverted_cdf"))


def _outwards(value: float, sign: int) -> float:
    """Three digits, rounded so that the value itself passes."""
    if value == 0:
        return 0.0
    digit = 10.0 ** (np.floor(np.log10(abs(value))) - 2)
    steps = np.ceil(value / digit) if sign > 0 else np.floor(value / digit)
    rounded = float(f"{steps * digit:.12g}")
    return rounded if sign * rounded >= sign * value else value


def main() -> None:
    options = _options().parse_args()
    without = [name for name in options.without.split(",") if name]
    unknown = [name for name in without if name not in MEASURES]
    if unknown:
        sys.exit(f"no measures: {', '.join(unknown)}; `cleanpipe stages` lists them")
    texts = {path.name.split(".")[0]: _texts(path) for path in options.files}
    every = pa.concat_arrays(list(texts.values()))
    pairs = odd_pairs(every)
    heading = [
        "# Made of clean text: docs/how-to/add-a-language.md says how. The command:",
        f"#   {_command()}",
    ]
    listed = [
        *heading,
        "# Neighbours ten times or more by chance, and far more seldom there; a comma is any mark.",
        *pairs,
    ]
    lines = [*heading, f"language: {options.language}", "units:"]
    for unit, of in UNITS.items():
        lines += _unit(unit, _without(of, without), texts, options.pairs_percentile)
    for name, content in ((".pairs.txt", listed), (".yaml", lines)):
        path = options.output / f"{options.language}{name}"
        path.write_text("\n".join(content) + "\n", encoding="utf-8")
        print(path)


def _unit(
    unit: Literal["document", "line"],
    of: Of,
    texts: Mapping[str, pa.Array],
    pairs_percentile: float,
) -> Iterator[str]:
    """The lines of one unit: what the text was, and the limits."""
    names = [name for name in dict.fromkeys((*of.low, *of.high)) if name != PAIRS]
    files: dict[str, dict[str, Numbers]] = {}
    yield from (f"  {unit}:", f"    min_tokens: {of.min_tokens}", "    texts:")
    units = {
        file: some if unit == "document" else segments(some, unit).texts
        for file, some in texts.items()
    }
    units = {
        file: some.filter(pa.array(take(some, ["tokens"])["tokens"] >= of.min_tokens))
        for file, some in units.items()
    }
    odd = crosswise(pa.concat_arrays(list(units.values())))
    begin = 0
    for file, some in units.items():
        if len(some) < LEAST_UNITS:
            sys.exit(f"{file}: {len(some)} {unit}s; expected at least {LEAST_UNITS}")
        characters = int(pc.sum(pc.utf8_length(some)).as_py())
        yield f"      {file}: {{{unit}s: {len(some)}, characters: {characters}}}"
        files[file] = {**take(some, names), PAIRS: odd[begin : begin + len(some)]}
        begin += len(some)
    yield "    limits:"
    yield from limits(files, of, pairs_percentile)


def _without(of: Of, names: Sequence[str]) -> Of:
    low, high = ([each for each in some if each not in names] for some in of[:2])
    return of._replace(low=low, high=high)


def _texts(path: Path) -> pa.Array:
    pipe = cp.Pipeline.from_dict({"stages": [{"rule": {"measure": "tokens", "min": 0}}]})
    return pipe.run(path).kept["text"].cast(pa.large_string()).combine_chunks()


def _command() -> str:
    """What was called, with the names of the files alone."""
    words = [Path(word).name if Path(word).exists() else word for word in sys.argv[1:]]
    return f"python scripts/language_pack.py {shlex.join(words)}"


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("language", help="its label, as the stage `language` writes it")
    parser.add_argument("files", nargs="+", type=Path, help="clean text, one kind a file")
    parser.add_argument("--output", type=Path, default=Path(), help="folder (this one)")
    parser.add_argument(
        "--pairs-percentile",
        type=float,
        default=99.9,
        help=f"lower for more of shuffled text, and of clean text: of {PAIRS} alone (99.9)",
    )
    parser.add_argument(
        "--without",
        default="",
        help=f"measures to leave out, with commas; without spaces between words {SPACED_ONLY}",
    )
    return parser


if __name__ == "__main__":
    main()
