"""A run that was killed, interrupted or cut short ends with the bytes of one that was not."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from cleanpipe.runner import InlineRunner

from ..jobs import (
    call,
    committed,
    content,
    run,
    start,
    summary,
    temporary_files,
    wait_for,
)


def stamps(output: Path) -> dict[str, int]:
    """When each commit record was written."""
    tasks = output / "_run" / "tasks"
    return {name: (tasks / f"{name}.json").stat().st_mtime_ns for name in committed(output)}


def same(output: Path, undisturbed: Path) -> None:
    assert content(output) == content(undisturbed / "out")
    assert summary(output) == summary(undisturbed / "out")
    assert committed(output) == committed(undisturbed / "out")
    assert not temporary_files(output)
    assert not (output / "_run" / "scratch").exists()


def test_sigkill_at_random_moments(tmp_path: Path, undisturbed: Path) -> None:
    out, log = tmp_path / "out", tmp_path / "log"
    total = len(committed(undisturbed / "out"))
    chance = random.Random(11)
    before: dict[str, int] = {}
    moments = sorted(chance.randrange(total) for _ in range(5))
    killed = 0
    for moment in moments:
        process = start(
            "run", undisturbed / "pipeline.yaml", "--output", out, "--runner", "inline", log=log
        )
        wait_for(lambda: len(committed(out)) >= moment or process.poll() is not None)  # noqa: B023
        time.sleep(chance.uniform(0, 0.15))
        process.kill()
        killed += process.wait() == -signal.SIGKILL
        now = stamps(out)
        assert before.items() <= now.items(), "a committed task ran again"
        before = now
    assert killed >= 3 and not (out / "summary.json").exists()
    ended = call("run", undisturbed / "pipeline.yaml", "--output", out, "--runner", "inline")
    assert ended.returncode == 0, ended.stderr
    assert before.items() <= stamps(out).items()
    same(out, undisturbed)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted(tmp_path: Path, undisturbed: Path, number: signal.Signals) -> None:
    out, log = tmp_path / "out", tmp_path / "log"
    arguments = ("run", undisturbed / "pipeline.yaml", "--output", out, "--runner", "inline")
    process = start(*arguments, log=log)
    assert wait_for(lambda: len(committed(out)) >= 45)
    process.send_signal(number)
    assert process.wait(30) == 1
    said = log.read_text()
    assert "interrupted: the same command resumes" in said and "Traceback" not in said
    assert not temporary_files(out) and not (out / "summary.json").exists()
    before = stamps(out)
    ended = call(*arguments)
    assert ended.returncode == 0, ended.stderr
    assert before.items() <= stamps(out).items()
    same(out, undisturbed)


def test_interrupted_before_anything(tmp_path: Path, undisturbed: Path) -> None:
    """While it still starts: it ends, and says no more than a sentence."""
    log = tmp_path / "log"
    process = start("run", undisturbed / "pipeline.yaml", "--output", tmp_path / "out", log=log)
    assert wait_for(lambda: (tmp_path / "out").exists())
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 1
    assert "Traceback" not in log.read_text()


def test_every_task_may_be_the_last(
    tmp_path: Path, undisturbed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped after each tenth task in turn, within one process."""

    class Stop(Exception):
        pass

    perform = InlineRunner().run
    left = [0]

    class Stopping:
        name = "inline"

        def run(self, job: Any, tasks: Any, report: Any) -> Any:
            for record in perform(job, tasks, report):
                yield record
                left[0] -= 1
                if not left[0]:
                    raise Stop

        def close(self) -> None:
            pass

    monkeypatch.setattr("cleanpipe.run.make_runner", lambda *_: Stopping())
    stops = 0
    while True:
        left[0] = 10
        try:
            run(undisturbed / "pipeline.yaml", tmp_path / "out")
            break
        except Stop:
            stops += 1
    assert stops == len(committed(undisturbed / "out")) // 10
    same(tmp_path / "out", undisturbed)


def test_damage_is_noticed(tmp_path: Path, undisturbed: Path) -> None:
    """A record whose files are not there whole counts for nothing; nor does half a record."""
    out = tmp_path / "out"
    run(undisturbed / "pipeline.yaml", out)
    (out / "summary.json").unlink()
    # The spool is gone, so all of phase 0 is done anew, and gives the same bytes.
    (out / "kept" / "part-00003-000.parquet").write_bytes(b"PAR1")
    (out / "dropped" / "part-00004.parquet").unlink()
    (out / "_run" / "tasks" / "phase1-00005.json").write_text('{"task": "pha')
    (out / "kept" / ".tmp-1-part-00009-000.parquet").write_bytes(b"left behind")
    intact = stamps(out)["phase1-00006"]
    run(undisturbed / "pipeline.yaml", out)
    same(out, undisturbed)
    assert stamps(out)["phase1-00006"] == intact


def test_a_record_of_another_job_counts_for_nothing(tmp_path: Path, undisturbed: Path) -> None:
    out = tmp_path / "out"
    run(undisturbed / "pipeline.yaml", out)
    (out / "summary.json").unlink()
    path = out / "_run" / "tasks" / "phase1-00002.json"
    record = json.loads(path.read_text())
    path.write_text(json.dumps({**record, "job": "another"}))
    before = os.stat(path).st_mtime_ns
    run(undisturbed / "pipeline.yaml", out)
    assert os.stat(path).st_mtime_ns > before
    same(out, undisturbed)


def test_killed_just_before_the_end(
    tmp_path: Path, undisturbed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Intermediates that outlived a complete run are removed by the next one."""
    out = tmp_path / "out"
    run(undisturbed / "pipeline.yaml", out)
    (out / "_run" / "scratch" / "phase0").mkdir(parents=True)
    (out / "_run" / "scratch" / "phase0" / "documents-00000.arrow").write_bytes(b"")
    run(undisturbed / "pipeline.yaml", out)
    same(out, undisturbed)
