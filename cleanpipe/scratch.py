"""Names of the intermediates below the scratch folder.

The parts of earlier runs have negative numbers among the shards, the last is -1.

A file that travels from a task to several readers has *runs*: each is a batch for every reader, in
the order of the readers, and a writer whose memory is full begins the next run.
"""

from __future__ import annotations


def spool_name(phase: int, kind: str, shard: int) -> str:
    """What a phase spools of a shard: ``documents``, ``names``, ``edits``,
    ``matches`` or ``dead``."""
    return f"phase{phase}/{kind}-{shard:05d}.arrow"


def sketch_name(phase: int, stage: int, shard: int) -> str:
    """Bucket rows of a shard for one barrier stage: runs for the partitions."""
    return f"barrier{phase}/sketch-{stage}-{shard:05d}.arrow"


def payload_name(phase: int, stage: int, shard: int) -> str:
    """The payload of a shard's documents for one barrier stage, in their order."""
    return f"barrier{phase}/payload-{stage}-{shard:05d}.arrow"


def bases_name(phase: int) -> str:
    """Number of the first document of every shard and part of an earlier run."""
    return f"barrier{phase}/bases.arrow"


def repeats_name(phase: int, partition: int) -> str:
    """A corpus rewriter's passages that occurred before, of one partition: runs for the shards."""
    return f"barrier{phase}/repeats-{partition:05d}.arrow"


def pairs_name(phase: int, stage: int, partition: int) -> str:
    """Pairs to be compared that one partition of buckets gave: runs for the partitions of pairs."""
    return f"barrier{phase}/pairs-{stage}-{partition:05d}.arrow"


def checks_name(phase: int, stage: int, partition: int) -> str:
    """The different pairs of one partition, sorted by the later document."""
    return f"barrier{phase}/checks-{stage}-{partition:05d}.arrow"


def wanted_name(phase: int, stage: int, partition: int) -> str:
    """The documents that a partition of pairs needs: a run for the shards."""
    return f"barrier{phase}/wanted-{stage}-{partition:05d}.arrow"


def details_name(phase: int, stage: int, shard: int) -> str:
    """What a shard's documents are compared by: runs for the partitions of pairs."""
    return f"barrier{phase}/details-{stage}-{shard:05d}.arrow"


def edges_name(phase: int, stage: int, kind: str, partition: int) -> str:
    """Edges, ``same`` or ``similar``; each batch in canonical order of the later document."""
    return f"barrier{phase}/{kind}-{stage}-{partition:05d}.arrow"


def decided_name(phase: int) -> str:
    """The documents that go, as the stage decided; each batch sorted by their number."""
    return f"barrier{phase}/decided.arrow"


def verdicts_name(phase: int) -> str:
    """The documents that go; each batch sorted by their number."""
    return f"barrier{phase}/verdicts.arrow"


def clusters_name(phase: int) -> str:
    """The same rows, each batch sorted by the survivor's number."""
    return f"barrier{phase}/clusters.arrow"


def hosts_name(shard: int) -> str:
    """What became of the documents of each host of a shard: a run for the partitions."""
    return f"hosts/{shard:05d}.arrow"
