"""The ``language_pack`` set: the limits of a language, by percentiles of clean text in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from cleanpipe.bounds import Bounds
from cleanpipe.errors import ConfigError
from cleanpipe.filters import packs
from cleanpipe.filters.rule import MeasureRule
from cleanpipe.filters.word_order import WordOrder
from cleanpipe.parameters import LocalPath, nearest
from cleanpipe.stage import Filter, NamedSet, Stage


@dataclass(frozen=True)
class LanguagePack(NamedSet):
    """Keeps texts that are like clean text of their language, by measures alone.

    A paper's limits are those of English web pages: Gopher's limits on repeated n-grams drop 23 %
    of clean Chinese encyclopaedia passages, as a token is a character there. A pack has limits of
    its own for every measure, each with the text it was derived from and the percentile, in
    ``filters/packs/<name>.yaml``; docs/how-to/add-a-language.md says how to make one. One pack is
    for one language:

        - language_pack:
            per: language
            cases: {en: {pack: en}, zh: {pack: zh}}
            else: keep

    Parameters:
        pack: the name of a pack that ships (``en``, ``zh``), or the path of a YAML file.
        unit: which of the pack's limits: ``document`` (default), or ``line`` inside
            ``remove: {unit: line}``.
        change: other bounds by measure, in place of the pack's or beside them; null turns one
            off. Default: none.
        min_tokens: units of fewer tokens are not judged; 0 judges all. Default: null, the number
            of the pack, that of the shortest its limits were derived from; the plan shows it.
    """

    kind: ClassVar[str] = "language_pack"

    pack: LocalPath
    unit: Literal["document", "line"] = "document"
    change: Mapping[str, Bounds | None] = field(default_factory=dict)

    def check(self) -> Iterable[tuple[str, str]]:
        """A pack that is not there or is none, measures that are none."""
        try:
            units = packs.read(self.pack)
            limits = units.get(self.unit)
            bounds = {**limits.bounds, **self.change} if limits else {}
            if bounds.get(packs.PAIRS):
                for _, fault in WordOrder(self.pack, Bounds(None, 1)).check():
                    raise ConfigError(fault)
        except ConfigError as error:
            yield "pack", str(error)
            return
        if self.unit not in units:
            yield "unit", f"the pack has limits for {', '.join(units)} only"
        for name in self.change:
            if name not in packs.MEASURES:
                yield f"change.{name}", f"is no measure; {nearest(name, packs.MEASURES)}"

    def expand(self) -> Sequence[tuple[str, Stage]]:
        """One ``rule`` a limit, in the order of the pack; ``word_order`` for pairs of words."""
        limits = packs.read(self.pack)[self.unit]
        least = limits.min_tokens if self.min_tokens is None else self.min_tokens
        bounds = {**limits.bounds, **self.change}
        return [(name, self._rule(name, each, least)) for name, each in bounds.items() if each]

    def _rule(self, name: str, bounds: Bounds, min_tokens: int) -> Filter:
        if name == packs.PAIRS:
            return WordOrder(self.pack, bounds, min_tokens=min_tokens)
        return MeasureRule(name, bounds, min_tokens=min_tokens)
