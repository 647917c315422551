"""What a named set makes of texts, with its rewriters: for tables of sets that change texts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from cleanpipe.edits import apply_edits
from cleanpipe.stage import Filter, NamedSet, Rewriter
from cleanpipe.units import Units


def outcomes(stage: NamedSet, texts: Sequence[str]) -> list[tuple[str, list[str]]]:
    """For each text what is left of it, and the members that it fails, in order."""
    left = list(texts)
    failed: list[list[str]] = [[] for _ in texts]
    for name, member in stage.expand():
        units = Units(pa.array(left, pa.large_string()))
        if isinstance(member, Rewriter):
            edits, _ = member.rewrite(units)
            changed, new = apply_edits(units.text, edits)
            for at, text in zip(changed.tolist(), new, strict=True):
                left[at] = text
        elif isinstance(member, Filter):
            _, codes = member.verdicts(units, member.measure(units))
            for at in np.flatnonzero(codes).tolist():
                failed[at].append(name)
    return list(zip(left, failed, strict=True))
