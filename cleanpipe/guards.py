"""Guards: losses that nobody is likely to want stop a run before its output is complete."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cleanpipe.stats import Stats

DEAD_RECORDS, DEAD_SHARE = 100, 0.001
LOST_DOCUMENTS, LOST_SHARE = 10_000, 0.9
CLUSTER_DOCUMENTS, CLUSTER_SHARE = 10_000, 0.001


def alarms(
    stats: Stats,
    clusters: Sequence[dict[str, Any]] = (),
    hosts: Sequence[dict[str, Any]] = (),
) -> list[str]:
    """What the guards saw, a sentence each (limits from the design, "Near-duplicates").

    Dead records: over 100 and over 0.1 % of all documents. A source or host of at least 10,000
    documents that loses over 90 % of what reaches a stage in that stage. A cluster: over 10,000
    documents, and over 0.1 % of all, that name one survivor.

    Args:
        clusters: the largest (:meth:`cleanpipe.barrier.verdicts.Verdicts.clusters`).
        hosts: those that lose so much (:func:`cleanpipe.hosts.lost`).
    """
    found = []
    total = stats.total
    if total.dead > DEAD_RECORDS and total.dead > DEAD_SHARE * total.documents_in:
        found.append(f"{total.dead} of {total.documents_in} records could not be read: see dead/")
    for source, stages in stats.losses.items():
        for stage, (reached, lost) in stages.items():
            if reached >= LOST_DOCUMENTS and lost > LOST_SHARE * reached:
                found.append(f'source "{source}" loses {lost} of {reached} documents in "{stage}"')
    for host in hosts:
        found.append(
            f'host "{host["host"]}" loses {host["lost"]} of {host["reached"]} documents in '
            f'"{host["stage"]}"'
        )
    for cluster in clusters:
        size, survivor = cluster["documents"], cluster["survivor"]
        if size > CLUSTER_DOCUMENTS and size > CLUSTER_SHARE * total.documents_in:
            found.append(
                f"{size} documents are duplicates of one, {survivor['id']} "
                f"({survivor['file']}, row {survivor['row']})"
            )
    return found
