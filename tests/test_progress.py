"""What a person sees of a run: a live bar on a terminal, plain lines in a log, a table."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import select
import subprocess
from pathlib import Path

import pytest
from rich.console import Console

from cleanpipe.ledger import Record
from cleanpipe.progress import Progress, table_of, totals_of
from cleanpipe.stats import Stats

from .jobs import command, environment, pipeline


def stats(documents: int, dropped: int, size: int) -> Stats:
    made = Stats(bytes_read=size)
    made.total.documents_in = documents
    made.stage("length").dropped = dropped
    return made


def log(quiet: bool = False) -> tuple[Progress, io.StringIO]:
    file = io.StringIO()
    return Progress(quiet, Console(file=file, soft_wrap=True, highlight=False)), file


def test_one_line_every_few_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr("cleanpipe.progress.time.monotonic", lambda: clock[0])
    shown, file = log()
    done = [Record("phase0-00000", "", stats=stats(7, 7, 7))]
    with shown.part("clean", 4, done) as part:
        for _ in range(2):
            clock[0] += 1
            part.report(stats(10, 1, 1_000_000))
        assert file.getvalue() == ""
        clock[0] += 4
        part.report(stats(60, 6, 6_000_000))
        part.finished(stats(100, 10, 10_000_000))
        clock[0] += 4
    assert file.getvalue().splitlines() == [
        "clean: 1/4 shards  60 documents  10 documents/s  1.0 MB/s  6 dropped so far",
        "clean: 2/4 shards  100 documents  10 documents/s  1.0 MB/s  10 dropped so far",
    ]


def test_quiet_says_warnings_only() -> None:
    shown, file = log(quiet=True)
    shown.say("nothing")
    with shown.part("clean", 1, []) as part:
        part.finished(stats(1, 0, 1))
    assert file.getvalue() == ""
    shown.warn("[odd] markup: s3://bucket")
    assert file.getvalue() == "warning: [odd] markup: s3://bucket\n"


def test_table_and_totals() -> None:
    counts = {"in": 2000, "kept": 1500, "dropped": 499, "dead": 1}
    stages = [
        {
            "name": "a",
            "in": 1999,
            "judged": 998,
            "dropped": 499,
            "units_removed": 12345,
            "seconds": 1.26,
        },
        {"name": "gopher_quality.alphabetic_word_share", "in": 0, "judged": 0, "dropped": 0}
        | {"units_removed": 0, "seconds": 0.0},
    ]
    made = {"stages": stages, "documents": counts, "bytes": {"in": 3e6, "kept": 2e6}, "seconds": 2}
    made["replaced"] = 0
    file = io.StringIO()
    Console(file=file, width=90, soft_wrap=True).print(table_of(made))
    lines = [line.split() for line in file.getvalue().splitlines()]
    assert lines == [
        ["stage", "in", "judged", "dropped", "share", "units", "removed", "seconds"],
        ["a", "1,999", "998", "499", "50.0%", "12,345", "1.3"],
        ["gopher_quality.alphabetic_word_share", "0", "0", "0", "0.0%", "0", "0.0"],
    ]
    assert totals_of(made) == (
        "2,000 documents in: 1,500 kept, 499 dropped, 1 dead; 3.0 MB of text in, 2.0 MB kept; 2.0 s"
    )
    made["replaced"] = 1001
    assert ", 1 dead, 1,001 with ill-formed bytes replaced; 3.0 MB" in totals_of(made)


def test_a_log_has_plain_lines(tmp_path: Path, corpus: Path) -> None:
    """No control characters, whole sentences; results alone on stdout."""
    path = pipeline(tmp_path, {"docs": {"paths": str(corpus)}}, shard_bytes="500KB")
    ended = subprocess.run(
        command("run", path), env=environment(), capture_output=True, text=True, check=True
    )
    lines = ended.stderr.splitlines()
    assert lines[0] == "runner: inline"
    rates = r"[\d,]+ documents/s  [\d.]+ MB/s  \d+ dropped so far"
    pattern = rf"clean: (\d)/\1 shards  8\d\d documents  {rates}"
    assert [line for line in lines if re.fullmatch(pattern, line)]
    assert "\x1b" not in ended.stderr + ended.stdout and "\r" not in ended.stderr
    assert ended.stdout.startswith("stage ") and "results: " in ended.stdout
    assert len(json.loads((tmp_path / "out" / "summary.json").read_text())["stages"]) > 10


def test_a_terminal_has_a_live_bar(tmp_path: Path, corpus: Path) -> None:
    path = pipeline(tmp_path, {"docs": {"paths": str(corpus)}}, shard_bytes="200KB")
    ours, theirs = pty.openpty()
    environ = {**environment(), "TERM": "xterm-256color", "COLUMNS": "140"}
    process = subprocess.Popen(
        command("run", path), env=environ, stdout=theirs, stderr=theirs, stdin=theirs
    )
    os.close(theirs)
    seen = b""
    while select.select([ours], [], [], 60)[0]:
        try:
            got = os.read(ours, 65536)
        except OSError:  # the other side is closed
            break
        if not got:
            break
        seen += got
    os.close(ours)
    assert process.wait(60) == 0
    text = seen.decode()
    assert "\x1b[" in text and "━" in text
    counts = {int(found) for found in re.findall(r"(\d+)/\d+\S* shards", _plain(text))}
    assert len(counts) > 3, "the bar never moved"
    assert "documents/s" in text and "MB/s" in text and "dropped" in text


def _plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)
