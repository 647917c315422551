"""What every task of a run knows: the plan, the columns, where to write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from cleanpipe.columns import Columns
from cleanpipe.ledger import Ledger
from cleanpipe.plan import Plan
from cleanpipe.sources import Source
from cleanpipe.store import Store


@dataclass(frozen=True)
class Job:
    """One run, as its tasks see it; pickled to the workers.

    Attributes:
        plan: what to do.
        columns: the input's columns in the output.
        output: the output folder.
        scratch: the folder for intermediates.
        partitions: into how many parts a barrier's sketches are divided.
        batch_bytes: text in a batch, bytes; no output depends on it.
        fingerprint: of plan, columns and inputs.
    """

    plan: Plan
    columns: Columns
    output: Store
    scratch: Store
    partitions: int
    batch_bytes: int
    fingerprint: str

    @cached_property
    def sources(self) -> Mapping[str, Source]:
        return {source.name: source for source in self.plan.sources}

    @property
    def ledger(self) -> Ledger:
        return Ledger(self.output, self.scratch, self.fingerprint)

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
