"""Ctrl-C, and the end that a batch system asks for, which must not get lost."""

from __future__ import annotations

import signal
from types import FrameType


class Interrupts:
    """Raises KeyboardInterrupt on SIGINT and SIGTERM, now and, where that got lost, later.

    An exception that comes while a generator or an object is let go of is only reported, and
    libraries swallow some; so whoever works long calls :meth:`check` now and then.
    """

    def __init__(self) -> None:
        self._seen = False

    def install(self) -> None:
        """Take over both signals; in the main thread only."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._handle)

    def check(self) -> None:
        """Errors: KeyboardInterrupt where a signal has come since the last one was raised here."""
        if self._seen:
            self._seen = False
            raise KeyboardInterrupt

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self._seen = True
        raise KeyboardInterrupt
