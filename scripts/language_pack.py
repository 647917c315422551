"""Limits for a language, from percentiles of clean text: prints a pack (docs/how-to/add-a-language.md).

    python scripts/language_pack.py LANGUAGE FILE... [--percentile 99.5] [--measures NAME,...]

Each FILE is one kind of clean text, anything `cleanpipe run --input` reads. A limit is the widest
of those that the files ask for: of each file at most 100 - 99.5 % of the documents lie beyond it.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

import cleanpipe as cp
from cleanpipe.bounds import Numbers
from cleanpipe.surface import SURFACE

LOW = ("mean_word_length", "letter_share", "alphabetic_word_share")
"""Measures of which too little is a fault too; of all others only too much is."""

LEAST_DOCUMENTS = 30
"""A file of fewer says nothing of its last percent."""


def limits(
    files: Mapping[str, Mapping[str, Numbers]], names: Sequence[str], percentile: float
) -> Iterator[str]:
    """The lines of a pack's ``limits``.

    Args:
        files: name of a file -> measure -> its values, shape (n,).
        names: of the measures to limit.
        percentile: the share of each file's documents that a limit lets pass, in per cent.
    """
    for name in names:
        yield f"  {name}:"
        for end, sign in (("min", -1), ("max", 1)) if name in LOW else (("max", 1),):
            wanted = {
                file: _outwards(sign * _quantile(sign * values[name], percentile), sign)
                for file, values in files.items()
            }
            file = max(wanted, key=lambda each: sign * wanted[each])
            yield (
                f"    {end}: {{value: {wanted[file]:.12g}, percentile: "
                f"{percentile if sign > 0 else 100 - percentile:g}, text: {file}}}"
            )


def _quantile(values: Numbers, percentile: float) -> float:
    """The smallest value that at least this share does not exceed."""
    return float(np.quantile(values, percentile / 100, method="inverted_cdf"))


def _outwards(value: float, sign: int) -> float:
    """Three digits, rounded so that the value itself passes."""
    if value == 0:
        return 0.0
    unit = 10.0 ** (np.floor(np.log10(abs(value))) - 2)
    steps = np.ceil(value / unit) if sign > 0 else np.floor(value / unit)
    rounded = float(f"{steps * unit:.12g}")
    return rounded if sign * rounded >= sign * value else float(value)


def main() -> None:
    options = _options().parse_args()
    names = options.measures.split(",") if options.measures else list(SURFACE)
    unknown = [name for name in names if name not in SURFACE]
    if unknown:
        sys.exit(f"no surface measures: {', '.join(unknown)}; `cleanpipe stages` lists them")
    files: dict[str, dict[str, Numbers]] = {}
    print(f"# Limits by percentiles of clean text: docs/how-to/add-a-language.md. Made by\n#   {_command()}")
    print(f"language: {options.language}\ntexts:")
    for path in options.files:
        texts = _texts(path)
        if len(texts) < LEAST_DOCUMENTS:
            sys.exit(f"{path}: {len(texts)} documents; expected at least {LEAST_DOCUMENTS}")
        taken = cp.measures(texts)
        name = path.name.split(".")[0]
        files[name] = {each: np.asarray(taken[each]) for each in SURFACE}
        characters = int(files[name]["characters"].sum())
        print(f"  {name}: {{documents: {len(texts)}, characters: {characters}}}")
    print("limits:")
    print(*limits(files, names, options.percentile), sep="\n")


def _texts(path: Path) -> pa.ChunkedArray:
    pipe = cp.Pipeline.from_dict({"stages": [{"rule": {"measure": "tokens", "min": 0}}]})
    return pipe.run(path).kept["text"]


def _command() -> str:
    """What was called, with the files' names alone."""
    words = [Path(word).name if Path(word).exists() else word for word in sys.argv[1:]]
    return f"python scripts/language_pack.py {shlex.join(words)}"


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("language", help="its label, as the stage `language` writes it")
    parser.add_argument("files", nargs="+", type=Path, help="clean text, one kind a file")
    parser.add_argument("--percentile", type=float, default=99.5, help="that passes (99.5)")
    parser.add_argument("--measures", default="", help="names with commas (default: all)")
    return parser


if __name__ == "__main__":
    main()
