"""Train the models that ship, filters/models/demo.en.bin and demo.zh.bin, and say what they tell.

    python scripts/demo_models.py [--cache DIR]

Needs Debian (`apt-get update` done once), lmplz and build_binary on the PATH (docs/how-to/lmplz.md)
and cleanpipe installed. The text is that of two packages under CC-BY-SA-3.0, in English and in
simplified Chinese; pages are held out by the SHA-256 of their names, so equal packages give equal
models. filters/models/NOTICE.md names them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from make_sample import obtain, visible

from cleanpipe.filters.lm_training import Training, train, training_lines
from cleanpipe.filters.perplexity import Perplexity
from cleanpipe.filters.profiles import ProfileName
from cleanpipe.parameters import LocalPath
from cleanpipe.progress import Progress
from cleanpipe.units import Units

ROOT = Path(__file__).resolve().parent.parent
MODELS = ROOT / "filters" / "models"
PACKAGES = ("debian-handbook", "gnome-user-docs")
HELD_OUT = 6  # every so manieth page
ORDER = 3
# language: profile, pages of either package, characters of a paragraph at least, of a document,
# how a paragraph ends, and n-grams left out
LANGUAGES: dict[str, tuple[ProfileName, tuple[str, str], int, int, str, tuple[int, ...]]] = {
    "en": ("words", ("en-US", "C"), 40, 500, ".!?", (0, 0, 1)),
    "zh": ("characters", ("zh-CN", "zh_CN"), 15, 150, "。！？", (0, 0, 1)),
}
PAGES = (
    "debian-handbook/usr/share/doc/debian-handbook/html/{}/*.html",
    "gnome-user-docs/usr/share/help/{}/**/*.page",
)
CODE = re.compile(r"<(pre|screen|code|info|head)\b.*?</\1>", re.DOTALL)
HAN = re.compile("[\u4e00-\u9fff]")


def unpacked(cache: Path) -> Path:
    """A folder with a folder for each package."""
    for name in PACKAGES:
        package = obtain(cache, f"{name}_*.deb", "apt-get", "download", name)
        digest = hashlib.sha256(package.read_bytes()).hexdigest()
        sys.stdout.write(f"{package.name} sha256 {digest}\n")
        if not (cache / name).exists():
            subprocess.run(["dpkg-deb", "-x", package, cache / name], check=True)
    return cache


def documents(root: Path, language: str) -> Iterator[tuple[bool, str]]:
    """Stretches of prose of a page, one paragraph a line; whether its page is held out."""
    _, folders, shortest, size, ends, _ = LANGUAGES[language]
    for pattern, folder in zip(PAGES, folders, strict=True):
        for page in sorted(root.glob(pattern.format(folder))):
            # Page names are the same in all languages: held out in one, held out in the other.
            digest = hashlib.sha256(page.name.encode()).digest()
            held_out = int.from_bytes(digest[:8], "big") % HELD_OUT == 0
            stretch: list[str] = []
            # Entities of a DTD that is not there are of no matter to prose.
            for line in visible(CODE.sub(" ", page.read_text(encoding="utf-8"))):
                chinese = len(HAN.findall(line)) > len(line) / 2
                if len(line) < shortest or line[-1] not in ends or chinese != (language == "zh"):
                    continue
                stretch.append(line)
                if sum(map(len, stretch)) >= size:
                    yield held_out, "\n".join(stretch)
                    stretch = []
            if stretch:
                yield held_out, "\n".join(stretch)


def make(root: Path, language: str, work: Path) -> list[str]:
    """Train the model of a language; what was held out."""
    profile, *_, prune = LANGUAGES[language]
    found = list(documents(root, language))
    for name, wanted in (("train", False), ("held-out", True)):
        texts = [text for held_out, text in found if held_out is wanted]
        lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
        (work / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    training = Training(
        text=(str(work / "train.jsonl"),),
        held_out=(str(work / "held-out.jsonl"),),
        output=str(MODELS / f"demo.{language}.bin"),
        profile=profile,
        order=ORDER,
        prune=prune,
        language=language,
        demo=True,
        overwrite=True,
    )
    made = train(training, Progress())
    size = Path(made.model).stat().st_size
    sys.stdout.write(f"{Path(made.model).name}: {made.documents:,} documents, ")
    sys.stdout.write(f"{made.tokens:,} tokens, {size:,} bytes\n")
    return [text for held_out, text in found if held_out]


def sample(language: str) -> list[str]:
    """Pages of examples/sample in a language."""
    wanted = {"en": "en-US", "zh": "zh-CN"}[language]
    found = []
    for line in (ROOT / "examples/sample/pages.jsonl").read_bytes().splitlines():
        try:
            row: dict[str, Any] = json.loads(line)
        except ValueError:
            continue  # broken on purpose
        if row["content"] and row["url"].startswith(wanted):
            found.append(row["content"])
    return found


def shuffled(texts: Sequence[str], profile: ProfileName) -> list[str]:
    """The same tokens in random order, as many a sentence."""
    chance = random.Random(7)
    found = []
    for text in texts:
        prepared = training_lines(pa.array([text], pa.large_string()), profile).decode()
        lines = [line.split(" ") for line in prepared.split("\n")[:-1]]
        tokens = [token for line in lines for token in line]
        chance.shuffle(tokens)
        place = iter(tokens)
        found.append("\n".join(" ".join(next(place) for _ in line) for line in lines))
    return found


def auc(low: np.ndarray[Any, Any], high: np.ndarray[Any, Any]) -> float:
    """The chance that one of `high` is above one of `low`."""
    order = np.sort(low)
    below = np.searchsorted(order, high, "left") + np.searchsorted(order, high, "right")
    return float(below.mean() / 2 / len(low))


def tell(language: str, held_out: Sequence[str]) -> None:
    """Medians, and how well shuffled words are told from words."""
    profile = LANGUAGES[language][0]
    stage = Perplexity(model=LocalPath(str(MODELS / f"demo.{language}.bin")))
    for name, texts in (("held out", held_out), ("sample", sample(language))):
        both = []
        for each in (texts, shuffled(texts, profile)):
            taken = stage.measure(Units(pa.array(each, pa.large_string())))
            both.append(np.asarray(taken["perplexity"], np.float64))
        judged = ~np.isnan(both[0])  # shuffled, a text has as many tokens
        good, noise = both[0][judged], both[1][judged]
        oov = float(np.median(np.asarray(taken["oov_share"], np.float64)[judged]))
        sys.stdout.write(
            f"{language} {name}: {len(good)} texts, median {np.median(good):,.0f}, shuffled "
            f"{np.median(noise):,.0f}, AUC {auc(good, noise):.3f}, "
            f"of itself {float((noise > good).mean()):.3f}, OOV {oov:.1%}\n"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--cache", type=Path, help="keep the packages here")
    cache: Path | None = parser.parse_args().cache
    with tempfile.TemporaryDirectory() as work:
        kept = cache or Path(work)
        kept.mkdir(parents=True, exist_ok=True)
        root = unpacked(kept.resolve())
        for language in LANGUAGES:
            tell(language, make(root, language, Path(work)))


if __name__ == "__main__":
    main()
