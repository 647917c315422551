"""The command line: exit codes, sentences on stderr, options; see also tests/run/."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from cleanpipe import cli
from cleanpipe.recipes import recipes

from .conftest import Cli
from .jobs import LENGTH, SAMPLE, call, jsonl, pipeline, rows, summary

DOCUMENTS = [{"id": f"d{number}", "text": "word " * number} for number in range(6)]


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A pipeline over six documents of 0 to 5 tokens, of which the first three are dropped."""
    jsonl(tmp_path / "a.jsonl", DOCUMENTS)
    return pipeline(tmp_path, {"s": {"paths": "a.jsonl"}}, LENGTH)


@pytest.fixture
def faulty(tmp_path: Path) -> Path:
    """A pipeline file with two mistakes."""
    path = tmp_path / "faulty.yaml"
    path.write_text(
        "sources:\n  s: {paths: a.jsonl}\nstages:\n  - lenght: {}\n  - length: {tokens: [5, x]}\n"
    )
    jsonl(tmp_path / "a.jsonl", DOCUMENTS)
    return path


def test_run(small: Path, clean: Cli) -> None:
    ended = clean("run", small)
    assert ended.code == 0
    head, row, totals, _ = ended.out.splitlines()
    assert head.split() == [
        "stage",
        "in",
        "judged",
        "dropped",
        "share",
        "units",
        "removed",
        "seconds",
    ]
    assert row.split()[:5] == ["length", "6", "6", "3", "50.0%"]
    assert "6 documents in: 3 kept, 3 dropped, 0 dead" in totals
    assert f"results: {small.parent / 'out'}" in ended.out
    assert "clean: 1/1 shards  6 documents" in ended.err


def test_quiet_prints_nothing(small: Path, clean: Cli) -> None:
    ended = clean("run", small, "--quiet")
    assert (ended.code, ended.out, ended.err) == (0, "", "")
    assert len(rows(small.parent / "out", "kept")) == 3


