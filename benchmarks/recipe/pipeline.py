"""The recipe ``web-en`` with perplexity and contamination, as a pipeline file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.contamination.items import SETS
from cleanpipe.document import Document
from cleanpipe.recipes import find_recipe

PERPLEXITY, CONTAMINATION = "pii", "exact"
"""Before these stages they are put: a placeholder is no prose, and duplicates go last."""
LIKE: list[Any] = [
    {"language": {"keep": {"en": 0.65}}},
    "gopher_repetition",
    "gopher_quality",
    "c4",
    "fineweb",
    "minhash",
]
"""What datatrove's recipe does, and nothing else."""


def whole(data: Path) -> list[Any]:
    """The stages of ``web-en``, and perplexity and contamination with what lies in ``data``."""
    tests = {
        each.name: {
            "paths": str(data / "evals" / each.file),
            "fields": list(each.fields),
            "tokens": each.tokens,
            **({"id": each.id} if each.id else {}),
        }
        for each in SETS
    }
    model = data / "models" / "en_wiki_5gram.q8.trie.bin"
    added = {
        PERPLEXITY: {"perplexity": {"model": str(model), "profile": "words"}},
        CONTAMINATION: {"contamination": {"tests": tests, "action": "drop"}},
    }
    stages: list[Any] = []
    for entry in Document.read(find_recipe("web-en")).tree["stages"]:
        kind = next(iter(entry)) if isinstance(entry, Mapping) else entry
        stages += [added[kind], entry] if kind in added else [entry]
    return stages


def sources(*folders: Path) -> dict[str, Any]:
    """Folders of pages, each a source."""
    return {folder.name: {"paths": str(folder / "*.jsonl.gz")} for folder in folders}


def write(file: Path, stages: list[Any], *folders: Path) -> Path:
    """Write a pipeline file."""
    # The sources are whole folders of one kind: much of them is dropped, and is meant to be.
    pipeline = {"sources": sources(*folders), "stages": stages, "guards": "off"}
    file.write_text(json.dumps(pipeline, default=dict), encoding="utf-8")
    return file
