"""Guards: losses that nobody is likely to want stop a run before its output is complete."""

from __future__ import annotations

from cleanpipe.stats import Stats

DEAD_RECORDS, DEAD_SHARE = 100, 0.001
SOURCE_DOCUMENTS, SOURCE_LOSS = 10_000, 0.9


def alarms(stats: Stats) -> list[str]:
    """What the guards saw, a sentence each (limits from the design, "Near-duplicates").

    Dead records: over 100 and over 0.1 % of all documents. A source of at least 10,000
    documents that loses over 90 % of what reaches a stage in that stage.
    """
    found = []
    total = stats.total
    if total.dead > DEAD_RECORDS and total.dead > DEAD_SHARE * total.documents_in:
        found.append(f"{total.dead} of {total.documents_in} records could not be read: see dead/")
    for source, stages in stats.losses.items():
        for stage, (reached, lost) in stages.items():
            if reached >= SOURCE_DOCUMENTS and lost > SOURCE_LOSS * reached:
                found.append(f'source "{source}" loses {lost} of {reached} documents in "{stage}"')
    return found
