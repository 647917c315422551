"""Counts that add up: of a batch, a shard, a run; in = kept + dropped + dead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from cleanpipe.errors import AccountError


@dataclass
class StageCounts:
    """What one stage did.

    Attributes:
        documents_in: documents that reached it alive.
        judged: those it was for (``when``).
        too_short: those of them that have fewer tokens than it judges (``min_tokens``).
        dropped: documents it dropped.
        units_removed: edits it made in documents.
        seconds: time spent in it, summed over workers.
    """

    documents_in: int = 0
    judged: int = 0
    too_short: int = 0
    dropped: int = 0
    units_removed: int = 0
    seconds: float = 0.0


@dataclass
class Counts:
    """Documents, UTF-8 bytes of text and tokens; dead documents have only a number."""

    documents_in: int = 0
    kept: int = 0
    dropped: int = 0
    dead: int = 0
    bytes_in: int = 0
    bytes_kept: int = 0
    bytes_dropped: int = 0
    tokens_in: int = 0
    tokens_kept: int = 0
    tokens_dropped: int = 0


@dataclass
class Stats:
    """Mergeable counts.

    Attributes:
        total: of all documents.
        stages: by stage name.
        source, language: by these labels; ``und`` where the language is not known.
        losses: by source and stage, documents that reached the stage and that it dropped.
        extra: input values that went to the column ``extra``.
        bytes_read: UTF-8 bytes of text read so far.
        replaced: documents whose ill-formed UTF-8 was replaced.
        seconds: time spent by workers.
    """

    total: Counts = field(default_factory=Counts)
    stages: dict[str, StageCounts] = field(default_factory=dict)
    source: dict[str, Counts] = field(default_factory=dict)
    language: dict[str, Counts] = field(default_factory=dict)
    losses: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    bytes_read: int = 0
    extra: int = 0
    replaced: int = 0
    seconds: float = 0.0

    def lose(self, source: str, stage: str, reached: int, lost: int) -> None:
        """Count documents of a source that reached a stage, and those it dropped."""
        counts = self.losses.setdefault(source, {}).setdefault(stage, [0, 0])
        counts[0] += reached
        counts[1] += lost

    def stage(self, name: str) -> StageCounts:
        """The counts of a stage, made where there are none."""
        return self.stages.setdefault(name, StageCounts())

    def add(self, other: Stats) -> None:
        """Add the counts of another part."""
        _add(self.total, other.total)
        for name, part in other.stages.items():
            _add(self.stage(name), part)
        for mine, theirs in ((self.source, other.source), (self.language, other.language)):
            for name, counts in theirs.items():
                _add(mine.setdefault(name, Counts()), counts)
        for source, stages in other.losses.items():
            for stage, (reached, lost) in stages.items():
                self.lose(source, stage, reached, lost)
        self.bytes_read += other.bytes_read
        self.extra += other.extra
        self.replaced += other.replaced
        self.seconds += other.seconds

    def check(self, where: str) -> None:
        """Errors: AccountError where documents went missing or appeared."""
        total = self.total
        parts = total.kept + total.dropped + total.dead
        by_stage = sum(counts.dropped for counts in self.stages.values())
        if total.documents_in != parts or by_stage != total.dropped:
            raise AccountError(
                f"{where}: {total.documents_in} documents in, but {total.kept} kept + "
                f"{total.dropped} dropped ({by_stage} by stages) + {total.dead} dead = {parts}"
            )

    def to_json(self) -> dict[str, Any]:
        return {
            "total": vars(self.total),
            "stages": {name: vars(counts) for name, counts in self.stages.items()},
            "source": {name: vars(counts) for name, counts in self.source.items()},
            "language": {name: vars(counts) for name, counts in self.language.items()},
            "losses": self.losses,
            "bytes_read": self.bytes_read,
            "extra": self.extra,
            "replaced": self.replaced,
            "seconds": self.seconds,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Stats:
        return cls(
            Counts(**value["total"]),
            {name: StageCounts(**counts) for name, counts in value["stages"].items()},
            {name: Counts(**counts) for name, counts in value["source"].items()},
            {name: Counts(**counts) for name, counts in value["language"].items()},
            value["losses"],
            value["bytes_read"],
            value["extra"],
            value["replaced"],
            value["seconds"],
        )


def _add(mine: Any, theirs: Any) -> None:
    for item in fields(mine):
        setattr(mine, item.name, getattr(mine, item.name) + getattr(theirs, item.name))


def summary(
    stats: Stats,
    stage_names: Sequence[str],
    clusters: Sequence[dict[str, Any]],
    plan: str,
    seconds: float,
) -> dict[str, Any]:
    """What ``summary.json`` says.

    Args:
        stats: the counts of the whole run.
        stage_names: every stage of the plan, in order.
        clusters: the largest clusters of duplicates.
        plan: the plan's fingerprint.
        seconds: time the run took, resumed parts included.
    """
    total = stats.total
    return {
        "documents": _documents(total),
        "bytes": {
            "in": total.bytes_in,
            "kept": total.bytes_kept,
            "dropped": total.bytes_dropped,
            "removed": total.bytes_in - total.bytes_kept - total.bytes_dropped,
        },
        "tokens": {
            "in": total.tokens_in,
            "kept": total.tokens_kept,
            "dropped": total.tokens_dropped,
            "removed": total.tokens_in - total.tokens_kept - total.tokens_dropped,
        },
        "stages": [
            {
                "name": name,
                "in": counts.documents_in,
                "judged": counts.judged,
                "too_short": counts.too_short,
                "dropped": counts.dropped,
                "units_removed": counts.units_removed,
                "seconds": round(counts.seconds, 3),
            }
            for name, counts in ((name, stats.stage(name)) for name in stage_names)
        ],
        "by": {
            "source": {name: _documents(part) for name, part in sorted(stats.source.items())},
            "language": {name: _documents(part) for name, part in sorted(stats.language.items())},
        },
        "clusters": list(clusters),
        "extra": stats.extra,
        "replaced": stats.replaced,
        "seconds": round(seconds, 3),
        "plan": plan,
    }


def _documents(counts: Counts) -> dict[str, int]:
    return {
        "in": counts.documents_in,
        "kept": counts.kept,
        "dropped": counts.dropped,
        "dead": counts.dead,
    }
