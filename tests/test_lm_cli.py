"""``cleanpipe lm train``: what it makes, of which order nothing depends, and what it refuses."""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cleanpipe.filters.language_models import pieces_of as opened_pieces
from cleanpipe.filters.language_models import stated
from cleanpipe.filters.lm_training import training_lines
from cleanpipe.filters.perplexity import Perplexity
from cleanpipe.filters.profiles import ProfileName
from cleanpipe.parameters import LocalPath
from cleanpipe.units import Units

from .conftest import Cli, Ended
from .jobs import command, environment, jsonl
from .kenlm_programs import kenlm_programs
from .language_models import pieces_of

PLACES = {"words": "/en-US/", "characters": "/zh-CN/", "ccnet": "/en-US/"}


@pytest.fixture(scope="session")
def texts(documents: list[dict[str, Any]]) -> dict[str, list[str]]:
    """By profile, pages of its language."""
    return {
        profile: [row["text"] for row in documents if place in row["id"]]
        for profile, place in PLACES.items()
    }


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> Path:
    """KenLM's, on the PATH."""
    folder = kenlm_programs()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, texts: dict[str, list[str]]) -> Path:
    """The working directory, with English pages."""
    monkeypatch.chdir(tmp_path)
    jsonl(tmp_path / "en.jsonl", [{"text": text} for text in texts["words"]])
    return tmp_path


def train(clean: Cli, output: str = "out.bin", *more: str, **options: str) -> Ended:
    given = {"text": "en.jsonl", "profile": "words", "order": "3", "memory": "64M", **options}
    flat = [
        part for name, value in given.items() for part in (f"--{name.replace('_', '-')}", value)
    ]
    return clean("lm", "train", *flat, "--output", output, *more)


def units(texts: Sequence[str]) -> Units:
    return Units(pa.array(texts, pa.large_string()))


@pytest.mark.parametrize("profile", ["words", "characters", "ccnet"])
def test_as_kenlm_s_own_query_has_it(
    folder: Path, clean: Cli, programs: Path, texts: dict[str, list[str]], profile: ProfileName
) -> None:
    """The sums of log10 on held-out text; and what stands beside the model."""
    wanted = texts[profile]
    jsonl(Path("train.jsonl"), [{"text": text} for text in wanted[20:]])
    jsonl(Path("held.jsonl"), [{"text": text} for text in wanted[:40]])
    options = {"text": "train.jsonl", "held_out": "held.jsonl", "profile": profile}
    spm = None
    if profile == "ccnet":
        pieces_of(Path("given.model"), wanted, 400)
        options["spm"] = "given.model"
        spm = "out.bin.sp.model"
    ended = train(clean, **options, language="xx")
    assert ended.code == 0, ended.err
    assert "percentiles of 39 held-out documents only" in ended.err  # one has but a few tokens

    model = LocalPath("out.bin")
    found = stated(model)
    assert found is not None and found.percentiles is not None
    assert (found.profile, found.spm, found.order, found.language) == (profile, spm, 3, "xx")
    assert found.sha256 == hashlib.sha256(Path(model).read_bytes()).hexdigest()
    stage = Perplexity(model=model)
    assert list(stage.check()) == [] == list(stage.warnings())
    measures = stage.measure(units(wanted[:40]))
    perplexity = np.asarray(measures["perplexity"], np.float64)
    assert found.percentiles.documents == 39 == (~np.isnan(perplexity)).sum()
    values = np.nanpercentile(perplexity, range(101))
    assert found.percentiles.values == pytest.approx(values, abs=1e-4)
    # those in both files were not trained on
    pieces = None if spm is None else opened_pieces(spm)
    rest = training_lines(units(wanted[40:]).text, profile, pieces)
    assert found.tokens == len(rest.split())

    for text, value, tokens in zip(
        wanted[:40], perplexity, np.asarray(measures["model_tokens"]), strict=True
    ):
        if np.isnan(value):
            continue
        lines = training_lines(units([text]).text, profile, pieces)
        said = subprocess.run(
            [programs / "query", "-v", "sentence", "out.bin"],
            input=lines, capture_output=True, check=True,
        ).stdout.decode()  # fmt: skip
        query = sum(map(float, re.findall(r"Total: (\S+)", said)))
        assert len(lines.split()) == tokens
        ours = -np.log10(value) * (tokens + lines.count(b"\n"))
        assert ours == pytest.approx(query, rel=1e-5)


