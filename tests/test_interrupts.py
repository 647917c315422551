"""A Ctrl-C is raised at once; one that got lost, at the next word about progress."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator

import pytest

from cleanpipe.interrupts import Interrupts
from cleanpipe.progress import Progress
from cleanpipe.stats import Stats


@pytest.fixture
def interrupts() -> Iterator[Interrupts]:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    hook = sys.unraisablehook
    made = Interrupts()
    made.install()
    yield made
    for number, handler in before.items():
        signal.signal(number, handler)
    sys.unraisablehook = hook


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_at_once(interrupts: Interrupts, number: signal.Signals) -> None:
    interrupts.check()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(number)


@pytest.mark.parametrize("last", [False, True])
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


def test_only_interrupts_are_kept_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what comes while a generator is let go of Python would print the traceback."""
    reported: list[type[BaseException]] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda found: reported.append(found.exc_type))
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for _ in range(2):
        Interrupts().install()

    def lines(error: type[BaseException]) -> Iterator[int]:
        try:
            yield 1
        finally:
            raise error

    for error in (KeyboardInterrupt, ValueError):
        for _ in lines(error):
            break
    for number, handler in before.items():
        signal.signal(number, handler)
    assert reported == [ValueError]
