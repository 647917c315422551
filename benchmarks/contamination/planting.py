"""Items planted into documents: which, how disguised, where. Seeded; nothing depends on order."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from benchmarks.contamination.disguises import CODE, STYLES, TEXT, listed, verbatim, words_replaced
from benchmarks.contamination.items import Item
from cleanpipe import _native

FAR = 400
"""Tokens of the host between question and answer, at least, where they stand apart."""

VERBATIM = "verbatim"
CHOICES = "choices: other order"
REPLACED = "10 % of the words replaced"
QUESTION = "question without answer"
STEM = "question without choices"
APART = "answer far from question"
TEMPLATES = {"template: Q: A:": ("Q", "A"), "template: Question: Answer:": ("Question", "Answer")}
_CHINESE = {"Q": "问", "A": "答", "Question": "问题", "Answer": "答案"}

DISGUISES = (VERBATIM, *TEXT, CHOICES, REPLACED, *TEMPLATES, QUESTION, STEM, APART, *CODE)
"""The names of all, in the order of the tables."""

_SENTENCE = re.compile(r"(?<=[.!?])[ ]+(?=\S)|(?<=[。！？])(?=[^\s」』”’）。！？])")
_LINE = re.compile(r"\n+|\Z")


@dataclass(frozen=True)
class Planted:
    """A document with an item in it.

    Attributes:
        item: what was planted.
        disguise: how; one of DISGUISES.
        tokens: of what was planted, before its disguise.
        text: the document.
        spans: byte ranges of what was planted in the text's UTF-8: one, or question and answer.
    """

    item: Item
    disguise: str
    tokens: int
    text: str
    spans: tuple[tuple[int, int], ...]


def disguised(
    item: Item, disguise: str, host: str, chance: random.Random
) -> tuple[str, list[str]] | None:
    """(what is planted of the item as it is, the texts to plant), or None where it does not apply.

    It does not where the item has no choices to shuffle, or where nothing would change.
    """
    whole = [item.text]
    if disguise == VERBATIM:
        return item.text, [verbatim(item.text, chance)]
    if disguise in TEXT or disguise in CODE:
        if (item.language == "code") != (disguise in CODE):
            return None
        texts = [(TEXT | CODE)[disguise](item.text, chance)]
        return None if texts == whole else (item.text, texts)
    if disguise in (QUESTION, APART) and not item.choices and item.answer:
        if disguise == QUESTION:
            return item.question, [item.question]
        return item.text, [item.question, item.answer]
    if disguise == STEM and item.choices:
        return item.question, [item.question]
    if item.language == "code":
        return None
    if disguise == CHOICES and item.choices:
        shuffled = chance.sample(item.choices, len(item.choices))
        return item.text, [f"{item.question}\n{listed(shuffled, chance.choice(STYLES))}"]
    if disguise == REPLACED:
        texts = [words_replaced(host)(item.text, chance)]
        return None if texts == whole else (item.text, texts)
    if disguise in TEMPLATES:
        return item.text, [_templated(item, *TEMPLATES[disguise])]
    return None


def _templated(item: Item, question: str, answer: str) -> str:
    colon = ": "
    if item.language == "zh":
        question, answer, colon = _CHINESE[question], _CHINESE[answer], "："
    asked = "\n".join(filter(None, [item.question, listed(item.choices, "A. ")]))
    return f"{question}{colon}{asked}\n{answer}{colon}{item.answer}"


def places(host: str) -> list[tuple[int, bool]]:
    """Where something may stand in a host: (index, whether it is within a paragraph).

    Ends of lines, and ends of sentences within one.
    """
    lines = [(found.start(), False) for found in _LINE.finditer(host)]
    sentences = [(found.start(), True) for found in _SENTENCE.finditer(host)]
    return [(0, False), *lines, *sentences]


def planted(item: Item, disguise: str, host: str, chance: random.Random) -> Planted | None:
    """The item in the host, at a random place; None where disguise or host does not fit."""
    done = disguised(item, disguise, host, chance)
    if done is None:
        return None
    source, texts = done
    all_places = places(host)
    if len(texts) == 1:
        # A sentence's end as often as a line's, however many there are of either.
        within = chance.random() < 0.5
        fitting = [place for place in all_places if place[1] == within] or all_places
        chosen = [chance.choice(fitting)]
    else:
        chosen = _far_apart(host, all_places, chance)
        if not chosen:
            return None
    document, spans = _inserted(host, chosen, texts)
    tokens = int(_native.token_counts(pa.array([source]))[0])
    return Planted(item, disguise, tokens, document, spans)


def _far_apart(
    host: str, of: Sequence[tuple[int, bool]], chance: random.Random
) -> list[tuple[int, bool]]:
    """Two places with FAR tokens or more between them; none where the host is too short."""
    starts = _native.tokens(pa.array([host]))[1]
    before = [int(np.searchsorted(starts, len(host[:place].encode()))) for place, _ in of]
    far = [
        [place for place, count in zip(of, before, strict=True) if count - first >= FAR]
        for first in before
    ]
    firsts = [at for at, later in enumerate(far) if later]
    if not firsts:
        return []
    first = chance.choice(firsts)
    return [of[first], chance.choice(far[first])]


def _inserted(
    host: str, chosen: Sequence[tuple[int, bool]], texts: Sequence[str]
) -> tuple[str, tuple[tuple[int, int], ...]]:
    out, spans, at = "", [], 0
    for (place, within), text in zip(chosen, texts, strict=True):
        border = " " if within else "\n"
        out += host[at:place] + border
        start = len(out.encode())
        out += text
        spans.append((start, len(out.encode())))
        out += border
        at = place
    return out + host[at:], tuple(spans)


def sample(
    items: Mapping[str, Sequence[Item]],
    hosts: Callable[[str], Sequence[str]],
    number: int,
    seed: int,
) -> Iterator[Planted]:
    """For each set and disguise that applies to it, this many documents with an item.

    Args:
        items: of each set, by its name.
        hosts: the documents for items of a language.
        number: of documents for a set and a disguise, as far as there are items.
        seed: of all chance. Each set and disguise has its own: leaving one out changes no other.
    """
    for name, of in items.items():
        for disguise in DISGUISES:
            chance = random.Random(f"{seed}/{name}/{disguise}")
            found = 0
            for item in chance.sample(of, len(of)):
                if found == number:
                    break
                # A host may be too short for two places far apart: try a few.
                for _ in range(20 if disguise == APART else 1):
                    host = chance.choice(hosts(item.language))
                    one = planted(item, disguise, host, chance)
                    if one:
                        found += 1
                        yield one
                        break
