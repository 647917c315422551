"""Commit records: what counts as done, and who may write."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cleanpipe.errors import BusyError
from cleanpipe.ledger import Ledger, Record, held
from cleanpipe.stats import Counts, StageCounts, Stats
from cleanpipe.store import Store


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def ledger(folder: Path, job: str = "job") -> Ledger:
    return Ledger(Store(str(folder / "out")), Store(str(folder / "scratch")), job)


def write(folder: Path, name: str, size: int) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)


def record(task: str = "phase0-00000", job: str = "job", **files: int) -> Record:
    stats = Stats(Counts(documents_in=3, kept=3), {"length": StageCounts(3, 3)})
    names = {name.replace("_", "/"): size for name, size in files.items()}
    return Record(task, job, names, stats, {"lines": [[0, 1, 2]]})


def test_a_record_comes_back(folder: Path) -> None:
    write(folder, "out/kept/a", 5)
    write(folder, "scratch/s", 7)
    made = record(kept_a=5)
    made.files["scratch:s"] = 7
    ledger(folder).commit(made)
    found = ledger(folder).done()
    assert found == {"phase0-00000": made}


def test_no_records_yet(folder: Path) -> None:
    assert ledger(folder).done() == {}


@pytest.mark.parametrize("size", [None, 0, 4, 6])
@pytest.mark.parametrize("place", ["out/kept/a", "scratch/s"])
def test_only_whole_files_count(folder: Path, place: str, size: int | None) -> None:
    made = record(kept_a=5, kept_b=0)
    made.files["scratch:s"] = 5
    for name, bytes_ in (("out/kept/a", 5), ("out/kept/b", 0), ("scratch/s", 5)):
        write(folder, name, bytes_)
    ledger(folder).commit(made)
    assert ledger(folder).done()
    if size is None:
        (folder / place).unlink()
    else:
        write(folder, place, size)
    assert not ledger(folder).done()


def test_of_another_job(folder: Path) -> None:
    ledger(folder).commit(record("a", "other"))
    ledger(folder).commit(record("b"))
    assert set(ledger(folder).done()) == {"b"}
    assert set(ledger(folder, "other").done()) == {"a"}


@pytest.mark.parametrize("cut", [0, 1, 10, -20, -3])
def test_cut_off(folder: Path, cut: int) -> None:
    ledger(folder).commit(record("a"))
    ledger(folder).commit(record("b"))
    path = folder / "out" / "_run" / "tasks" / "a.json"
    path.write_bytes(path.read_bytes()[:cut])
    assert set(ledger(folder).done()) == {"b"}


@pytest.mark.parametrize(
    "value",
    [None, [], 3, "x", {}, {"task": "a"}, {"task": "a", "job": "job", "files": 3, "stats": {}}],
)
def test_no_record(folder: Path, value: Any) -> None:
    ledger(folder).commit(record("b"))
    (folder / "out" / "_run" / "tasks" / "a.json").write_text(json.dumps(value))
    assert set(ledger(folder).done()) == {"b"}


HOLD = """
import sys
from cleanpipe.ledger import held
from cleanpipe.store import Store
with held(Store(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_one_holder_at_a_time(tmp_path: Path) -> None:
    path = str(tmp_path / "out")
    command = [sys.executable, "-c", HOLD, path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None and process.stdout.readline() == b"held\n"
            with pytest.raises(BusyError, match="another run is writing to"), held(Store(path)):
                pass
            with held(Store(str(tmp_path / "elsewhere"))):
                pass
        finally:
            process.kill()
    # The kernel lets go of what a killed process held.
    with held(Store(path)):
        pass


def test_in_one_process_too(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    with held(store), pytest.raises(BusyError), held(Store(str(tmp_path))):
        pass
    with held(store):
        assert os.path.exists(store.path("_run/lock"))
    with held(Store("memory://anywhere")), held(Store("memory://anywhere")):
        pass
