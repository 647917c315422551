"""What a call takes of this thread, whatever else the machine does, and how that grows."""

from __future__ import annotations

import time
from collections.abc import Callable

TRIES = 2.0
"""Seconds of trying again before a call counts as slow: a single reading may be off."""


def seconds(call: Callable[[], object]) -> float:
    """Of this thread."""
    begun = time.thread_time()
    call()
    return time.thread_time() - begun


def ratio(
    long: Callable[[], object], short: Callable[[], object], most: float, free: float = 0
) -> float:
    """How many times as long the one takes, less `free` seconds; tried again where above `most`."""
    short()  # so that memory is there
    slow, fast = seconds(long), seconds(short)
    end = time.thread_time() + TRIES
    while (slow - free) / fast >= most and time.thread_time() < end:
        slow, fast = min(slow, seconds(long)), min(fast, seconds(short))
    return (slow - free) / fast


def within(call: Callable[[], object], limit: float) -> bool:
    """Whether it takes less than `limit` seconds; tried again where it does not."""
    end = time.thread_time() + TRIES + limit
    while seconds(call) >= limit:
        if time.thread_time() >= end:
            return False
    return True
