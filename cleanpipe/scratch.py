"""Names of the intermediates below the scratch folder."""

from __future__ import annotations


def spool_name(phase: int, kind: str, shard: int) -> str:
    """What a phase spools of a shard: ``documents``, ``names``, ``edits`` or ``dead``."""
    return f"phase{phase}/{kind}-{shard:05d}.arrow"


def sketch_name(phase: int, stage: int, shard: int) -> str:
    """A shard's sketches for one barrier stage: batch p is partition p, sorted by bucket."""
    return f"barrier{phase}/sketch-{stage}-{shard:05d}.arrow"


def bases_name(phase: int) -> str:
    """Rank of the first document of every shard, and at the end their number."""
    return f"barrier{phase}/bases.arrow"


def edges_name(phase: int, stage: int, partition: int) -> str:
    """The edges one partition gave, sorted by the later document."""
    return f"barrier{phase}/edges-{stage}-{partition:05d}.arrow"


def verdicts_name(phase: int) -> str:
    """The documents that go, sorted by rank."""
    return f"barrier{phase}/verdicts.arrow"
