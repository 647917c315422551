"""The judgement of docs/contamination.md once more, slow and obvious, sharing no code with it.

Of the kernels it uses none; passages are found by their own reference (tests/native).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..native import reference_passages
from ..native.reference_plain import plain
from ..native.reference_tokens import Token, code_tokens, mix, tokens

Texts = Sequence[tuple[str, str]]
"""The parts of an item: (name, text)."""
Gram = tuple[int, ...]

ONE = 256
"""A weight of 1."""
NEAR, BESIDE = 64, 16
_BASE = 0x9E3779B97F4A7C15


class Part(NamedTuple):
    """What is judged together of one item, or too short for it.

    Attributes:
        item: whose, by its place.
        names: of the field, or of several that are joined.
        sizes: the tokens of each.
        lines: the hashes of each line's tokens.
        weights: of each token, in 256ths.
        n: tokens of the n-grams that are looked up; 0 where it is too short.
        wanted: those of its n-grams that count.
        least: how many have to be found.
    """

    item: int
    names: Sequence[str]
    sizes: Sequence[int]
    lines: Sequence[Sequence[int]]
    weights: Sequence[int]
    judged: bool = True
    n: int = 0
    wanted: frozenset[Gram] = frozenset()
    least: int = 0

    @property
    def name(self) -> str:
        return "+".join(self.names)

    @property
    def tokens(self) -> list[int]:
        return [token for line in self.lines for token in line]

    @property
    def weight(self) -> int:
        return sum(self.weights)


class Passage(NamedTuple):
    """Tokens of a document, both included; their bytes, half-open; the weight covered."""

    first: int
    last: int
    start: int
    end: int
    covered: int


class Hit(NamedTuple):
    """An item in a document.

    Attributes:
        item: its place in the set.
        evidence: as it is shown.
        score: the best of its passages.
        start, end: the bytes of that one.
        passages: the bytes of all, in order.
    """

    item: int
    evidence: str
    score: float
    start: int
    end: int
    passages: tuple[tuple[int, int], ...]


class TestSet:
    """A test set, and what is found of it.

    Args:
        items: with their parts.
        code: whether its tokens are those of programs.
        min_weight: the least weight that is judged alone. Default: 4, of programs 8.
        reference: texts that say what a common phrase is.
    """

    __test__ = False

    def __init__(
        self,
        items: Sequence[Texts],
        *,
        code: bool = False,
        min_weight: float | None = None,
        reference: Sequence[str] = (),
    ) -> None:
        self.code = code
        least = ONE * (min_weight or (8 if code else 4))
        cut = [[(name, self._lines(text)) for name, text in item] for item in items]
        distinct = {tuple(item): lines for item, lines in zip(items, cut, strict=True)}
        weight = weights([[flat(lines) for _, lines in item] for item in distinct.values()])
        common = self._common(reference)
        parts = [
            Part(number, [name], [len(flat(lines))], lines, worths(lines, weight, common))
            for number, item in enumerate(cut)
            for name, lines in item
        ]
        joined = [
            part
            for number in range(len(items))
            for part in _joined(
                [one for one in parts if one.item == number], least, ONE * (min_weight or 4)
            )
        ]
        self.parts = _looked_for(joined, code)
        judged = {part.item for part in self.parts if part.n}
        self.too_short = [number for number in range(len(items)) if number not in judged]

    def hits(self, text: str, threshold: float | None = None) -> list[Hit]:
        """What is found in a text, item by item."""
        document = self._tokens(text)
        found = self.passages(text, threshold)
        hits = []
        for item in sorted({self.parts[at].item for at in found}):
            mine = {at: of for at, of in found.items() if self.parts[at].item == item}
            mine = {at: own for at, of in mine.items() if (own := self._apart(at, of, mine))}
            beside = {
                at: [short]
                for at, part in enumerate(self.parts)
                if part.item == item and not part.n
                if (short := self._beside(part.tokens, document, mine))
            }
            best, score = None, -1.0
            for at, of in sorted(mine.items()):
                for one in of:
                    now = one.covered / self.parts[at].weight
                    if best is None or (now, -one.first) > (score, -best.first):
                        best, score = one, now
            assert best
            every = dict(sorted((mine | beside).items()))
            evidence = _evidence([(self._name(at, of, document), of) for at, of in every.items()])
            places = sorted({(one.start, one.end) for one in _all(every)})
            hits.append(Hit(item, evidence, score, best.start, best.end, tuple(places)))
        return hits

    def passages(self, text: str, threshold: float | None = None) -> dict[int, list[Passage]]:
        """The passages of each part in a text; parts without any are left out.

        Programs are looked for in the text as it is and as a page shows it: each part in that
        reading in which more of it is found.
        """
        document = self._tokens(text)
        found = self._read(document, threshold)
        if self.code:
            for at, of in self._read(code_tokens(shown(text)), threshold).items():
                if _best(of) > _best(found.get(at, [])):
                    found[at] = [_restated(one, document) for one in of]
        return found

    def _read(self, document: Sequence[Token], threshold: float | None) -> dict[int, list[Passage]]:
        hashes = [token.hash for token in document]
        found = {}
        for at, part in enumerate(self.parts):
            grams = enumerate(zip(*(hashes[k:] for k in range(part.n)), strict=False))
            seeds = [place for place, gram in grams if gram in part.wanted]
            if not part.n or len(seeds) < part.least:
                continue
            share = threshold if threshold is not None else threshold_of(part.weight / ONE)
            need = math.ceil(round(share * part.weight, 6))
            lengths = [len(line) for line in part.lines]
            begins = [sum(lengths[:line]) for line in range(1, len(lengths))]
            length = len(part.tokens)
            judged = reference_passages.Part(
                part.tokens, part.weights, need, 2 * length + 16, begins
            )
            of = reference_passages.passages(hashes, judged, seeds, part.n)
            if of:
                found[at] = [
                    Passage(one.first, one.last, *_bytes(document, *one[:2]), one.covered)
                    for one in of
                ]
        return found

    def _within(self, one: Passage, size: int, at: int, other: Passage) -> bool:
        """Whether a passage is a piece of another, and not what that has beside its part.

        Args:
            size: of the part that the first one is of, in tokens.
        """
        more = other.last + 1 - other.first - len(self.parts[at].tokens)
        room = more >= min(size, one.last + 1 - one.first)
        return other.first <= one.first and one.last <= other.last and not room

    def _apart(
        self, at: int, of: Sequence[Passage], found: dict[int, list[Passage]]
    ) -> list[Passage]:
        """Without those that lie within a longer passage of another part, or one as long of an
        earlier one."""
        others = [(other, one) for other in found for one in found[other] if other != at]
        size = len(self.parts[at].tokens)

        def length(passage: Passage) -> int:
            return passage.last - passage.first

        return [
            one
            for one in of
            if not any(
                self._within(one, size, other, it) and (length(it), -other) > (length(one), -at)
                for other, it in others
            )
        ]

    def _beside(
        self, wanted: Sequence[int], document: Sequence[Token], found: dict[int, list[Passage]]
    ) -> Passage | None:
        """The first place near a passage, within none, where all of a short part stands."""
        every = [(at, one) for at in found for one in found[at]]
        for first in range(len(document) - len(wanted) + 1 if wanted else 0):
            last = first + len(wanted) - 1
            here = Passage(first, last, *_bytes(document, first, last), 0)
            same = [token.hash for token in document[first : last + 1]] == wanted
            near = any(_distance(here, one) <= BESIDE for _, one in every)
            if same and near and not any(self._within(here, len(wanted), *one) for one in every):
                return here
        return None

    def _name(self, at: int, of: Sequence[Passage], document: Sequence[Token]) -> str:
        """The name of a part; of joined ones, those of which half stands in the passages."""
        part = self.parts[at]
        there = {token.hash for one in of for token in document[one.first : one.last + 1]}
        found, begin = [], 0
        for name, size in zip(part.names, part.sizes, strict=True):
            own = part.tokens[begin : begin + size]
            begin += size
            if len(part.names) == 1 or 2 * sum(token in there for token in own) >= size:
                found.append(name)
        return "+".join(found or part.names)

    def _tokens(self, text: str) -> list[Token]:
        return code_tokens(text) if self.code else tokens(shown(text))

    def _lines(self, text: str) -> list[list[int]]:
        """The tokens of each line of a part; a program is one."""
        lines = [text] if self.code else map(without_number, shown(text).splitlines())
        return [[token.hash for token in self._tokens(line)] for line in lines]

    def _common(self, reference: Sequence[str]) -> set[Gram]:
        """The runs of one to three tokens that are in two or more texts of the reference."""
        having = Counter[Gram]()
        for text in reference:
            hashes = [token.hash for token in self._tokens(text)]
            having.update({gram for size in (1, 2, 3) for gram in runs(hashes, size)})
        return {gram for gram, number in having.items() if number >= 2}


def shown(text: str) -> str:
    """A text as it is shown, each byte in its place."""
    return plain(text.encode()).decode()


def without_number(line: str) -> str:
    """A line without the number or letter that it begins with, if it does."""
    rest = line.lstrip(" \t")
    inner = rest[1:] if rest[:1] in tuple("([（【") else rest
    digits = len(inner) - len(inner.lstrip("0123456789"))
    size = 1 if inner[:1].isascii() and inner[:1].isalpha() else digits
    if size not in (1, 2):
        return line
    after = inner[size + 1 :]
    if inner[size : size + 1] in tuple(")].:、．）】") and (not after or after[0].isspace()):
        return after.lstrip(" \t")
    # A number before this mark needs no blank behind it.
    bare = digits and rest == inner and inner[size : size + 1] == "、"
    return after.lstrip(" \t") if bare else line


def runs(hashes: Sequence[int], size: int) -> list[Gram]:
    return [tuple(hashes[at : at + size]) for at in range(len(hashes) - size + 1)]


def flat(lines: Sequence[Sequence[int]]) -> list[int]:
    return [token for line in lines for token in line]


def weights(items: Sequence[Sequence[Sequence[int]]]) -> dict[int, int]:
    """The weight of each token, in 256ths, from the items that have it, in whichever part."""
    having = Counter[int]()
    for item in items:
        having.update({token for part in item for token in part})
    most = math.log2(len(items) + 1)
    return {
        token: math.floor(ONE * min(1, math.log2((len(items) + 1) / df) / min(4, most)) + 0.5)
        for token, df in having.items()
    }


def worths(lines: Sequence[Sequence[int]], weight: dict[int, int], common: set[Gram]) -> list[int]:
    """The weight of each token of a part in its place."""
    times = Counter(flat(lines))
    worth = []
    for line in lines:
        size = min(3, len(line))
        for at, token in enumerate(line):
            having = [
                gram for start, gram in enumerate(runs(line, size)) if start <= at < start + size
            ]
            said = all(gram in common for gram in having)
            share = math.floor(weight[token] / times[token] + 0.5)
            worth.append(0 if said else share)
    return worth


def _joined(parts: Sequence[Part], least: float, whole: float) -> list[Part]:
    """The parts of an item; its light ones as one, if there are several and they weigh enough; or
    all of it as one, where nothing does."""
    light = [part for part in parts if part.weight < least]
    if len(light) > 1 and sum(part.weight for part in light) >= (
        min(least, whole) if len(light) == len(parts) else least
    ):
        one = Part(
            light[0].item,
            [name for part in light for name in part.names],
            [size for part in light for size in part.sizes],
            [line for part in light for line in part.lines],
            [weight for part in light for weight in part.weights],
        )
        made = [one if part is light[0] else part for part in parts]
        return [part for part in made if part not in light]
    return [part._replace(judged=part.weight >= least) for part in parts]


def _looked_for(parts: Sequence[Part], code: bool) -> list[Part]:
    """The parts with their n-grams, those that are too short without."""
    grams: list[list[Gram]] = []
    having: dict[int, Counter[Gram]] = defaultdict(Counter)
    for part in parts:
        n, found = _ngrams(part, code) if part.judged else (0, [])
        grams.append(found)
        having[n].update(set(found))
    made = []
    for part, found in zip(parts, grams, strict=True):
        if not found:
            made.append(part)
            continue
        n = len(found[0])
        rarest = sorted(set(found), key=lambda gram: (having[len(gram)][gram], _hash(gram)))
        wanted = {gram for gram in found if having[n][gram] <= 16} | {*rarest[:4]}
        made.append(part._replace(n=n, wanted=frozenset(wanted), least=max(1, len(wanted) // 10)))
    return made


def _ngrams(part: Part, code: bool) -> tuple[int, list[Gram]]:
    length, longest = len(part.tokens), max(map(len, part.lines))
    usual = 5 if sum(len(runs(line, 5)) for line in part.lines) >= 8 else 3
    n = min(8 if code else usual, length)
    lines = part.lines if longest >= n else [part.tokens]
    return n, [gram for line in lines for gram in runs(line, n)]


def _hash(gram: Gram) -> int:
    """Of those that are as rare the lower ones count (docs/tokens.md)."""
    total = sum(token * _BASE**power for power, token in enumerate(reversed(gram)))
    return mix(total % 2**64)


def threshold_of(weight: float) -> float:
    return min(1, 0.35 + 0.3 * math.sqrt(8 / weight))


def _all(found: dict[int, list[Passage]]) -> Iterator[Passage]:
    for of in found.values():
        yield from of


def _best(passages: Sequence[Passage]) -> int:
    return max((one.covered for one in passages), default=0)


def _restated(one: Passage, document: Sequence[Token]) -> Passage:
    """A passage with the numbers of its tokens in another reading of the text."""
    own = [at for at, it in enumerate(document) if it.end > one.start and it.start < one.end]
    return one._replace(first=own[0], last=own[-1])


def _bytes(document: Sequence[Token], first: int, last: int) -> tuple[int, int]:
    return document[first].start, document[last].end


def _distance(one: Passage, other: Passage) -> int:
    return max(one.first - other.last, other.first - one.last)


def _evidence(found: Sequence[tuple[str, Sequence[Passage]]]) -> str:
    shown = found[0][0]
    for (_, before), (name, of) in zip(found, found[1:], strict=False):
        near = any(_distance(one, other) <= NEAR for one in before for other in of)
        shown += f"{'+' if near else ', '}{name}"
    return shown
