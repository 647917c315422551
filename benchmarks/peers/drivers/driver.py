"""What a peer's driver does: it is asked for a job by name, and says how long it took.

    python DRIVER TEXTS

TEXTS has one JSON string a line. Each line of standard input names a job, which is done once over
all texts; a line of standard output is the CPU time that it took in seconds. Imports and the
reading of texts are not counted. Needs nothing but the standard library.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping


def serve(jobs: Mapping[str, Callable[[str], object]]) -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        texts = [json.loads(line) for line in file]
    for line in sys.stdin:
        job = jobs[line.strip()]
        start = time.process_time()
        for text in texts:
            job(text)
        print(time.process_time() - start, flush=True)


def shingles(text: str) -> list[str]:
    """Runs of 5 words, a word being what whitespace separates; one of all words if fewer."""
    words = text.split()
    return [" ".join(words[i : i + 5]) for i in range(max(len(words) - 4, 1))]
