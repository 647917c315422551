"""Ctrl-C, and the end that a batch system asks for, which must not get lost."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


class Interrupts:
    """Raises KeyboardInterrupt on SIGINT and SIGTERM, now and, where that got lost, later.

    An exception that comes while a generator or an object is let go of goes nowhere (Python would
    print it, with its traceback), and libraries swallow some; so whoever works long calls
    :meth:`check` now and then.
    """

    def __init__(self) -> None:
        self._seen = False

    def install(self) -> None:
        """Take over both signals; in the main thread only."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._handle)
        if not isinstance(sys.unraisablehook, _AllButInterrupts):
            sys.unraisablehook = _AllButInterrupts(sys.unraisablehook)

    def check(self) -> None:
        """Errors: KeyboardInterrupt where a signal has come since the last one was raised here."""
        if self._seen:
            self._seen = False
            raise KeyboardInterrupt

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self._seen = True
        raise KeyboardInterrupt


class _AllButInterrupts:
    """Reports what could not be raised, but for an interrupt: that one is raised later."""

    def __init__(self, report: Callable[[Any], object]) -> None:
        self._report = report

    def __call__(self, unraisable: Any) -> None:
        if not issubclass(unraisable.exc_type, KeyboardInterrupt):
            self._report(unraisable)
