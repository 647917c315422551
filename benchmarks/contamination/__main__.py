"""Test items planted into real documents, and documents with none: who finds what.

    python -m benchmarks.contamination [--items 60] [--one-in 1] [--seed 1] [--misses]

Ours beside a 12-gram and a 13-gram rule, on the same documents. It needs CLEANPIPE_SHARED.
docs/benchmarks.md says how to read it.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence

from benchmarks.contamination import planting
from benchmarks.contamination.corpus import Document, batches, hosts, read_documents
from benchmarks.contamination.detector import Detector, Hit, Key, ours
from benchmarks.contamination.items import SETS, Item, read_items
from benchmarks.contamination.planting import Planted, sample
from benchmarks.contamination.rivals import AnyTwelveGram, ThirteenGram
from benchmarks.contamination.tables import SHORT, Recall, excerpt
from benchmarks.measuring.clock import cpu_seconds, one_core
from benchmarks.measuring.texts import SHARED

OURS = "ours"
LANGUAGES = {"en": "English", "zh": "Chinese", "code": "programs"}

Found = dict[str, list[dict[Key, Hit]]]


def main() -> None:
    options = _options().parse_args()
    folder = SHARED / "data"
    if not (folder / "evals").is_dir():
        sys.exit(f"no {folder / 'evals'}: set CLEANPIPE_SHARED")
    one_core()
    items = {of.name: read_items(folder / "evals", of) for of in SETS}
    compare(
        ours(SETS, folder / "evals"),
        items,
        read_documents(folder / "corpus"),
        number=options.items,
        one_in=options.one_in,
        seed=options.seed,
        misses=options.misses,
    )


def compare(
    judge: Detector,
    items: Mapping[str, Sequence[Item]],
    documents: Sequence[Document],
    *,
    number: int,
    one_in: int,
    seed: int,
    misses: bool,
) -> None:
    """Print all tables.

    Args:
        judge: ours.
        items: of each set, by its name.
        documents: of the corpus.
        number: of items for a set and a disguise.
        one_in: the share of the documents that are looked at untouched: every n-th.
        seed: of what is planted where.
        misses: whether to print what ours did not find.
    """
    every = [item for of in items.values() for item in of]
    twelve, thirteen = AnyTwelveGram(every), ThirteenGram(every)
    detectors: dict[str, Detector] = {OURS: judge, twelve.name: twelve, thirteen.name: thirteen}
    untouched = documents[::one_in]
    thirteen.count(document.text for document in untouched)
    print(f"{len(every):,} items of {len(items)} sets")
    print(f"{len(untouched):,} of {len(documents):,} documents untouched\n")
    _alarms(untouched, _run(detectors, [document.text for document in untouched]))
    planted = list(sample(items, hosts(documents).__getitem__, number, seed))
    print(f"\n{len(planted):,} documents with an item planted, seed {seed}")
    _recall(planted, _run(detectors, [one.text for one in planted]), misses)


def _run(detectors: Mapping[str, Detector], texts: Sequence[str]) -> Found:
    found: Found = {name: [] for name in detectors}
    for name, detect in detectors.items():

        def work(detect: Detector = detect, of: list[dict[Key, Hit]] = found[name]) -> None:
            for batch in batches(texts):
                of += detect(batch)

        seconds = cpu_seconds(work)
        print(f"{name:12}{seconds:8.1f} s for {len(texts):,} documents", flush=True)
    return found


def _alarms(documents: Sequence[Document], found: Found) -> None:
    print("\nUntouched documents: alarms\n")
    print(f"{'':12}{'documents':>10}{'in 10,000':>11}{'items':>8}")
    for name, hits in found.items():
        alarmed = sum(map(bool, hits))
        rate = 1e4 * alarmed / len(documents)
        print(f"{name:12}{alarmed:>10,}{rate:>11.2f}{sum(map(len, hits)):>8,}")
    folders = Counter(document.file.split("/")[0] for document in documents)
    for folder, number in folders.items():
        within = [document.file.startswith(f"{folder}/") for document in documents]
        in_it = (
            sum(bool(of) for of, here in zip(hits, within, strict=True) if here)
            for hits in found.values()
        )
        print(f"  of {number:,} in {folder}: {', '.join(f'{one:,}' for one in in_it)}")
    print("\nEach of ours, to be read: some may be true\n")
    for document, of in zip(documents, found[OURS], strict=True):
        for (test_set, item), hit in of.items():
            print(
                f"{document.file} {document.id}: {test_set} {item}, "
                f"{hit.evidence} {hit.score:.3f}\n    {excerpt(hit.match)}"
            )


def _recall(documents: list[Planted], found: Found, misses: bool) -> None:
    long = [one.tokens >= SHORT for one in documents]
    for title, which in (
        (f"Found, of items of {SHORT} tokens or more", long),
        (f"Found, of items under {SHORT} tokens", [not one for one in long]),
    ):
        chosen, hits = _where(documents, found, which)
        by_language = Recall.of(chosen, hits, lambda one: LANGUAGES[one.item.language])
        print(f"\n{title}\n")
        print(*by_language.rows(list(LANGUAGES.values())), sep="\n")
        beside = ", ".join(f"{name} {by_language.others[name]:,}" for name in found)
        print(f"other items found beside them: {beside}")
    chosen, hits = _where(documents, found, long)
    sets = list(dict.fromkeys(one.item.test_set for one in documents))
    print(f"\nFound by ours, of items of {SHORT} tokens or more, by set\n")
    by_set = Recall.of(chosen, {OURS: hits[OURS]}, lambda one: one.item.test_set)
    print(*by_set.rows(sets), sep="\n")
    print("\nWhat ours reports as found\n")
    for disguise in (planting.VERBATIM, planting.QUESTION, planting.STEM, planting.APART):
        said = Counter(
            of[one.item.test_set, one.item.test_item].evidence
            for one, of in zip(documents, found[OURS], strict=True)
            if one.disguise == disguise and (one.item.test_set, one.item.test_item) in of
        )
        print(f"{disguise:36}" + ", ".join(f"{what} {n:,}" for what, n in said.most_common()))
    if misses:
        print("\nNot found by ours\n")
        for one, of in zip(documents, found[OURS], strict=True):
            if (one.item.test_set, one.item.test_item) not in of:
                start, end = one.spans[0][0], one.spans[-1][1]
                shown = excerpt(one.text.encode()[start:end].decode(), 400)
                where = f"{one.item.test_set} {one.item.test_item}"
                print(f"{one.disguise}: {where}, {one.tokens} tokens\n    {shown}")


def _where(
    documents: list[Planted], found: Found, which: Sequence[bool]
) -> tuple[list[Planted], Found]:
    def chosen(of: list[dict[Key, Hit]]) -> list[dict[Key, Hit]]:
        return [one for one, is_in in zip(of, which, strict=True) if is_in]

    kept = [one for one, is_in in zip(documents, which, strict=True) if is_in]
    return kept, {name: chosen(hits) for name, hits in found.items()}


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks.contamination", description=__doc__)
    parser.add_argument("--items", type=int, default=60, help="of each set and disguise (60)")
    parser.add_argument("--one-in", type=int, default=1, help="of the untouched documents (1)")
    parser.add_argument("--seed", type=int, default=1, help="of what is planted where (1)")
    parser.add_argument("--misses", action="store_true", help="print what ours did not find")
    return parser


if __name__ == "__main__":
    main()
