"""Near-duplicates among texts in memory, in one call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from cleanpipe.pipeline import Pipeline
from cleanpipe.texts import text_column


def near_duplicates(texts: Any, threshold: float = 0.8) -> pa.Table:
    """Which texts are near-duplicates of which, as a pipeline of the stage ``minhash`` finds them.

    Similarity is the Jaccard similarity of the sets of 5-grams of tokens, computed exactly for
    each pair that is found; texts of fewer than 10 tokens are duplicates only if they are equal.
    The first of several stays; each other names one that stays, and is similar to it itself.

    Args:
        texts: n texts: a list or tuple of ``str`` and None, an Arrow array or chunked
            array of strings, a pandas Series, or what else exports an Arrow stream.
        threshold: lowest similarity of duplicates, above 0 and at most 1. Default 0.8.

    Returns:
        A row a text: ``id`` (int64, its position), ``survivor`` (int64, the position of the text
        that stays for it) and ``similarity`` (float64), both null where it stays itself, as
        None does.

    Errors: TypeError where these are not texts; ConfigError for a threshold out of range.
    """
    column = text_column(texts)
    pipeline = Pipeline.from_dict({"stages": [{"minhash": {"threshold": threshold}}]})
    dropped = pipeline.run(column).dropped
    id = np.arange(len(column), dtype=np.int64)
    survivor, similarity = np.zeros_like(id), np.zeros(len(id))
    kept = np.ones(len(id), dtype=np.bool_)
    places = dropped["id"].to_numpy()
    survivor[places] = dropped["survivor_id"].to_numpy()
    similarity[places] = dropped["similarity"].to_numpy()
    kept[places] = False
    return pa.table(
        {
            "id": pa.array(id),
            "survivor": pa.array(survivor, mask=kept),
            "similarity": pa.array(similarity, mask=kept),
        }
    )
