"""datatrove: the four steps of its MinHash de-duplication, as its example has them, in one process.

    python datatrove_driver.py TEXTS VERDICTS

14 buckets of 8 hashes, 5-grams, English words by spaCy; 64-bit hashes, as in its example. Of each
connected component one text stays. Its seconds by step go to stdout.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.dedup import (
    MinhashDedupBuckets,
    MinhashDedupCluster,
    MinhashDedupFilter,
    MinhashDedupSignature,
)
from datatrove.pipeline.dedup.minhash import MinhashConfig
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers import JsonlWriter
from datatrove.utils.hashing import HashConfig
from driver import NAMELESS

CONFIG = MinhashConfig(hash_config=HashConfig(precision=64))


def numbered(self: Any, data: dict[str, Any], path: str, number: int | str) -> dict[str, Any]:
    return {"text": data["text"], "id": str(number)}


def steps(source: Path, folder: Path) -> dict[str, list[Any]]:
    def reader() -> JsonlReader:
        return JsonlReader(str(source.parent), glob_pattern=source.name, adapter=numbered)

    def place(name: str) -> str:
        return str(folder / name)

    return {
        "signatures": [reader(), MinhashDedupSignature(place("signatures"), config=CONFIG)],
        "buckets": [MinhashDedupBuckets(place("signatures"), place("buckets"), config=CONFIG)],
        "clusters": [MinhashDedupCluster(place("buckets"), place("remove"), config=CONFIG)],
        "filter": [
            reader(),
            MinhashDedupFilter(place("remove")),
            JsonlWriter(place("kept"), compression=None),
        ],
    }


def main(source: Path, verdicts: Path) -> None:
    folder = Path(tempfile.mkdtemp(dir=verdicts.parent))
    for name, pipeline in steps(source, folder).items():
        start = time.perf_counter()
        tasks = CONFIG.num_buckets if name == "buckets" else 1
        LocalPipelineExecutor(
            pipeline, tasks=tasks, workers=1, logging_dir=str(folder / "logs" / name)
        ).run()
        print(f"{name} {time.perf_counter() - start:.1f} s", flush=True)
    with source.open(encoding="utf-8") as file:
        found: list[int | None] = [NAMELESS for _ in file]
    for path in (folder / "kept").glob("*.jsonl"):
        with path.open(encoding="utf-8") as file:
            for line in file:
                found[int(json.loads(line)["id"])] = None
    verdicts.write_text(json.dumps(found))
    shutil.rmtree(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
