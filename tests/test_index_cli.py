"""``cleanpipe index``: what it builds, shows, merges and refuses; runs by an index of it."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from cleanpipe.dedup import index_file
from cleanpipe.dedup.item_index import ItemIndex

from .conftest import Cli
from .jobs import FOLDERS, ROOT, content, jsonl, pipeline, rows, run, summary

PROGRAMS = {
    "paths": "tests/programs.jsonl",
    "id": "task_id",
    "fields": {"prompt": "prompt", "solution": "canonical_solution"},
    "tokens": "code",
}
TESTS: dict[str, Any] = {
    "sums": "tests/sums.jsonl",
    "sums-zh": "tests/sums-zh.jsonl",
    "programs": PROGRAMS,
}
ACTIONS = {"sums": "drop", "sums-zh": "cut", "programs": "flag"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory: the test sets of the examples, ``tests.yaml``, and files of all
    sorts that are no index, or none that can be used."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples" / "tests", tmp_path / "tests")
    write("tests.yaml", {"tests": TESTS})
    write("action.yaml", {"tests": {"programs": {**PROGRAMS, "action": "drop"}}})
    write("typo.yaml", {"tests": {"a": {"paths": "tests/sums.jsonl", "tokens": "cod"}, "b": 5}})
    write("wrong.yaml", {"tests": {"a": {**PROGRAMS, "fields": ["promt"]}, "b": "tests/no.jsonl"}})
    write("other.yaml", {"tests": {"a": "tests/sums.jsonl"}, "min_weight": 3})
    write("pipe.yaml", {"stages": [{"contamination": {"tests": TESTS}}], "output": {}})
    write("names.yaml", {"tests": "tests/*.jsonl"})
    Path("list.yaml").write_text("- a\n", encoding="utf-8")
    Path("empty.yaml").write_text("", encoding="utf-8")
    Path("notes.txt").write_text("my notes", encoding="utf-8")
    Path("empty").write_bytes(b"")
    jsonl(Path("numbers.jsonl"), [{"text": 5}])
    return tmp_path


def write(path: str, tree: Any) -> None:
    """A YAML file, a set a line."""
    Path(path).write_text(json.dumps(tree, indent=1), encoding="utf-8")


def test_build_and_show(folder: Path, clean: Cli) -> None:
    built = clean("index", "build", "tests.yaml", "--output", "made/a.index")
    assert (built.code, built.err) == (0, "")
    shown = clean("index", "show", "made/a.index")
    assert (shown.code, shown.out) == (0, built.out)
    index = ItemIndex.open("made/a.index")
    head, *sets, first, second, size, fingerprint = shown.out.splitlines()
    assert head.split("  ") == [
        "test set",
        "tokens",
        "items",
        "parts",
        "n-grams",
        "too short",
        "min_weight",
        "reference texts",
    ]
    assert [line.split()[:4] for line in sets] == [
        ["sums", "words", "6", "12"],
        ["sums-zh", "words", "4", "8"],
        ["programs", "code", "2", "4"],
    ]
    assert [line.split()[5:] for line in sets] == [
        ["1", "4", "0"],
        ["1", "4", "0"],
        ["0", "8", "0"],
    ]
    # No n-gram of one of these is in another.
    assert sum(int(line.split()[4]) for line in sets) == index.ngrams > 0
    assert first == "too short to be judged, sums: double"
    assert second == "too short to be judged, sums-zh: 加"
    assert index.nbytes == (folder / "made" / "a.index").stat().st_size
    each = index.nbytes / index.ngrams
    assert size == f"{index.ngrams:,} n-grams, {index.nbytes:,} bytes ({each:,.1f} an n-gram)"
    assert fingerprint == f"fingerprint {index.fingerprint}"


def test_one_file_whatever_the_way(folder: Path, clean: Cli) -> None:
    """From a file or options, at once or merged, by itself or over an old index: the same bytes."""
    write("sums.yaml", {"tests": {"sums": TESTS["sums"], "sums-zh": [TESTS["sums-zh"]]}})
    write("programs.yaml", {"tests": {"programs": PROGRAMS}})
    settings = ("--set", "sums=tests/sums.jsonl", "--set", "sums-zh=tests/*-zh.jsonl")
    for arguments in [
        ("build", "tests.yaml", "--output", "a"),
        ("build", "sums.yaml", "--output", "b"),
        ("build", *settings, "--output", "c"),
        ("build", "programs.yaml", "--output", "d"),
        ("merge", "c", "d", "--output", "e"),
        ("build", "programs.yaml", "--set", "more=tests/sums.jsonl", "--output", "f"),
        ("merge", "c", "d", "--output", "d"),
    ]:
        ended = clean("index", *arguments)
        assert ended.code == 0, ended.err
    data = {name: (folder / name).read_bytes() for name in "abcdef"}
    assert data["b"] == data["c"] and data["a"] == data["d"] == data["e"] != data["b"]
    assert [entry.name for entry in ItemIndex.open("f").sets] == ["programs", "more"]


def test_names_of_files_are_names_of_sets(folder: Path, clean: Cli) -> None:
    assert clean("index", "build", "names.yaml", "--output", "a").code == 0
    names = [entry.name for entry in ItemIndex.open("a").sets]
    assert names == ["programs", "sums-zh", "sums"]


def test_options_that_weigh(folder: Path, clean: Cli) -> None:
    jsonl(
        folder / "texts.jsonl", [{"text": "A ferry carries us home. Mira bakes twelve pies."}] * 2
    )
    one = ("index", "build", "--set", "sums=tests/sums.jsonl", "--output", "a")
    ended = clean(*one, "--min-weight", "30.5", "--reference", "texts.*")
    (entry,) = ItemIndex.open("a").sets
    assert (entry.min_weight, entry.reference) == (30.5, 2)
    assert ended.out.splitlines()[1].split()[6:] == ["30.5", "2"]
    assert set(entry.too_short) > {"double"}


def test_ids_too_short(folder: Path, clean: Cli) -> None:
    """The first 20 by default, all when asked."""
    jsonl(folder / "short.jsonl", [{"id": f"[b]{n}", "q": f"w{n}"} for n in range(1030)])
    clean("index", "build", "--set", "short=short.jsonl", "--output", "a")
    ids = [f"[b]{n}" for n in range(1030)]
    shown, more = clean("index", "show", "a"), clean("index", "show", "a", "--all")
    lines = shown.out.splitlines()
    start = "too short to be judged, short: "
    assert lines[1].split()[2:6] == ["1,030", "1,030", "0", "1,030"]
    assert lines[2] == (
        f"{start}{', '.join(ids[:20])}, and 1,010 more (cleanpipe index show --all)"
    )
    assert more.out.splitlines()[2] == f"{start}{', '.join(ids)}"
    assert lines[3].startswith("0 n-grams, ") and "an n-gram" not in lines[3]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("build --output a", "expected test sets: a file with a map `tests`, or --set NAME=PATH"),
        ("build none.yaml --output a", "none.yaml: No such file or directory"),
        ("build list.yaml --output a", "list.yaml: expected the key `tests`, a map of test sets"),
        ("build empty.yaml --output a", "empty.yaml: expected the key `tests`, a map of test sets"),
        (
            "build pipe.yaml --output a",
            "pipe.yaml: expected the key `tests`, a map of test sets, got stages, output",
        ),
        (
            "build other.yaml --output a",
            "other.yaml:5:2: min_weight: unknown parameter; known: tests",
        ),
        (
            "build typo.yaml --output a",
            "typo.yaml:5:4: tests.a.tokens: expected 'words' or 'code', got \"cod\"\n"
            "typo.yaml:7:3: tests.b: expected a path, a list of paths, or a map with paths, got 5",
        ),
        (
            "build wrong.yaml --output a",
            'wrong.yaml:3:3: tests.a: tests/programs.jsonl: no item has "promt"; did you mean '
            '"prompt"? known: canonical_solution, prompt, task_id\n'
            "wrong.yaml:11:3: tests.b: no file matches tests/no.jsonl",
        ),
        (
            "build action.yaml --output a",
            "action.yaml:11:4: tests.programs.action: an index has no actions: give it to the "
            "stage, as `action: {programs: drop}`",
        ),
        ("build --set sums --output a", '--set: expected NAME=PATH, got "sums"'),
        ("build --set =b.jsonl --output a", '--set: expected NAME=PATH, got "=b.jsonl"'),
        ("build --set a=no.jsonl --output a", "--set a: no file matches no.jsonl"),
        (
            "build --set a=tests --output a",
            "--set a: tests is a folder: write tests/* for its files",
        ),
        (
            "build --set a!=tests/sums.jsonl --output a",
            '--set: "a!" is no name of a test set: expected letters, digits, _ - . only',
        ),
        (
            "build --set a=tests/sums.jsonl --set a=tests/sums-zh.jsonl --output a",
            "--set a: is given twice: name one otherwise",
        ),
        (
            "build tests.yaml --set sums=tests/sums.jsonl --output a",
            '--set sums: tests.yaml has a test set "sums" too: rename one',
        ),
        (
            "build tests.yaml --min-weight 0 --output a",
            "--min-weight: expected a weight above 0, got 0.0",
        ),
        (
            "build tests.yaml --min-weight nan --output a",
            "--min-weight: expected a weight above 0, got nan",
        ),
        (
            "build tests.yaml --reference no/*.txt --output a",
            "--reference: no file matches no/*.txt",
        ),
        (
            "build tests.yaml --reference tests/sums.jsonl --output a",
            "--reference: expected JSON lines or Parquet with a column `text`, or text: no column "
            "`text` in any sampled line: there are `answer`, `question`, `id`",
        ),
        (
            "build tests.yaml --reference typo.yaml --output a",
            "--reference: expected JSON lines or Parquet with a column `text`, or text: the name "
            "says no format: `typo.yaml`",
        ),
        (
            "build tests.yaml --reference numbers.jsonl --output a",
            "reference: no file has a text",
        ),
        (
            "build tests.yaml --output notes.txt",
            "--output: notes.txt is there and no index of test sets: move it, or name another file",
        ),
        (
            "merge sums.index --output empty",
            "--output: empty is there and no index of test sets: move it, or name another file",
        ),
        ("build tests.yaml --output tests", "--output: tests is a folder: name a file in it"),
        ("build tests.yaml --output s3://b/a", "--output: s3://b/a: expected a local file"),
        (
            "merge sums.index both.index --output a",
            'both.index: sums.index has a test set "sums" too: build one of them again under '
            "another name",
        ),
    ],
)
def test_refused(folder: Path, clean: Cli, arguments: str, said: str) -> None:
    """With one sentence a fault and exit status 2; nothing is written."""
    for name, sets in (("sums", ("sums",)), ("both", ("sums-zh", "sums"))):
        settings = [x for each in sets for x in ("--set", f"{each}=tests/{each}.jsonl")]
        clean("index", "build", *settings, "--output", f"{name}.index")
    before = content(folder, ["."])
    ended = clean("index", *arguments.split())
    assert (ended.code, ended.out, ended.err) == (2, "", f"{said}\n")
    assert content(folder, ["."]) == before


@pytest.mark.parametrize("verb", ["show", "merge"])
@pytest.mark.parametrize("file", ["none", "tests", "notes.txt", "empty", "damaged", "old"])
def test_files_that_are_no_index(
    folder: Path, clean: Cli, monkeypatch: pytest.MonkeyPatch, verb: str, file: str
) -> None:
    """Each is named; one of another version, or damaged, may be built over."""
    build = ("index", "build", "--set", "sums=tests/sums.jsonl", "--output")
    clean(*build, "damaged")
    data = bytearray((folder / "damaged").read_bytes())
    data[-9] ^= 1
    (folder / "damaged").write_bytes(data)
    with monkeypatch.context() as patch:
        patch.setattr(index_file, "FORMAT", index_file.FORMAT + 1)
        clean(*build, "old")
    more = ("--output", "a") if verb == "merge" else ()
    ended = clean("index", verb, file, *more)
    assert ended.code == 2 and ended.out == "" and not (folder / "a").exists()
    assert ended.err.startswith(f"{file}: ") and ended.err.count("\n") == 1
    if file in ("damaged", "old"):
        assert "build one with `cleanpipe index build`" in ended.err
        assert clean(*build, file).code == 0 and clean("index", "show", file).code == 0


def leaky(folder: Path, **more: Any) -> dict[str, Any]:
    """Sources of 60 documents in 2 files, into some of which test items are planted."""
    chance = random.Random(11)
    items = [
        text
        for name in ("sums", "sums-zh")
        for line in (folder / "tests" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        for text in [json.loads(line)["question"], json.loads(line)["answer"]]
    ]
    known = (ROOT / "examples" / "leaks.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [json.loads(line)["text"] for line in known] * 5
    for number in range(25):
        chosen = chance.sample(items, chance.choice([0, 1, 2]))
        texts.append("\n".join([f"Entry {number} of a diary.", *chosen, "Then it rained."]))
    chance.shuffle(texts)
    documents = [{"id": f"d{number}", "text": text} for number, text in enumerate(texts)]
    jsonl(folder / "a.jsonl", documents[:25])
    jsonl(folder / "b.jsonl", documents[25:])
    return {"web": {"paths": "a.jsonl"}, "books": {"paths": "b.jsonl"}}


@pytest.mark.parametrize("runner", ["inline", "ray"])
def test_an_index_finds_what_its_test_sets_do(folder: Path, clean: Cli, runner: str) -> None:
    """Every file of the output has the same bytes, under either runner."""
    clean("index", "build", "tests.yaml", "--output", "tests.index")
    sources = leaky(folder)
    outputs = []
    for given, how in (({"tests": TESTS}, "inline"), ({"index": "tests.index"}, runner)):
        stages = [{"contamination": {**given, "action": ACTIONS}}, {"exact": {}}]
        path = pipeline(folder, sources, stages, shard_bytes="2KB")
        outputs.append(folder / f"out-{'-'.join(given)}")
        run(path, outputs[-1], runner=how, **({"workers": 2} if how == "ray" else {}))
    plain, indexed = outputs
    folders = [*FOLDERS, "matches"]
    assert content(indexed, folders) == content(plain, folders)
    assert {**summary(indexed), "plan": None} == {**summary(plain), "plan": None}
    found = rows(indexed, "matches")
    assert {(row["test_set"], row["action"]) for row in found} == set(ACTIONS.items())
    assert rows(indexed, "edits") and rows(indexed, "dropped")


def test_format_none_reports(folder: Path, clean: Cli) -> None:
    """A corpus that is clean already: nothing is written of it, all is told."""
    clean("index", "build", "tests.yaml", "--output", "tests.index")
    stage = {"contamination": {"index": "tests.index", "action": "flag"}}
    output = {"path": "out", "format": "none"}
    path = pipeline(folder, leaky(folder), [stage], output=output)
    ended = clean("run", path, "--runner", "inline")
    assert ended.code == 0 and not (folder / "out" / "kept").exists()
    made = {each["name"]: each for each in summary(folder / "out")["test_sets"]}
    for name, number, short in (("sums", 6, 1), ("sums-zh", 4, 1), ("programs", 2, 0)):
        mine = {
            row["test_item"] for row in rows(folder / "out", "matches") if row["test_set"] == name
        }
        assert (made[name]["items"], made[name]["too_short"]["number"]) == (number, short)
        assert made[name]["found"] == len(mine) > 0
        assert f"contamination: {name} " in ended.out
