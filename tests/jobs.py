"""What the end-to-end tests share: pipeline files, runs, and what a run left on disk."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from cleanpipe import Pipeline, Result

ROOT = Path(__file__).parents[1]
SAMPLE = ROOT / "examples" / "sample"
FOLDERS = ("kept", "dropped", "dead", "measures", "edits", "index")
Row = Mapping[str, Any]

STAGES: list[Any] = [
    {"language": {"keep": ["en", "zh", "ja", "ko", "th", "de", "ar"], "min_score": 0.4}},
    {"remove": {"unit": "line", "failing": [{"symbols": {"symbol_share": [None, 0.5]}}]}},
    {"rule": {"measure": "remove.removed_share", "max": 0.5}},
    {"length": {"tokens": [20, 20000]}},
    {"gopher_quality": {}, "when": {"language": "en"}},
    {"exact": {}},
]
"""One stage of every sort: a model, a rewriter, filters, a condition, a barrier."""

LENGTH: list[Any] = [{"length": {"tokens": [3, None]}}]
"""A single cheap stage."""


def pipeline(
    folder: Path, sources: Mapping[str, Any], stages: Sequence[Any] = STAGES, **more: Any
) -> Path:
    """Write ``pipeline.yaml`` (JSON is YAML) into a folder."""
    path = folder / "pipeline.yaml"
    tree = {"sources": sources, "stages": list(stages), "output": {"path": "out"}, **more}
    path.write_text(json.dumps(tree, ensure_ascii=False), encoding="utf-8")
    return path


def run(path: Path, output: Path | None = None, *settings: str, **more: Any) -> Result:
    """Run a pipeline file in this process; ``out`` beside it unless another folder is named."""
    made = Pipeline.from_yaml(path, set=settings)
    return made.run(output=output or path.parent / "out", **{"runner": "inline", **more})


def jsonl(path: Path, rows: Sequence[Any]) -> Path:
    """Write rows as JSON lines; a ``str`` is a line as it is."""
    lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def content(output: Path, folders: Sequence[str] = FOLDERS) -> dict[str, bytes]:
    """Every file of the output folders and its bytes."""
    found = {}
    for folder in folders:
        for path in sorted((output / folder).rglob("*")):
            if path.is_file():
                found[str(path.relative_to(output))] = path.read_bytes()
    return found


def summary(output: Path) -> dict[str, Any]:
    """``summary.json`` without the seconds."""
    made: dict[str, Any] = json.loads((output / "summary.json").read_text(encoding="utf-8"))
    return without_seconds(made)


def without_seconds(made: Mapping[str, Any]) -> dict[str, Any]:
    stages = [{k: v for k, v in stage.items() if k != "seconds"} for stage in made["stages"]]
    return {k: v for k, v in {**made, "stages": stages}.items() if k != "seconds"}


def parts(output: Path, folder: str) -> dict[str, pa.Table]:
    """The tables of a folder by file name."""
    files = sorted((output / folder).glob("*.parquet"))
    return {path.name: pq.read_table(path) for path in files}


def rows(output: Path, folder: str) -> list[dict[str, Any]]:
    """Every row of a folder, in the order of its files."""
    return [row for table in parts(output, folder).values() for row in table.to_pylist()]


def verdicts(output: Path) -> dict[tuple[str, int], Any]:
    """By key: the text of a kept document, the drop record of a dropped one."""
    found: dict[tuple[str, int], Any] = {}
    for row in rows(output, "kept"):
        found[row["cleanpipe"]["file"], row["cleanpipe"]["row"]] = row
    for row in rows(output, "dropped"):
        assert (row["file"], row["row"]) not in found
        found[row["file"], row["row"]] = row
    return found


def command(*arguments: object) -> list[str]:
    """The command line, for a process of its own."""
    return [sys.executable, "-m", "cleanpipe", *map(str, arguments)]


def environment() -> dict[str, str]:
    """Where the package under test is found from any working directory."""
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def call(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own."""
    return subprocess.run(
        command(*arguments),
        cwd=cwd,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def start(*arguments: object, log: Path) -> subprocess.Popen[bytes]:
    """Start the command line in a process group of its own; its output goes to ``log``."""
    with log.open("ab") as file:
        return subprocess.Popen(
            command(*arguments),
            env=environment(),
            stdout=file,
            stderr=file,
            start_new_session=True,
        )


def wait_for(condition: Callable[[], bool], seconds: float = 60.0) -> bool:
    """Wait until something holds; whether it came to hold in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return condition()


def committed(output: Path) -> list[str]:
    """Names of the tasks that a run has committed; a record half written is none."""
    return sorted(path.stem for path in (output / "_run" / "tasks").glob("[!.]*.json"))


def temporary_files(output: Path) -> list[Path]:
    """What an interrupted writer left behind."""
    return list(output.rglob(".tmp-*"))


def family(process: int) -> list[psutil.Process]:
    """A process's living descendants."""
    found: list[psutil.Process] = []
    with suppress(psutil.NoSuchProcess):
        found = psutil.Process(process).children(recursive=True)
    return found


def living(processes: Sequence[psutil.Process]) -> list[psutil.Process]:
    """Those that still run (a zombie does not)."""
    found = []
    for process in processes:
        try:
            if process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.NoSuchProcess:
            continue
    return found
