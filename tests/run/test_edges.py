"""Refusals, odd inputs, several sources, and stores that are no local folder."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cleanpipe import BusyError, ChangedError, ConfigError, Pipeline, RunError, tasks
from cleanpipe.ledger import held
from cleanpipe.readers import ReadBatch, read
from cleanpipe.runner import make_runner
from cleanpipe.store import Store

from ..conftest import Cli
from ..jobs import LENGTH, ROOT, content, jsonl, parts, pipeline, rows, run, summary

DOCUMENTS = [{"id": f"d{number}", "text": "word " * number} for number in range(6)]


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A pipeline over six documents of 0 to 5 tokens, of which the first three are dropped."""
    jsonl(tmp_path / "a.jsonl", DOCUMENTS)
    return pipeline(tmp_path, {"s": {"paths": "a.jsonl"}}, LENGTH)


def faults(path: Path) -> str:
    with pytest.raises(ConfigError) as caught:
        run(path)
    return str(caught.value)


def test_a_changed_plan_is_refused(small: Path, clean: Cli) -> None:
    assert clean("run", small).code == 0
    before = content(small.parent / "out")
    ended = clean("run", small, "--set", "length.tokens.min=2")
    assert ended.code == 2
    assert re.search(r"length\.parameters\.tokens: was \[3.*, null\], now \[2.*, null\]", ended.err)
    assert "--fresh" in ended.err and "Traceback" not in ended.err
    assert content(small.parent / "out") == before


def test_a_changed_input_is_refused(small: Path) -> None:
    run(small)
    jsonl(small.parent / "a.jsonl", [*DOCUMENTS, {"id": "new", "text": "one two three four"}])
    with pytest.raises(ChangedError, match=r"inputs\.files\.a\.jsonl: was .* bytes"):
        run(small)
    jsonl(small.parent / "b.jsonl", DOCUMENTS)
    tree = json.loads(small.read_text())
    pipeline(small.parent, {"s": {"paths": "?.jsonl"}}, tree["stages"])
    with pytest.raises(ChangedError, match="b.jsonl: new"):
        run(small)


def test_a_changed_list_is_refused(tmp_path: Path) -> None:
    jsonl(tmp_path / "a.jsonl", DOCUMENTS)
    (tmp_path / "bad.txt").write_text("casino\n")
    stage = {"blocklist": {"phrases": "bad.txt", "hits": [None, 0]}}
    path = pipeline(tmp_path, {"s": {"paths": "a.jsonl"}}, [stage])
    run(path)
    (tmp_path / "bad.txt").write_text("word\n")
    with pytest.raises(ChangedError, match=r"resources\.bad\.txt: was"):
        run(path)


def test_fresh_moves_aside(small: Path, clean: Cli) -> None:
    run(small)
    out = small.parent / "out"
    before = content(out)
    ended = clean("run", small, "--fresh", "--set", "length.tokens.min=2")
    assert ended.code == 0 and "moved to" in ended.err
    assert content(small.parent / "out.old-1") == before
    assert summary(out)["documents"]["kept"] == 4
    assert clean("run", small, "--fresh").code == 0
    assert (small.parent / "out.old-2" / "summary.json").exists()
    assert content(out) == before


def test_output_that_is_not_ours_is_refused(small: Path) -> None:
    out = small.parent / "out"
    out.mkdir()
    (out / "thesis.tex").write_text("years of work")
    assert "not empty and holds no run" in faults(small)
    assert [path.name for path in out.iterdir()] == ["thesis.tex"]
    # --fresh moves a run aside, never what may be somebody's home.
    with pytest.raises(ChangedError, match="holds no run"):
        run(small, fresh=True)
    assert (out / "thesis.tex").read_text() == "years of work"


def test_output_that_is_a_file_is_refused(small: Path, clean: Cli) -> None:
    (small.parent / "out").write_text("a file")
    ended = clean("run", small)
    assert ended.code in (1, 2) and "Traceback" not in ended.err, ended.err
    assert "out" in ended.err


def test_an_empty_folder_is_fine(small: Path) -> None:
    (small.parent / "out").mkdir()
    assert run(small).summary["documents"]["in"] == 6


def test_input_inside_the_output_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    jsonl(tmp_path / "out" / "a.jsonl", DOCUMENTS)
    path = pipeline(tmp_path, {"s": {"paths": "out/*.jsonl"}}, LENGTH)
    assert "lies in the output folder" in faults(path)
    # A symbolic link leads there too.
    (tmp_path / "link").symlink_to(tmp_path / "out")
    path = pipeline(tmp_path, {"s": {"paths": "link/*.jsonl"}}, LENGTH)
    assert "lies in the output folder" in faults(path)


def test_two_runs_at_once(small: Path, clean: Cli) -> None:
    store = Store(str(small.parent / "out"))
    with held(store):
        with pytest.raises(BusyError, match="another run is writing to"):
            run(small)
        assert clean("run", small).code == 1
        assert clean("run", small, "--fresh").code == 1
    assert run(small).summary["documents"]["in"] == 6