def test_the_same_in_any_order(
    folder: Path, clean: Cli, programs: Path, texts: dict[str, list[str]]
) -> None:
    """Files in another order, documents too, in another format: the same bytes."""
    assert train(clean, "one.bin").code == 0
    shuffled = random.Random(3).sample(texts["words"], len(texts["words"]))
    middle = len(shuffled) // 3
    jsonl(Path("b.jsonl"), [{"text": text} for text in shuffled[:middle]])
    with pa.OSFile("a.arrow", "wb") as file:
        table = pa.table({"text": shuffled[middle:]})
        with pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
    again = train(clean, "two.bin", "--text", "a.arrow", text="b.jsonl")
    assert again.code == 0, again.err
    for name in ("{}.bin", "{}.bin.json"):
        assert Path(name.format("one")).read_bytes() == Path(name.format("two")).read_bytes()
    beside = json.loads(Path("one.bin.json").read_text())
    assert beside["profile"] == "words" and "demo" not in beside
    assert 0 < beside["percentiles"]["documents"] < len(shuffled) / 8  # a 20th, more or less


def test_formats_orders_and_overwriting(folder: Path, clean: Cli, programs: Path) -> None:
    assert train(clean).code == 0
    small = Path("out.bin").stat().st_size
    again = train(clean, format="probing", order="2", prune="0 1")
    assert (
        again.code == 2 and "out.bin is there: name another file, or give --overwrite" in again.err
    )
    assert Path("out.bin").stat().st_size == small
    again = train(clean, "out.bin", "--overwrite", format="probing", order="2", prune="0 1")
    assert again.code == 0, again.err
    found = stated(LocalPath("out.bin"))
    assert found is not None and found.order == 2
    assert list(Perplexity(model=LocalPath("out.bin")).check()) == []
    assert sorted(os.listdir()) == ["en.jsonl", "out.bin", "out.bin.json"]


def test_a_sentencepiece_model_that_is_there(
    folder: Path, clean: Cli, programs: Path, texts: dict[str, list[str]]
) -> None:
    """Another one is not written over; the one that is meant stays as it is."""
    pieces_of(Path("given.model"), texts["ccnet"], 400)
    Path("out.bin.sp.model").write_bytes(b"another")
    ended = train(clean, profile="ccnet", spm="given.model")
    assert ended.code == 2 and "--output: out.bin.sp.model is there" in ended.err
    Path("out.bin.sp.model").unlink()
    Path("out.bin.sp.model").symlink_to("given.model")
    assert train(clean, profile="ccnet", spm="given.model").code == 0
    assert Path("out.bin.sp.model").is_symlink()
    assert list(Perplexity(model=LocalPath("out.bin")).check()) == []


