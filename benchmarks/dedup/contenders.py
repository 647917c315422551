"""Ours and the peers, each a command over one file of texts."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from benchmarks.dedup.scores import Verdicts
from benchmarks.measuring.texts import ROOT
from benchmarks.measuring.watched import Watched, watch
from benchmarks.peers.environments import environment

DRIVERS = Path(__file__).parent / "drivers"
OURS: dict[str, Mapping[str, Any]] = {
    "ours, exact, 128": {},
    "ours, signature, 256": {"verify": "signature", "num_perm": 256},
}
PEERS = {
    "rensa, 128": "rensa",
    "datasketch, 128": "datasketch",
    "datatrove, 14 x 8": "datatrove",
}


@dataclass(frozen=True)
class Outcome:
    """What a tool did with the texts, and what was seen of it meanwhile."""

    verdicts: Verdicts
    seen: Watched


def write_texts(path: Path, texts: Sequence[str]) -> None:
    """JSON lines with `text`, as every contender reads them."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{json.dumps({'text': text})}\n" for text in texts)


def run(name: str, texts: Path, folder: Path) -> Outcome:
    """Have one of OURS or PEERS look for duplicates.

    Args:
        texts: JSON lines.
        folder: where it may write.
    """
    return _ours(texts, folder, OURS[name]) if name in OURS else _peer(PEERS[name], texts, folder)


def _ours(texts: Path, folder: Path, parameters: Mapping[str, Any]) -> Outcome:
    pipeline, output = folder / "pipeline.yaml", folder / "out"
    stages = [{"minhash": dict(parameters)}]
    tree = {"sources": {"texts": {"paths": str(texts)}}, "stages": stages, "guards": "warn"}
    pipeline.write_text(json.dumps(tree), encoding="utf-8")
    command = [sys.executable, "-m", "cleanpipe", "run", pipeline, "--output", output]
    seen = _watch([*command, "--runner", "inline"], folder, {"PYTHONPATH": str(ROOT)})
    return Outcome(read_verdicts(output), seen)


def read_verdicts(output: Path) -> Verdicts:
    """What became of each row of a run over one file."""
    found: dict[int, int | None] = {}
    for path in (output / "kept").glob("*.parquet"):
        rows = pq.read_table(path, columns=["cleanpipe"])["cleanpipe"].to_pylist()
        found |= {row["row"]: None for row in rows}
    for path in (output / "dropped").glob("*.parquet"):
        table = pq.read_table(path, columns=["row", "survivor_row"])
        found |= dict(zip(*(column.to_pylist() for column in table.columns), strict=True))
    return [found[row] for row in range(len(found))]


def _peer(peer: str, texts: Path, folder: Path) -> Outcome:
    verdicts = folder / "verdicts.json"
    command = [environment(peer), DRIVERS / f"{peer}_driver.py", texts, verdicts]
    seen = _watch(command, folder, {})
    return Outcome(json.loads(verdicts.read_text("utf-8")), seen)


def _watch(command: Sequence[object], folder: Path, variables: Mapping[str, str]) -> Watched:
    seen = watch(command, folder / "log", environment=variables)
    if seen.code:
        sys.exit(f"{command[0]} ended with {seen.code}:\n{seen.log}")
    return seen
