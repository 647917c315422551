"""Which surface measures are taken in one go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from cleanpipe.spec import Step
from cleanpipe.stage import Filter, Rewriter
from cleanpipe.surface import SURFACE


def taken_together(stages: Iterable[Filter]) -> tuple[str, ...]:
    """The surface measures that these filters take, each once."""
    names = (name for stage in stages for name in stage.takes() if name in SURFACE)
    return tuple(dict.fromkeys(names))


def groups(steps: Sequence[Step]) -> list[tuple[str, ...]]:
    """Groups of surface measures for :class:`cleanpipe.units.Units`, of one version of the text.

    Filters that look at the same documents (their ``when`` and their case are the same) share
    one; no document pays for what only others need. ``steps`` are read up to the next rewriter.
    """
    filters: dict[object, list[Filter]] = {}
    for step in _up_to_rewriter(steps):
        for case, stage in step.variants:
            if isinstance(stage, Filter):
                filters.setdefault((step.when, step.per, case), []).append(stage)
    return [taken_together(stages) for stages in filters.values()]


def _up_to_rewriter(steps: Sequence[Step]) -> Iterator[Step]:
    for step in steps:
        if any(isinstance(stage, Rewriter) for stage in step.stages):
            return
        yield step