def test_a_small_text_has_fixed_discounts(folder: Path, clean: Cli, programs: Path) -> None:
    words = "one two three four five six seven eight nine ten " * 3
    jsonl(Path("small.jsonl"), [{"text": f"{words} {number}"} for number in range(3)])
    jsonl(Path("held.jsonl"), [{"text": words}])
    ended = train(clean, text="small.jsonl", held_out="held.jsonl")
    assert ended.code == 0, ended.err
    assert "the text is too small" in ended.err and "--discount_fallback" in ended.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"text": "none.jsonl"}, "--text: `none.jsonl` matches no file"),
        ({"held_out": "none.jsonl"}, "--held-out: `none.jsonl` matches no file"),
        ({"column": "body"}, "--text: no column `body` in any sampled line: there are `text`"),
        ({"text": "body.jsonl"}, "there are `body`; --column names it"),
        ({"profile": "ccnet"}, "--spm: the profile ccnet needs the SentencePiece model"),
        ({"spm": "en.jsonl"}, "--spm: the profile words takes no SentencePiece model"),
        ({"profile": "ccnet", "spm": "no.model"}, "--spm: no.model: no such file"),
        ({"profile": "ccnet", "spm": "en.jsonl"}, "--spm: en.jsonl is no SentencePiece model"),
        ({"order": "1"}, "--order: expected 2 to 6, got 1"),
        ({"order": "7"}, "--order: expected 2 to 6, got 7"),
        ({"prune": "0 x"}, '--prune: expected numbers such as "0 0 1", got "0 x"'),
        ({"prune": "1"}, '--prune: expected numbers that do not fall, 0 first, got "1"'),
        ({"prune": "0 0 0 1"}, "--prune: expected at most 3 numbers, the order, got 4"),
        ({"memory": "80%"}, '--memory: expected a number with b, K, M, G or T behind it'),
        ({"lmplz": "gone"}, "--lmplz: gone is no program that can be run: docs/how-to/lmplz.md"),
        ({"build_binary": "gone"}, "--build-binary: gone is no program that can be run"),
        ({"output_": "."}, "--output: . is a folder"),
        ({"output_": "s3://a/b.bin"}, "--output: s3://a/b.bin: expected a local file"),
        ({"output_": "en.jsonl/out.bin"}, "--output: en.jsonl/out.bin: "),
        ({"held_out": "en.jsonl"}, "--text: no document that is not held out"),
        ({"text": "empty.txt"}, "--text: no document"),
    ],
)  # fmt: skip
def test_faults(folder: Path, clean: Cli, options: dict[str, str], words: str) -> None:
    """Exit status 2, a sentence, and nothing is left."""
    Path("empty.txt").touch()
    jsonl(Path("body.jsonl"), [{"body": "a text"}])
    for name in ("lmplz", "build_binary"):
        program(name, "exit 0")
    before = sorted(os.listdir())
    programs = {"lmplz": "./lmplz", "build_binary": "./build_binary"}
    output = options.get("output_", "out.bin")
    given = {name: value for name, value in options.items() if name != "output_"}
    ended = train(clean, output, **{**programs, **given})
    assert ended.code == 2 and words in ended.err, ended.err
    assert "Traceback" not in ended.err
    assert sorted(os.listdir()) == before


WRITES = "touch $(echo $* | sed 's/.*--arpa //; s/ .*//')"
"""An lmplz that has done its work."""


def program(name: str, script: str) -> None:
    Path(name).write_text(f"#!/bin/sh\n{script}\n")
    Path(name).chmod(0o755)


@pytest.mark.parametrize(
    ("lmplz", "build_binary", "words"),
    [
        ("echo one >&2; echo two >&2; exit 3", "exit 0", "(exit status 3):\n  one\n  two"),
        ("kill -9 $$", "exit 0", "lmplz failed (exit status -9):\n  it said nothing"),
        (WRITES, "exit 9", "build_binary failed (exit status 9)"),
    ],
)  # fmt: skip
def test_programs_that_fail(
    folder: Path, clean: Cli, lmplz: str, build_binary: str, words: str
) -> None:
    program("lmplz", lmplz)
    program("build_binary", build_binary)
    before = sorted(os.listdir())
    ended = train(clean, lmplz="./lmplz", build_binary="./build_binary")
    assert ended.code == 1 and words in ended.err, ended.err
    assert sorted(os.listdir()) == before


def test_too_little_is_held_out(folder: Path, clean: Cli, programs: Path) -> None:
    jsonl(Path("short.jsonl"), [{"text": "too short"}])
    ended = train(clean, held_out="short.jsonl")
    assert ended.code == 2 and "no document of 20 tokens is held out" in ended.err
    assert sorted(os.listdir()) == ["en.jsonl", "short.jsonl"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted(folder: Path, number: signal.Signals) -> None:
    """lmplz ends too, and nothing is left."""
    program("lmplz", "echo $$ >pid; exec sleep 60")
    before = sorted(os.listdir())
    options = ["--text", "en.jsonl", "--profile", "words", "--output", "out.bin"]
    options += ["--lmplz", "./lmplz", "--build-binary", "./lmplz"]
    process = subprocess.Popen(
        command("lm", "train", *options), env=environment(), stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while not (Path("pid").exists() and Path("pid").read_text().strip()):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(number)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 1 and "interrupted" in said
    with pytest.raises(ProcessLookupError):
        os.kill(int(Path("pid").read_text()), 0)
    assert sorted(os.listdir()) == sorted([*before, "pid"])
