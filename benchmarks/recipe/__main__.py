"""The whole recipe ``web-en``: its CPU time by part beside ``wc -w``, and beside datatrove's.

    python -m benchmarks.recipe [split | rivals]

It needs CLEANPIPE_SHARED; datatrove has an environment of its own in .venv/peers, made the first
time. docs/benchmarks.md says how to read the tables.
"""

from __future__ import annotations

import gzip
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import cleanpipe as cp
from benchmarks.measuring.clock import cpu_seconds, one_core, take_turns, wc
from benchmarks.measuring.texts import SHARED, Corpus
from benchmarks.recipe import pipeline, rivals
from benchmarks.recipe.bare import Calls
from benchmarks.recipe.split import LANGUAGE, PARTS, PERPLEXITY, START, Split, watching

FOLDERS = ("web", "docs")
ROUNDS = 2
MODELS = (LANGUAGE, PERPLEXITY)
AT_MOST = 15
"""Times ``wc -w``, outside the bare calls."""


def split(data: Path, folder: Path) -> None:
    """Print the table of the parts."""
    folders = [data / "corpus" / name for name in FOLDERS]
    file = pipeline.write(folder / "web-en.yaml", pipeline.whole(data), *folders)
    texts = _texts(folders)
    texts.write(folder / "texts")
    calls = Calls()
    with calls.recorded():
        cp.Pipeline.from_yaml(file).run(output=folder / "recorded", runner="inline")
    pipe = cp.Pipeline.from_yaml(file)
    rounds: list[Split] = []

    def once() -> float:
        rounds.append(Split())
        with watching(rounds[-1]):
            pipe.run(output=folder / str(len(rounds)), runner="inline")
        return sum(rounds[-1].seconds.values())

    clocks = {
        "wc": lambda: min(cpu_seconds(lambda: wc(folder / "texts")) for _ in range(3)),
        "ours": once,
        **{name: lambda name=name: calls.seconds(name) for name in MODELS},  # type: ignore[misc]
    }
    found = take_turns(clocks, ROUNDS)
    best = min(rounds[1:], key=lambda one: sum(one.seconds.values())).seconds
    bare = {name: min(found[name]) for name in MODELS}
    print(
        f"web-en with perplexity and contamination on {' and '.join(FOLDERS)}: "
        f"{len(texts.texts):,} documents, {texts.size / 1e6:.0f} MB; "
        f"{calls.number(LANGUAGE):,} calls of fastText, {calls.number(PERPLEXITY):,} of KenLM\n"
    )
    print(*table(best, bare, min(found["wc"])), sep="\n")


def table(best: Mapping[str, float], bare: Mapping[str, float], wc_seconds: float) -> list[str]:
    """The lines to print: CPU seconds, and times ``wc -w``."""

    def line(name: str, seconds: float, more: str = "") -> str:
        return f"{name:44}{seconds:9.2f}{seconds / wc_seconds:9.1f}{more}"

    parts = {name: best.get(name, 0.0) - bare.get(name, 0.0) for name in PARTS}
    whole = sum(parts.values())
    others = whole - sum(parts[name] for name in MODELS)
    verdict = "met" if whole <= AT_MOST * wc_seconds else "NOT MET"
    return [
        f"{'':44}{'CPU s':>9}{'x wc -w':>9}",
        *(line(name + ", without the calls" * (name in bare), parts[name]) for name in PARTS),
        line("together", whole, f"   at most {AT_MOST}: {verdict}"),
        line("  without language and perplexity", others),
        line("bare calls of fastText", bare[LANGUAGE]),
        line("bare calls of KenLM", bare[PERPLEXITY]),
        line("looking at the sources, before the run", best.get(START, 0.0)),
        line("wc -w", wc_seconds),
    ]


def compare(data: Path, folder: Path) -> None:
    """Print the table of whole commands, with their start-up and without."""
    pages, one = data / "corpus" / "web", folder / "one"
    one.mkdir()
    with gzip.open(min(pages.glob("*.jsonl.gz"))) as file, gzip.open(one / "0.jsonl.gz", "w") as to:
        to.write(file.readline())
    recipes = {"like": pipeline.LIKE, "web-en": pipeline.whole(data)}

    def ours(recipe: str, *options: str) -> Callable[[Path], rivals.Took]:
        def run(source: Path) -> rivals.Took:
            name = "-".join([recipe, source.name, *options])
            file = pipeline.write(folder / f"{name}.yaml", recipes[recipe], source)
            return rivals.ours(file, folder / name, "--runner", *options)

        return run

    def theirs(source: Path) -> rivals.Took:
        model = data / "models" / "lid.176.ftz"
        return rivals.datatrove(model, source, folder / f"datatrove-{source.name}")

    commands = {
        "datatrove, two workers": theirs,
        "ours alike, inline": ours("like", "inline"),
        "ours alike, Ray, two workers": ours("like", "ray", "--workers", "2"),
        "web-en, inline": ours("web-en", "inline"),
        "web-en, Ray, two workers": ours("web-en", "ray", "--workers", "2"),
    }
    print(f"{'':30}{'seconds':>18}{'without start-up':>18}{'times datatrove':>18}")
    print(f"{'':30}" + f"{'wall':>9}{'CPU':>9}" * 3)
    first: list[float] = []
    for name, command in commands.items():
        start, seen = command(one), command(pages)
        row = [*seen, seen.wall - start.wall, seen.cpu - start.cpu]
        first = first or row
        # Less than the clock can tell is no number to divide by.
        times = [
            f"{one / mine:9.1f}" if mine > 0.1 else f"{'-':>9}"
            for one, mine in zip(first[2:], row[2:], strict=True)
        ]
        print(f"{name:30}" + "".join([*(f"{value:9.1f}" for value in row), *times]), flush=True)
    print()


def _texts(folders: Sequence[Path]) -> Corpus:
    """All texts of the sources."""
    stages = [{"length": {"chars": [0, None]}}]  # all pass
    found = cp.Pipeline.from_dict({"sources": pipeline.sources(*folders), "stages": stages})
    text = found.run().kept.column("text").combine_chunks()
    return Corpus(" and ".join(FOLDERS), "data/corpus", text)


def main(names: list[str]) -> None:
    if not (SHARED / "data" / "corpus").is_dir():
        sys.exit(f"no {SHARED / 'data' / 'corpus'}: set CLEANPIPE_SHARED")
    with tempfile.TemporaryDirectory() as folder:
        if not names or "rivals" in names:
            compare(SHARED / "data", Path(folder))
        if not names or "split" in names:
            one_core()
            split(SHARED / "data", Path(folder))


if __name__ == "__main__":
    main(sys.argv[1:])
