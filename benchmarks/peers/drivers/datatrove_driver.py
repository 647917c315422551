"""datatrove: its MinHash signature and its filters with their defaults, English.

The filters run one after the other on each document, as in a pipeline, so that they share the
words of a text, which datatrove keeps for its last few. C4's comes last: it changes the text. Each
stops at the first rule that a document fails.
"""

from __future__ import annotations

import tempfile
from functools import partial

from datatrove.data import Document
from datatrove.pipeline.dedup.minhash import MinhashDedupSignature
from datatrove.pipeline.filters import (
    C4QualityFilter,
    FineWebQualityFilter,
    GopherQualityFilter,
    GopherRepetitionFilter,
)
from datatrove.utils.text import split_into_parts
from driver import serve

FILTERS = {
    "Gopher quality": GopherQualityFilter(),
    "Gopher repetition": GopherRepetitionFilter(),
    "FineWeb": FineWebQualityFilter(),
    "C4": C4QualityFilter(),
}


def judge(names: list[str], text: str) -> None:
    split_into_parts.cache_clear()
    document = Document(text=text, id="")
    for name in names:
        FILTERS[name].filter(document)


with tempfile.TemporaryDirectory() as folder:
    minhash = MinhashDedupSignature(folder)

    def signature(text: str) -> None:
        found = minhash.get_shingles(text)
        if found.size:
            minhash.get_signature(found)

    serve(
        {
            "signature": signature,
            "all filters": partial(judge, list(FILTERS)),
            **{name: partial(judge, [name]) for name in FILTERS},
        }
    )
