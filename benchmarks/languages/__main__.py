"""The ``language`` stage: by which part of a text, how right, and at what cost.

    python -m benchmarks.languages [--size 1000] [parts] [sentences] [cost]

It needs CLEANPIPE_SHARED. docs/languages.md says how to read it.
"""

from __future__ import annotations

import argparse
import gzip
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import fasttext
import msgspec
import pyarrow as pa

from benchmarks.measuring.clock import cpu_seconds, one_core, take_turns
from benchmarks.measuring.texts import SHARED, Corpus, corpora
from cleanpipe.bounds import Bounds
from cleanpipe.filters.classifier import Classifier
from cleanpipe.filters.fasttext_models import Predict, lines
from cleanpipe.filters.language import SHIPPED, Language
from cleanpipe.parameters import LocalPath
from cleanpipe.stage import Filter
from cleanpipe.units import Units

PARTS: Sequence[Language] = [
    *(Language(part="beginning", characters=size) for size in (1000, 1500, 2000, 3000, 4000)),
    *(Language(part="samples", characters=size) for size in (750, 1000, 1500, 2000, 3000)),
]
COST_BYTES, TRAINING_BYTES = 24 << 20, 2 << 20
AT_MOST = 1.15


def _timed(stage: Language, texts: Sequence[pa.Array]) -> tuple[list[str], float]:
    """What each text is in, and the CPU time that it took."""
    start = time.process_time()
    found = [code for batch in texts for code in stage.measure(Units(batch))["language"].tolist()]
    return found, time.process_time() - start


def parts(kinds: Sequence[Corpus]) -> None:
    """How many texts get the language of their full text, from each part, and how fast."""
    print("The same language as by the full text, % (MB/s of the full text)\n")
    names = "".join(f"{kind.name:>24}" for kind in kinds)
    print(f"{'part':10}{'characters':>11}{names}")
    whole = []
    rows: dict[Language, list[str]] = {stage: [] for stage in PARTS}
    for kind in kinds:
        batches = kind.batches()
        full, seconds = _timed(Language(characters=None), batches)
        whole.append(f"{f'({kind.size / seconds / 1e6:.1f})':>24}")
        for stage in PARTS:
            found, seconds = _timed(stage, batches)
            same = sum(one == other for one, other in zip(found, full, strict=True)) / len(full)
            rows[stage].append(f"{f'{100 * same:.2f} ({kind.size / seconds / 1e6:.0f})':>24}")
    for stage, cells in rows.items():
        print(f"{stage.part:10}{stage.characters:>11}{''.join(cells)}")
    print(f"{'all':10}{'':>11}{''.join(whole)}")
    print()


class _Sentence(msgspec.Struct):
    text: str
    iso1: str
    unit: str


def sentences() -> None:
    """How right the languages of labelled sentences are, with and without our preparation."""
    path = SHARED / "data" / "langid" / "lingua_testdata.jsonl.gz"
    with gzip.open(path) as file:
        every = msgspec.json.Decoder(_Sentence).decode_lines(file.read())
    stage = Language()
    known = stage.label_values()["language"]
    cases = [each for each in every if each.unit == "sentences" and each.iso1 in known]
    wanted = [each.iso1 for each in cases]
    print(f"{len(cases):,} labelled sentences in {len(set(wanted))} languages: right, %\n")
    units = Units(pa.array([each.text for each in cases], pa.large_string()))
    measures = stage.measure(units)
    found = {
        "as they are": [_bare(stage._predict, each.text) for each in cases],
        "as the stage prepares them": measures["language"].tolist(),
    }
    for name, labels in found.items():
        right = [label == language for label, language in zip(labels, wanted, strict=True)]
        chinese = [hit for hit, language in zip(right, wanted, strict=True) if language == "zh"]
        share, of_chinese = sum(right) / len(right), sum(chinese) / len(chinese)
        print(f"{name:28}{100 * share:8.2f}   Chinese {100 * of_chinese:.1f}")
    low = sum(score < 0.5 for score in measures["score"].tolist())
    undecided = measures["language"].tolist().count("und")
    print(f"score under 0.5: {100 * low / len(cases):.1f} %; und: {undecided}\n")


def _bare(predict: Predict, text: str) -> str:
    return predict(text.replace("\n", " ").encode() + b"\n", 1)[0][1]


def cost(kinds: Sequence[Corpus]) -> None:
    """Each stage's time over that of the model's calls alone on the same prepared bytes."""
    print(f"CPU time of a stage over that of the bare calls of its model, at most {AT_MOST}\n")
    with TemporaryDirectory() as folder:
        quality = _trained(Path(folder), kinds)
        for kind in kinds:
            print(kind)
            language = Language()
            _ratio("language", language, language._lines, str(SHIPPED), 1, kind)
            classifier = Classifier(LocalPath(quality), bounds={"0": Bounds(0.5)})
            _ratio("classifier", classifier, classifier._lines, quality, -1, kind)


def _trained(folder: Path, kinds: Sequence[Corpus]) -> str:
    """A classifier of words and pairs of words that tells these kinds of text apart."""
    with (folder / "train.txt").open("wb") as file:
        for label, kind in enumerate(kinds):
            for line in lines(kind.thinned(TRAINING_BYTES).texts, None):
                file.write(b"__label__%d " % label + (line or b"\n"))
    source = str(folder / "train.txt")
    model = fasttext.train_supervised(
        source, dim=100, wordNgrams=2, bucket=200_000, epoch=1, thread=1, verbose=0
    )
    model.save_model(str(folder / "kinds.bin"))
    return str(folder / "kinds.bin")


def _ratio(
    name: str,
    stage: Filter,
    prepared: Callable[[pa.LargeStringArray], Iterator[bytes]],
    model: str,
    labels: int,
    kind: Corpus,
) -> None:
    batches = kind.batches()
    call = fasttext.FastText._FastText(model_path=model).f.predict
    given = [line for batch in batches for line in prepared(batch) if line]

    def bare() -> None:
        for line in given:
            call(line, labels, 0.0, "replace")

    def whole() -> None:
        for batch in batches:
            stage.measure(Units(batch))

    seconds = take_turns({"bare": lambda: cpu_seconds(bare), "all": lambda: cpu_seconds(whole)}, 5)
    best = min(seconds["all"]) / min(seconds["bare"])
    middle = median(seconds["all"]) / median(seconds["bare"])
    verdict = "met" if best <= AT_MOST else "NOT MET"
    each = 1e6 * min(seconds["bare"]) / len(given)
    print(f"  {name:26}{best:.3f} ({middle:.3f})  {verdict}; a bare call takes {each:.0f} us")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.languages")
    parser.add_argument("--size", type=int, default=1000, help="MB of each kind of text")
    parser.add_argument("what", nargs="*", help="parts, sentences, cost; default all")
    options = parser.parse_args(arguments)
    if not (SHARED / "data" / "langid").is_dir():
        print(f"no {SHARED}/data: set CLEANPIPE_SHARED", file=sys.stderr)
        return 2
    one_core()
    size = options.size * 1_000_000
    steps: Mapping[str, Callable[[], None]] = {
        "parts": lambda: parts(corpora(size)),
        "sentences": sentences,
        "cost": lambda: cost(corpora(min(size, COST_BYTES))),
    }
    if unknown := set(options.what) - steps.keys():
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(steps)}")
    for name in options.what or steps:
        steps[name]()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
