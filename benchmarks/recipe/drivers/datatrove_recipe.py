"""datatrove: language, Gopher repetition, Gopher quality, C4, FineWeb and MinHash, two workers.

    python datatrove_recipe.py PAGES OUTPUT MODEL

PAGES is a folder of ``*.jsonl.gz``, a task each. All defaults are datatrove's, but for the model of
its language filter, which it would download: MODEL is the same model's small file.
"""

from __future__ import annotations

import sys
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
from datatrove.pipeline.filters import (
    C4QualityFilter,
    FineWebQualityFilter,
    GopherQualityFilter,
    GopherRepetitionFilter,
    LanguageFilter,
)
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers import JsonlWriter
from datatrove.utils.hashing import HashConfig
from datatrove.utils.lid import FT176LID

CONFIG = MinhashConfig(hash_config=HashConfig(precision=64))
WORKERS = 2


class FromFile(FT176LID):  # type: ignore[misc]
    """The model from a file."""

    path = ""
    _model: Any = None

    @property
    def model(self) -> Any:
        if self._model is None:
            from fasttext.FastText import _FastText

            self._model = _FastText(self.path)
        return self._model


def language(path: str) -> LanguageFilter:
    made = LanguageFilter("en")
    made.model = FromFile(["en"])
    made.model.path = path
    return made


def main(pages: str, output: Path, model: str) -> None:
    def place(name: str) -> str:
        return str(output / name)

    files = len(list(Path(pages).glob("*.jsonl.gz")))
    filters = [
        language(model),
        GopherRepetitionFilter(),
        GopherQualityFilter(),
        C4QualityFilter(),
        FineWebQualityFilter(),
    ]
    kept = JsonlReader(place("filtered"))
    steps: list[tuple[str, int, list[Any]]] = [
        (
            "filter",
            files,
            [
                JsonlReader(pages, glob_pattern="*.jsonl.gz"),
                *filters,
                JsonlWriter(place("filtered")),
            ],
        ),
        ("signatures", files, [kept, MinhashDedupSignature(place("signatures"), config=CONFIG)]),
        (
            "buckets",
            CONFIG.num_buckets,
            [MinhashDedupBuckets(place("signatures"), place("buckets"), config=CONFIG)],
        ),
        ("cluster", 1, [MinhashDedupCluster(place("buckets"), place("remove"), config=CONFIG)]),
        ("keep", files, [kept, MinhashDedupFilter(place("remove")), JsonlWriter(place("kept"))]),
    ]
    for name, tasks, pipeline in steps:
        LocalPipelineExecutor(
            pipeline, tasks=tasks, workers=WORKERS, logging_dir=place(f"logs/{name}")
        ).run()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
