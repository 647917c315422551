"""Every stage on texts that would make a careless one slow; `-s` shows what each took.

Every text is tried on every example of a stage, short; the slowest of each kind are then tried
long, and a quarter as long.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import pytest

from cleanpipe import registry
from cleanpipe.edits import apply_edits
from cleanpipe.parse import document_of, parse_spec
from cleanpipe.stage import CorpusRewriter, Filter, Rewriter, Stage
from cleanpipe.units import Units

from ..contract.test_contract import all_repeat, examples, folder, known_of, large
from ..native import hostile
from .test_hostile import Memory

__all__ = ["folder"]

TRIED = 1 << 16
WORST = 3
"""Texts of each kind of stage that are tried long:"""
LONG, MIDDLE, SHORT = 64 << 20, 16 << 20, 4 << 20
"""of a kind that takes less than :data:`QUICK`, all of :data:`LONG`; of the others, which make
objects of Python for each line, hit or edit, the worst of :data:`MIDDLE`, the rest of SHORT."""
QUICK = 0.1
"""Seconds a MiB."""
SLOWEST = 8.0
"""Seconds a MiB, of any; what is quadratic takes hours."""
MOST = 1.6 * 4
"""Times as long for four times the text: caches are left behind, and tables grow. And beside it:"""
NEW_MEMORY = 2e-9
"""Seconds a byte of it; a system can take longer to give it than a stage to fill it."""

LOOKED_FOR = r"""a.\n \r\n a\r\n 1. 1.1.1.1␣ 1: 0 12␣ \u200b a\u200b [ [1] [1 Ã â€ é ä½ A- a.b. :: A
_ \t \u0300a\u0327 ﷺ İ ﬁ fuck␣ f.u.c.k␣ 性别 性.别. x@y.co␣ https://a.b/c␣ <p> </ &amp; the␣ of␣the␣
javascript␣ javascript\n 的一 我。 각 ก ทดสอบ あ ｶﾞ a, \u202e <s>␣ \u0301\u0327 {\n}\n"""
"""Units with what rules look for; ``␣`` is a space."""


def _texts() -> Iterator[tuple[str, Callable[[int], bytes]]]:
    ill_formed = {repr(data) for data in hostile.ILL_FORMED}
    for name, text in hostile.TEXTS.items():
        # Colliding hashes are for the kernels' tables; they take long to find.
        if name not in ill_formed and not name.startswith("hashes"):
            yield name, text
    for shown in LOOKED_FOR.split():
        unit = shown.replace("␣", " ")
        for escape in ("\\n", "\\r", "\\t", *(e for e in _ESCAPED if e in unit)):
            unit = unit.replace(escape, escape.encode().decode("unicode_escape"))
        yield repr(unit), partial(hostile.repeated, unit.encode())


_ESCAPED = ("\\u200b", "\\u0300", "\\u0301", "\\u0327", "\\u202e")
TEXTS = dict(_texts())


@cache
def short(name: str) -> str:
    return text_of(name, TRIED)


def text_of(name: str, size: int) -> str:
    return TEXTS[name](size).decode(errors="ignore")


EVERY = "".join(text_of(name, 64) for name in TEXTS)


@dataclass(frozen=True)
class Tried:
    """What an example of a stage took for a text, in seconds of this process."""

    example: str
    members: Sequence[Stage]
    text: str
    size: int
    seconds: float
    memory: float = 0.0
    ratio: float = 0.0

    @property
    def rate(self) -> float:
        return self.seconds / self.size * 2**20

    def __str__(self) -> str:
        return (
            f"{self.example:24} {self.text:28} {self.size >> 20:3} MiB {self.rate:8.4f} s/MiB"
            f" x {self.ratio:4.1f} {self.memory / self.size:6.0f} B a byte"
        )


def run(members: Sequence[Stage], text: str) -> None:
    """All that a pipeline has a stage do to a document, and to its address where it needs one."""
    array = large([text])
    for stage in members:
        known = known_of(stage, 1)
        addresses = [name for name in known if name.rpartition(".")[2] == "url"]
        units = Units(array, {**known, **dict.fromkeys(addresses, large([f"http://{text}"]))})
        if isinstance(stage, Filter):
            if stage.within_documents():
                continue  # `remove` has examples of these
            measures = stage.measure(units)
            codes = stage.judge(measures)
            if codes.any():
                stage.evidence(units, codes, measures)
        elif isinstance(stage, Rewriter):
            if isinstance(stage, CorpusRewriter):
                edits, _ = stage.rewrite(units, all_repeat(stage, units))
            else:
                edits, _ = stage.rewrite(units)
            rows, texts = apply_edits(array, edits)
            array = large(texts) if len(rows) else array
        else:
            stage.sketch(units)  # type: ignore[attr-defined]  # a barrier


def seconds(members: Sequence[Stage], text: str) -> float:
    """Of this process, whatever else the machine does, and without the collector of garbage: its
    rounds, which come more or less often, take up to as long again where there are many objects."""
    gc.disable()
    try:
        begun = time.process_time()
        run(members, text)
        return time.process_time() - begun
    finally:
        gc.enable()


def worst(kind: str, folder: Path) -> list[Tried]:
    """The slowest texts of a kind, each with the example that is slowest on it."""
    found: dict[str, Tried] = {}
    for example in examples():
        name, parameters = example.values
        if name != kind:
            continue
        spec = parse_spec(document_of({"stages": [{kind: parameters}]}), str(folder))
        members = [stage for step in spec.steps for stage in step.stages]
        run(members, EVERY)  # models, lists and tables are read
        for text in TEXTS:
            tried = Tried(str(example.id), members, text, TRIED, seconds(members, short(text)))
            if text not in found or found[text].seconds < tried.seconds:
                found[text] = tried
    return sorted(found.values(), key=lambda tried: -tried.seconds)[:WORST]


@pytest.mark.parametrize("kind", list(registry.stages()))
def test_time_is_linear(kind: str, folder: Path) -> None:
    chosen = worst(kind, folder)
    quick = chosen[0].rate < QUICK
    for place, tried in enumerate(chosen):
        assert tried.rate < SLOWEST, tried
        size = LONG if quick else SHORT if place else MIDDLE
        less, more = (text_of(tried.text, each) for each in (size // 4, size))
        least = seconds(tried.members, less)
        with Memory() as memory:
            most = seconds(tried.members, more)
        if most >= MOST * least:  # other work in the cache, perhaps
            least = min(least, seconds(tried.members, less))
            most = min(most, seconds(tried.members, more))
        row = Tried(tried.example, tried.members, tried.text, size, most, memory.peak, most / least)
        print(f"\n{row}", end="", flush=True)
        assert row.rate < SLOWEST, row
        assert most < MOST * least + NEW_MEMORY * memory.peak, row