def test_output_and_input_are_relative_to_the_working_directory(
    small: Path, tmp_path: Path, clean: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    jsonl(tmp_path / "here" / "b.jsonl", [{"id": "b", "text": "one two three"}])
    ended = clean("run", small, "--input", "*.jsonl", "--output", "there")
    assert ended.code == 0, ended.err
    kept = rows(tmp_path / "here" / "there", "kept")
    assert [(row["id"], row["cleanpipe"]["source"]) for row in kept] == [("b", "input")]
    assert kept[0]["cleanpipe"]["file"] == "b.jsonl"


def test_set(small: Path, clean: Cli) -> None:
    ended = clean("run", small, "--set", "length.tokens.min=5", "--set", "run.batch_bytes=10")
    assert ended.code == 0
    assert [row["id"] for row in rows(small.parent / "out", "kept")] == ["d5"]
    ended = clean("plan", small, "--set", "lenght.tokens.min=5", "--set", "output.format=xml")
    assert ended.code == 2
    assert "lenght" in ended.err and "length" in ended.err and "format" in ended.err


def test_faults_are_sentences_with_places(faulty: Path, clean: Cli) -> None:
    for verb in ("run", "plan", "check"):
        ended = clean(verb, faulty)
        assert ended.code == 2 and ended.out == ""
        first, second = ended.err.splitlines()
        assert first.startswith(f"{faulty}:4:5: stages[0].lenght: unknown stage")
        assert "length" in first
        assert second.startswith(f"{faulty}:5:")
        assert "stages[1].length.tokens" in second
    assert clean("plan", faulty, "--check").code == 2


def test_a_traceback_only_with_debug(faulty: Path) -> None:
    for arguments in (("check", faulty, "--debug"), ("--debug", "check", faulty)):
        ended = call(*arguments)
        assert ended.returncode != 0 and "Traceback" in ended.stderr
    ended = call("check", faulty)
    assert ended.returncode == 2 and "Traceback" not in ended.stderr


def test_a_defect_is_a_sentence_too(
    small: Path, clean: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("nothing to divide")

    monkeypatch.setattr(cli, "run_plan", broken)
    ended = clean("run", small)
    assert ended.code == 1 and "nothing to divide" in ended.err and "--debug" in ended.err
    assert "Traceback" not in ended.err


def test_check(small: Path, clean: Cli) -> None:
    for arguments in (("check", small), ("plan", small, "--check")):
        ended = clean(*arguments)
        assert (ended.code, ended.out) == (0, f"{small}: no faults\n")
    os.unlink(small.parent / "a.jsonl")
    ended = clean("check", small)
    assert ended.code == 2 and "sources.s.paths: `a.jsonl` matches no file" in ended.err


def test_plan(small: Path, clean: Cli) -> None:
    ended = clean("plan", small)
    assert ended.code == 0
    assert "phase 0: one task a shard" in ended.out and "length.tokens" in ended.out
    assert "run: 1 shards" in ended.out and "scratch: none" in ended.out
    assert not (small.parent / "out").exists()
    fingerprint = ended.out.split()[1]
    clean("run", small)
    assert summary(small.parent / "out")["plan"] == fingerprint


@pytest.mark.parametrize("verb", ["run", "plan", "check"])
def test_unknown_recipe_and_missing_file(verb: str, clean: Cli) -> None:
    ended = clean(verb, "startr")
    assert ended.code == 2 and "no recipe of that name" in ended.err and "starter" in ended.err
    ended = clean(verb, "no/such.yaml")
    assert ended.code == 2 and "no/such.yaml" in ended.err and "Traceback" not in ended.err


def test_a_recipe_without_sources_needs_an_input(clean: Cli, tmp_path: Path) -> None:
    ended = clean("run", "starter", "--output", tmp_path / "out")
    assert ended.code == 2 and "sources: expected sources, or --input GLOB" in ended.err
    help_pages = SAMPLE / "help.jsonl.zst"
    ended = clean("run", "starter", "--input", help_pages)
    assert ended.code == 2 and "expected output.path, or --output DIR" in ended.err
    ended = clean("run", "starter", "--input", help_pages, "--output", tmp_path / "out")
    assert ended.code == 0, ended.err
    assert summary(tmp_path / "out")["documents"]["in"] == 486


@pytest.mark.parametrize("name", sorted({*recipes()} - {"ccnet"}))  # which needs models
def test_init_prints_a_file_that_plans(name: str, clean: Cli, tmp_path: Path) -> None:
    ended = clean("init", name)
    assert ended.code == 0 and ended.out.startswith("#")
    path = tmp_path / "mine.yaml"
    path.write_text(ended.out)
    assert clean("check", path).code == 0
    assert clean("init", "nothing-like-it").code == 2


def test_stages(clean: Cli) -> None:
    ended = clean("stages")
    assert ended.code == 0
    for name in ("language", "length", "gopher_quality", "exact", "remove", "symbol_share"):
        assert f"  {name} " in ended.out
    ended = clean("stages", "length")
    assert ended.code == 0 and "tokens" in ended.out and "also written" in ended.out
    assert clean("stages", "symbol_share").code == 0
    assert "    index: " in clean("stages", "contamination").out
    ended = clean("stages", "lenght")
    assert ended.code == 2 and 'unknown stage or measure "lenght"' in ended.err


def test_explain(small: Path, clean: Cli) -> None:
    clean("run", small)
    ended = clean("explain", small.parent / "out", "d1")
    assert ended.code == 0
    assert "FAILS  length.tokens = 1, must be >= 3" in ended.out
    assert "=> dropped by length.tokens" in ended.out
    assert "=> kept" in clean("explain", small.parent / "out", "a.jsonl:4").out
    ended = clean("explain", small.parent / "out", "nobody")
    assert ended.code == 2 and 'no document has the id "nobody"' in ended.err
    ended = clean("explain", small.parent, "d1")
    assert ended.code == 2 and "holds no run" in ended.err


def test_wrong_usage_is_2(small: Path, clean: Cli) -> None:
    assert clean("run", small, "--runner", "slurm").code == 2
    assert clean("run", small, "--workers", "0").code == 2
    assert clean("fly").code == 2
    assert clean("run").code == 2


def test_an_unwritable_output_is_1(small: Path, clean: Cli) -> None:
    ended = clean("run", small, "--output", "/proc/cleanpipe")
    assert ended.code == 1 and "/proc/cleanpipe" in ended.err and "Traceback" not in ended.err


def test_module_and_script_are_one(small: Path) -> None:
    ended = call("run", small)
    assert ended.returncode == 0, ended.stderr
    assert json.loads((small.parent / "out" / "summary.json").read_text())["documents"]["in"] == 6
    assert call().returncode == 2


def test_doubts_about_sources(tmp_path: Path, clean: Cli) -> None:
    line = json.dumps({"text": "一二三四五六七八九十"}, ensure_ascii=False) + "\n"
    (tmp_path / "a.jsonl").write_bytes(line.encode("gbk") * 3 + b"{}\n")
    (tmp_path / "b.txt").write_bytes(b"abc\n" * 30 + b"\xff\n")
    (tmp_path / "bad").write_text("bad.com\n")
    (tmp_path / "p.yaml").write_text(
        "sources: {a: {paths: a.jsonl}, b: {paths: b.txt}}\n"
        "stages:\n  - domains: {lists: bad}\n"
        "  - domains: {lists: bad}\n    name: some\n    when: {source: a}\n"
    )
    sentences = [
        "sources.a: 3 of 4 sampled lines are not UTF-8: are they gb18030? write encoding: gb18030",
        'domains: it goes by addresses, and source "a", "b" has no column of them',
    ]
    for command in (["check"], ["plan"], ["run", "--output", str(tmp_path / "out")]):
        done = clean(command[0], tmp_path / "p.yaml", *command[1:])
        assert done.code == 0
        told = [x for x in (done.out + done.err).splitlines() if x.startswith("warning: ")]
        for said, sentence in zip(told, sentences, strict=True):
            assert said.startswith(f"warning: {sentence}")
    assert "1 dead, 1 of them no_text (" in done.err
    assert f"see {tmp_path / 'out'}/dead" in done.err
    assert "1 dead, 4 with ill-formed bytes replaced;" in done.out
    done = clean("check", tmp_path / "p.yaml", "--set", "sources.a.encoding=gbk")
    assert "UTF-8" not in done.err
