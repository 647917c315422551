"""What the peers' drivers share: texts in, the verdict on each out.

    python <peer>_driver.py TEXTS VERDICTS

TEXTS has a JSON object a line with its `text`. VERDICTS gets a JSON list: for each text null where
it is kept, the number of its survivor where the peer names one, else -1. Needs nothing but the
standard library.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator

NAMELESS = -1


def main(verdicts: Callable[[list[str]], list[int | None]]) -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file]
    found = verdicts(texts)
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        json.dump(found, file)


def shingles(texts: list[str]) -> Iterator[list[str]]:
    """Of each text its runs of 5 words, lower case, or one of all of them if they are fewer.

    Words are runs of letters, numbers and underscores: nearly cleanpipe's tokens, so that what
    differs between tools is how they look for duplicates and not what they look at.
    """
    for text in texts:
        words = re.findall(r"\w+", text.lower())
        yield [" ".join(words[i : i + 5]) for i in range(max(len(words) - 4, 1))]