def test_the_lock_goes_with_its_process(small: Path) -> None:
    """A killed run holds nothing."""
    out = str(small.parent / "out")
    code = (
        "import os, signal; from cleanpipe.ledger import held; from cleanpipe.store import Store\n"
        f"with held(Store({out!r})): os.kill(os.getpid(), signal.SIGKILL)"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False)
    assert ended.returncode == -9
    assert run(small).summary["documents"]["in"] == 6


def test_one_file_in_two_sources(tmp_path: Path) -> None:
    jsonl(tmp_path / "a.jsonl", DOCUMENTS)
    sources = {"one": {"paths": "*.jsonl"}, "two": {"paths": "./a.jsonl"}}
    message = faults(pipeline(tmp_path, sources, LENGTH))
    assert "`./a.jsonl` is read twice: also as `a.jsonl` of source `one`" in message


def test_sources_with_differing_columns(tmp_path: Path) -> None:
    """In source order, then by path bytes; columns of one name go together."""
    jsonl(tmp_path / "b.jsonl", [{"key": 7, "body": "one two three", "stars": 4}])
    jsonl(tmp_path / "a.jsonl", [{"key": "k", "body": "a b c d", "stars": 4.5, "lang": "en"}])
    table = pa.table(
        {"text": ["uno dos tres", "eins"], "language": ["es", "de"], "url": ["http://x/1", None]}
    )
    pq.write_table(table, tmp_path / "t.parquet")
    (tmp_path / "n.txt").write_text("first line of notes\nsecond line of notes\n")
    sources = {
        "shop": {"paths": ["b.jsonl", "a.jsonl"], "text": "body", "id": "key"},
        "table": {"paths": "t.parquet", "rename": {"language": "declared"}},
        "notes": {"paths": "n.txt", "document": "line"},
    }
    out = Path(run(pipeline(tmp_path, sources, LENGTH)).folder)
    kept = rows(out, "kept")
    assert [
        (row["id"], row["text"], row["stars"], row["lang"], row["declared"]) for row in kept
    ] == [
        ("k", "a b c d", 4.5, "en", None),
        ("7", "one two three", 4.0, None, None),
        ("t.parquet:0", "uno dos tres", None, None, "es"),
        ("n.txt:0", "first line of notes", None, None, None),
        ("n.txt:1", "second line of notes", None, None, None),
    ]
    lineage = [row["cleanpipe"] for row in kept]
    assert [(c["source"], c["file"], c["row"]) for c in lineage] == [
        ("shop", "a.jsonl", 0),
        ("shop", "b.jsonl", 0),
        ("table", "t.parquet", 0),
        ("notes", "n.txt", 0),
        ("notes", "n.txt", 1),
    ]
    assert [row["url"] for row in kept][2] == "http://x/1"
    schemas = {tuple(table.schema.names) for table in parts(out, "kept").values()}
    assert len(schemas) == 1
    assert rows(out, "dropped")[0]["id"] == "t.parquet:1"


def test_a_clash_says_what_to_rename(tmp_path: Path) -> None:
    jsonl(tmp_path / "a.jsonl", [{"id": "1", "content": "one two three", "text": "teaser"}])
    source = {"paths": "a.jsonl", "text": "content"}
    assert "rename: {text: s_text}" in faults(pipeline(tmp_path, {"s": source}, LENGTH))
    source = {**source, "rename": {"text": "s_text"}}  # type: ignore[dict-item]
    out = Path(run(pipeline(tmp_path, {"s": source}, LENGTH)).folder)
    assert [row["s_text"] for row in rows(out, "kept")] == ["teaser"]


def test_urls_and_ids(tmp_path: Path) -> None:
    jsonl(
        tmp_path / "a.jsonl",
        [
            {"url": "http://x/1", "id": 5, "text": "a"},
            {"url": "http://x/2", "id": None, "text": "b"},
            {"url": None, "text": "c"},
            {"url": "http://x/4", "id": "same", "text": "d"},
            {"url": "http://x/5", "id": "same", "text": "e"},
        ],
    )
    out = Path(run(pipeline(tmp_path, {"s": {"paths": "a.jsonl"}}, LENGTH)).folder)
    assert [(row["id"], row["url"]) for row in rows(out, "dropped")] == [
        ("5", "http://x/1"),
        ("a.jsonl:1", "http://x/2"),
        ("a.jsonl:2", None),
        ("same", "http://x/4"),
        ("same", "http://x/5"),
    ]


