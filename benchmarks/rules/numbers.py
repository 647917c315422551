"""Numbers in the recipes that no paper gives: what each takes from clean text and from junk.

    python -m benchmarks.rules.numbers [--half derive] [--number 200] [--seed 1]

Each limit is tried alone, and beside it a stricter and a looser one. It needs CLEANPIPE_SHARED.
docs/benchmarks.md has the table.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import pyarrow as pa

import cleanpipe as cp
from benchmarks.rules.junk import planted
from benchmarks.rules.reference import Half, some
from cleanpipe.filters.language import Language
from cleanpipe.parse import document_of
from cleanpipe.units import Units


@dataclass(frozen=True)
class Limit:
    """A limit and its neighbours.

    Attributes:
        name: what the table calls it.
        unit: what it judges: ``line`` or ``sentence``.
        junk: the kind of junk it is for, or None where none is made for it.
        filters: as in a recipe, by the number: a stricter one, that of the recipe, a looser one.
    """

    name: str
    unit: str
    junk: str | None
    filters: Mapping[float, Mapping[str, Any]]


def limits(language: str) -> list[Limit]:
    """Those of the lines and sentences of a language."""
    short = {"en": (20, 40, 80), "zh": (10, 20, 40)}[language]

    def hits(words: str, numbers: Sequence[float]) -> Mapping[float, Mapping[str, Any]]:
        lists = [f"{words}.{language}"]
        return {
            n: {"blocklist": {"lists": lists, "hits": None, "per_1000_tokens": [None, n]}}
            for n in numbers
        }

    def most(measure: str, numbers: Sequence[float]) -> Mapping[float, Mapping[str, Any]]:
        return {n: {"rule": {"measure": measure, "max": n}} for n in numbers}

    runs: dict[float, Mapping[str, Any]] = {
        n: {"line_runs": {"run": [None, n], "shorter_than": short[1]}} for n in (1, 3, 6)
    }
    lengths: dict[float, Mapping[str, Any]] = {
        n: {"line_runs": {"run": [None, 3], "shorter_than": n}} for n in reversed(short)
    }
    broken: dict[float, Mapping[str, Any]] = {
        n: {"mojibake": {"share": [None, n]}} for n in (0, 0.1, 0.2)
    }
    return [
        Limit("phrases of a page's frame in 1,000 tokens", "line", "boilerplate",
              hits("boilerplate", (20, 40, 80))),
        Limit("LDNOOBW's words in 1,000 tokens", "line", "spam", hits("ldnoobw", (25, 50, 100))),
        Limit("short lines in a row", "line", "boilerplate", runs),
        Limit("characters of a short line", "line", "boilerplate", lengths),
        Limit("link_share", "line", "link_list", most("link_share", (0.2, 0.4, 0.8))),
        Limit("markup_share", "sentence", "markup_residue", most("markup_share", (0.05, 0.1, 0.2))),
        Limit("mojibake", "sentence", "mojibake", broken),
    ]  # fmt: skip


def taken(texts: Sequence[str], limit: Limit, number: float) -> float:
    """The share of all characters of some texts that a limit takes out."""
    stage = {"remove": {"unit": limit.unit, "failing": [limit.filters[number]]}}
    found = cp.Pipeline(document_of({"stages": [stage], "guards": "off"}), ".").run(list(texts))
    share = found.measures.column("remove.removed_share").to_numpy()
    sizes = np.array([len(text) for text in texts])
    return float(np.sum(share * sizes) / np.sum(sizes))


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.rules.numbers", description=__doc__)
    parser.add_argument("--half", choices=get_args(Half), default="derive")
    parser.add_argument("--number", type=int, default=200, help="junk of a kind (200)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for language in ("en", "zh"):
        clean = [one.text for one in some(language, options.half)]
        junk = planted(language, options.half, options.number, options.seed)
        print(
            f"\n{language}: characters taken from {len(clean):,} clean documents, from junk alone"
        )
        for limit in limits(language):
            bad = [one.text for one in junk if one.kind == limit.junk and one.alone]
            for number in limit.filters:
                shares = f"{taken(clean, limit, number):9.3%} {taken(bad, limit, number):7.1%}"
                print(f"  {limit.name:42}{number:>6} {shares}", flush=True)
        texts = pa.array(clean, pa.large_string())
        score = np.asarray(Language(characters=None).measure(Units(texts))["score"])
        print("  least score of lid.176 among them", f"{score.min():.2f}")


if __name__ == "__main__":
    main()
