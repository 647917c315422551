"""The shared data, and runs that are watched from outside: time, memory, kills."""

from __future__ import annotations

import gzip
import hashlib
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest

from ..jobs import FOLDERS, command, environment, pipeline

LANGUAGES = ["de", "en", "es", "fr", "hi", "it", "ja", "ko", "pt", "ru", "tr", "vi", "zh"]


@pytest.fixture(scope="session")
def shared() -> Path:
    """The data folder; `make accept` says where it is."""
    folder = Path(os.environ.get("CLEANPIPE_SHARED", "../shared")).resolve() / "data"
    if not folder.is_dir():
        pytest.skip(f"no {folder}: set CLEANPIPE_SHARED")
    return folder


def stages(shared: Path) -> list[Any]:
    """The main job: every stage there is, all of them dropping something."""
    words = [str(shared / "blocklists" / "LDNOOBW" / name) for name in ("en", "zh")]
    models = {
        "en": {"profile": "words", "bounds": [20, 1500]},
        "zh": {"profile": "characters", "bounds": [20, 1950]},
    }
    cases = {
        name: {"model": str(shared / "models" / f"{name}_wiki_5gram.q8.trie.bin"), **parameters}
        for name, parameters in models.items()
    }
    line = [
        {"blocklist": {"phrases": words, "hits": [None, 0]}},
        {"symbols": {"symbol_share": [None, 0.5]}},
    ]
    return [
        {"language": {"keep": LANGUAGES, "min_score": 0.4}},
        {"remove": {"unit": "line", "failing": line}},
        {"rule": {"measure": "remove.removed_share", "max": 0.3}},
        {"length": {"tokens": [50, 100000]}},
        {"symbols": {"symbol_share": [None, 0.2]}},
        {"gopher_quality": {}, "when": {"language": "en"}},
        {"perplexity": {"per": "language", "cases": cases, "else": "keep"}},
        {"blocklist": {"phrases": words, "hits": [None, 0]}},
        {"exact": {}},
    ]


@pytest.fixture(scope="session")
def unpacked(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A pipeline file over web, zh, and all of docs, twice, as one plain file of over 300 MB.

    Twice, so that one core is busy for well over a minute, and every second one is a duplicate.
    """
    folder = tmp_path_factory.mktemp("unpacked")
    with (folder / "docs.jsonl").open("wb") as file:
        for path in 2 * sorted((shared / "corpus" / "docs").glob("*.jsonl.gz")):
            with gzip.open(path, "rb") as packed:
                shutil.copyfileobj(packed, file, 2**20)
    assert (folder / "docs.jsonl").stat().st_size > 300e6
    sources = {
        "web": {"paths": str(shared / "corpus" / "web" / "*.jsonl.gz")},
        "docs": {"paths": "docs.jsonl"},
        "zh": {"paths": str(shared / "corpus" / "zh" / "*.jsonl.gz")},
    }
    yield pipeline(folder, sources, stages(shared), shard_bytes="16MiB")
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def packed(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A pipeline file over the files as they are."""
    folder = tmp_path_factory.mktemp("packed")
    names = ("web", "docs", "zh")
    sources = {name: {"paths": str(shared / "corpus" / name / "*.jsonl.gz")} for name in names}
    yield pipeline(folder, sources, stages(shared))
    shutil.rmtree(folder)


@dataclass
class Watched:
    """What was seen of a run.

    Attributes:
        name: what it was.
        output: its folder.
        seconds: from the start of the command to its end.
        work: seconds from "runner: ..." on stderr to the last commit record. Not in it: Python,
            imports, looking at the sources, the start of Ray's cluster, its end, summary.json.
            In it: the start of Ray's workers, and their imports and models.
        peaks: most anonymous memory (RssAnon) of a process, bytes, by the process's name.
        code: exit status.
        log: what it said.
    """

    name: str
    output: Path
    seconds: float = 0.0
    work: float = 0.0
    peaks: dict[str, int] = field(default_factory=dict)
    code: int = 0
    log: str = ""

    @property
    def peak(self) -> int:
        return max(self.peaks.values())

    def __str__(self) -> str:
        largest = max(self.peaks, key=lambda name: self.peaks[name])
        return (
            f"{self.name:34} {self.seconds:7.1f} s  work {self.work:7.1f} s  "
            f"peak anonymous {self.peak / 1e6:6.0f} MB ({largest})"
        )


def watch(
    name: str, path: Path, output: Path, *options: object, cores: Sequence[int] | None = None
) -> Watched:
    """Run the command line on a pipeline, watching its processes ten times a second.

    Args:
        cores: pin it, and all it starts, to these. Default: it may use every one.
    """
    seen = Watched(name, output)
    begun, ready = time.monotonic(), [0.0]
    prefix = ["taskset", "-c", ",".join(map(str, cores))] if cores else []
    process = subprocess.Popen(
        [*prefix, *command("run", path, "--output", output, *options)],
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )

    def listen() -> None:
        assert process.stderr
        for line in process.stderr:
            seen.log += line
            if line.startswith("runner: "):
                ready[0] = time.time()

    listener = threading.Thread(target=listen)
    listener.start()
    while process.poll() is None:
        _look(process.pid, seen.peaks)
        time.sleep(0.1)
    listener.join()
    seen.seconds, seen.code = time.monotonic() - begun, process.returncode
    records = list((output / "_run" / "tasks").glob("[!.]*.json"))
    if records and ready[0]:
        seen.work = max(record.stat().st_mtime for record in records) - ready[0]
    return seen


def _look(process: int, peaks: dict[str, int]) -> None:
    with suppress(psutil.Error):
        main = psutil.Process(process)
        for one in (main, *main.children(recursive=True)):
            with suppress(psutil.Error, OSError):
                name = "driver" if one.pid == process else one.name()
                status = Path(f"/proc/{one.pid}/status").read_text()
                sizes = [line.split()[1] for line in status.split("\n") if "RssAnon" in line]
                if sizes:
                    peaks[name] = max(peaks.get(name, 0), int(sizes[0]) * 1024)


def digests(output: Path) -> dict[str, str]:
    """sha256 of every file of the output folders."""
    found = {}
    for folder in FOLDERS:
        for path in sorted((output / folder).rglob("*")):
            if path.is_file():
                with path.open("rb") as file:
                    found[str(path.relative_to(output))] = hashlib.file_digest(
                        file, "sha256"
                    ).hexdigest()
    return found