def test_what_cannot_be_read_is_dead(tmp_path: Path) -> None:
    good = {"id": "1", "text": "one two three"}
    lines = [good, {"id": "2", "text": None}, {"id": "3"}, "{", {"id": "4", "text": ["no"]}, good]
    jsonl(tmp_path / "a.jsonl", lines)
    whole = b"".join(json.dumps({"text": f"a b c {n}"}).encode() + b"\n" for n in range(5000))
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(whole)[:-2000])
    (tmp_path / "c.parquet").write_bytes(b"PAR1 this is none")
    pq.write_table(pa.table({"text": ["x y z"]}), tmp_path / "d.parquet")
    sources = {
        "lines": {"paths": ["a.jsonl", "b.jsonl.gz"]},
        "tables": {"paths": "*.parquet"},
    }
    out = Path(run(pipeline(tmp_path, sources, LENGTH), None, "guards=off").folder)
    dead = [(row["file"], row["row"], row["reason"]) for row in rows(out, "dead")]
    read = sum(row["cleanpipe"]["file"] == "b.jsonl.gz" for row in rows(out, "kept"))
    assert 0 < read < 5000
    assert dead == [
        ("a.jsonl", 1, "no_text"),
        ("a.jsonl", 2, "no_text"),
        ("a.jsonl", 3, "bad_json"),
        ("a.jsonl", 4, "no_text"),
        ("b.jsonl.gz", read, "truncated"),
        ("c.parquet", None, "unreadable"),
    ]
    assert summary(out)["documents"]["dead"] == 6


@pytest.fixture
def memory() -> Iterator[str]:
    """A folder behind an fsspec URL, emptied afterwards."""
    yield "memory://e2e"
    fs = fsspec.filesystem("memory")
    if fs.exists("/e2e"):
        fs.rm("/e2e", recursive=True)


def test_memory_in_and_out(memory: str, small: Path) -> None:
    """The same bytes as in a local folder, but for the names of the files; resumable too."""
    with fsspec.open(f"{memory}/in/a.jsonl", "wb") as file:
        file.write((small.parent / "a.jsonl").read_bytes())
    made = Pipeline.from_dict({"stages": [*LENGTH, {"exact": {}}]})
    result = made.run(f"{memory}/in/*.jsonl", output=f"{memory}/out", runner="inline")
    assert [row["id"] for row in result.kept.to_pylist()] == ["d3", "d4", "d5"]
    assert result.kept.to_pylist()[0]["cleanpipe"]["file"] == f"{memory}/in/a.jsonl"
    fs = fsspec.filesystem("memory")
    names = {name.removeprefix("/e2e/out/") for name in fs.find("/e2e/out")}
    assert {"summary.json", "kept/part-00000-000.parquet", "dead/part-00000.parquet"} <= names
    assert not any("scratch" in name or "lock" in name for name in names)
    assert result.explain("d4").agrees
    again = made.run(f"{memory}/in/*.jsonl", output=f"{memory}/out", runner="inline")
    assert again.summary == result.summary
    moved = made.run(f"{memory}/in/*.jsonl", output=f"{memory}/out", runner="inline", fresh=True)
    assert moved.kept == result.kept and fs.exists("/e2e/out.old-1/summary.json")


def test_a_file_that_vanishes_is_an_error_not_a_dead_record(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = make_runner

    def vanish(*arguments: object) -> object:
        os.unlink(small.parent / "a.jsonl")
        return runner(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr("cleanpipe.run.make_runner", vanish)
    with pytest.raises(RunError, match=r"a\.jsonl"):
        run(small)
    assert not (small.parent / "out" / "summary.json").exists()


def test_a_file_that_changes_during_the_run_fails_it(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was counted before would not be what is read after."""
    source = small.parent / "a.jsonl"

    def reading(*arguments: Any) -> Iterator[ReadBatch]:
        yield from read(*arguments)
        with source.open("ab") as file:
            file.write(b'{"text": "one more line than there was"}\n')

    monkeypatch.setattr(tasks, "read", reading)
    with pytest.raises(RunError, match="a.jsonl changed during the run: it had"):
        run(small)
    assert not (small.parent / "out" / "summary.json").exists()


@pytest.mark.parametrize(
    "stage",
    [
        {"length": {"tokens": [1, None]}, "when": {"language": "en"}},
        {"minhash": {"ngram": {"default": 5, "zh": 9}}},
        {"minhash": {"prefer": [{"language": ["zh"]}, {"language.score": "highest"}]}},
        {"minhash": {}, "when": {"language": "en"}},
        {"rule": {"measure": "language.score", "min": 0}},
    ],
)
def test_a_batch_without_any_document_that_has_the_label(
    tmp_path: Path, stage: dict[str, Any]
) -> None:
    ks = ["y"] * 5 + ["n"] * 95
    lines = [{"text": f"some words of text, number {n}", "k": k} for n, k in enumerate(ks)]
    source = tmp_path / "in.jsonl"
    source.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    spec = {
        "sources": {"s": {"paths": str(source)}},
        "stages": [{"language": {}, "when": {"column.k": "y"}}, stage],
    }
    made = {}
    for size in ("8MiB", "1KB"):
        output = tmp_path / size
        Pipeline.from_dict({**spec, "run": {"batch_bytes": size}}).run(output=str(output))
        made[size] = content(output)
    assert made["8MiB"] == made["1KB"]
