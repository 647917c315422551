"""Texts of 64 MB that would make a careless kernel slow; `-s` shows what each took."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import psutil
import pytest

from ..native.hostile import TEXTS, kernels
from ..times import seconds

SIZE = 64 << 20
SLOWEST = 600
"""Nanoseconds a byte, all measures together: a token has two bytes or more, and each of its nine
n-grams a place in a table that no cache holds. What is quadratic takes milliseconds."""
MOST = 8
"""Times as long for four times the text, and beside it:"""
NEW_MEMORY = 2
"""Nanoseconds a byte of it; a system can take longer to give it than a kernel to fill it."""
READING = 0.2
"""Nanoseconds a byte: a quarter of the text may be in the cache, all of it is not, and the fastest
kernels wait for memory alone. What is quadratic takes milliseconds a byte."""
LARGEST = 64
"""Bytes of memory a byte of the text, for results and all."""


@dataclass(frozen=True)
class Taken:
    """What a kernel took for each byte of a text."""

    text: str
    kernel: str
    nanoseconds: float
    memory: float

    def __str__(self) -> str:
        return f"{self.text:30} {self.kernel:10} {self.nanoseconds:6.1f} ns {self.memory:5.1f} B"


@pytest.fixture(scope="module")
def table() -> Iterator[list[Taken]]:
    """Printed at the end: the most of each kernel and of each text."""
    rows: list[Taken] = []
    yield rows
    print(f"\nAt most, a byte of a text of {SIZE >> 20} MiB:")
    for kernel in dict.fromkeys(row.kernel for row in rows):
        found = [row for row in rows if row.kernel == kernel]
        print(max(found, key=lambda row: row.nanoseconds))
        print(max(found, key=lambda row: row.memory))
    print("Of all kernels:")
    for text in dict.fromkeys(row.text for row in rows):
        found = [row for row in rows if row.text == text]
        print(max(found, key=lambda row: row.nanoseconds))


class Memory(threading.Thread):
    """The most that this process has while this runs, beyond what it had: `peak`, in bytes."""

    def __init__(self) -> None:
        super().__init__()
        self._process = psutil.Process()
        self._before = self._process.memory_info().rss
        self._over = threading.Event()
        self.peak = 0

    def run(self) -> None:
        while not self._over.wait(0.005):
            self.peak = max(self.peak, self._process.memory_info().rss - self._before)

    def __enter__(self) -> Memory:
        self.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._over.set()
        self.join()


def taken(text: str, kernel: str, call: Callable[[], object]) -> Taken:
    with Memory() as memory:
        time = seconds(call)
    return Taken(text, kernel, time / SIZE * 1e9, memory.peak / SIZE)


@pytest.mark.parametrize("name", TEXTS)
def test_time_and_memory_are_linear(name: str, table: list[Taken]) -> None:
    short, long = (kernels(TEXTS[name](size)) for size in (SIZE // 4, SIZE))
    for kernel in short:
        row = taken(name, kernel, long[kernel])
        table.append(row)
        assert row.nanoseconds < SLOWEST, row
        assert row.memory < LARGEST, row
        less = seconds(short[kernel]) / SIZE * 1e9
        assert row.nanoseconds < MOST * less + NEW_MEMORY * row.memory + READING, (row, less)
