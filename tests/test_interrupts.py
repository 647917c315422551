"""A Ctrl-C is raised at once; one that got lost, at the next word about progress."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from cleanpipe.interrupts import Interrupts
from cleanpipe.progress import Progress
from cleanpipe.stats import Stats


@pytest.fixture
def interrupts() -> Iterator[Interrupts]:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    made = Interrupts()
    made.install()
    yield made
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_at_once(interrupts: Interrupts, number: signal.Signals) -> None:
    interrupts.check()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(number)


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_one_that_was_lost(interrupts: Interrupts, last: bool) -> None:
    def lines() -> Iterator[int]:
        try:
            yield 1
        finally:
            signal.raise_signal(signal.SIGINT)  # a file is being closed, say

    for _ in lines():
        break  # lets go of the generator, whose exception is only reported
    progress = Progress(quiet=True, check=interrupts.check)
    with progress.part("clean", 2, []) as part, pytest.raises(KeyboardInterrupt):
        (part.finished if last else part.report)(Stats())
    interrupts.check()
