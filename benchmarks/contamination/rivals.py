"""The two rules that others use, as small reference implementations of what they describe.

Both compare n-grams of words parted by white space, as the papers do, so Chinese is a few very
long words to them.
"""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from benchmarks.contamination.detector import Hit, Key
from benchmarks.contamination.items import Item

Gram = tuple[str, ...]


class _Grams(NamedTuple):
    """The n-grams of all items, each with the items that have it."""

    n: int
    items: dict[Gram, list[Key]]

    @classmethod
    def of(cls, n: int, words: Iterable[tuple[Key, list[str]]]) -> _Grams:
        found: dict[Gram, dict[Key, None]] = defaultdict(dict)
        for key, text in words:
            for gram in _ngrams(text, n):
                found[gram][key] = None
        return cls(n, {gram: list(keys) for gram, keys in found.items()})

    def shared(self, words: list[str]) -> set[Gram]:
        return self.items.keys() & _ngrams(words, self.n)


def _ngrams(words: list[str], n: int) -> Iterable[Gram]:
    return zip(*(words[first:] for first in range(n)), strict=False)


class AnyTwelveGram:
    """One 12-gram of an item anywhere in a document is a hit, whatever it says.

    Words are lower-cased and keep their punctuation. Any shared n-gram, with n from 8 to 13, is
    what most reports describe. PaLM (Chowdhery et al. 2022, section 8) asks for 70 % of an item's
    8-grams, Llama 2 (Touvron et al. 2023, appendix A.6) for matches of over 10 tokens; both to
    split test sets into clean and not, after training. An item of fewer than 12 words is never
    found.
    """

    name = "12-gram"

    def __init__(self, items: Sequence[Item]) -> None:
        words = (((item.test_set, item.test_item), item.text.lower().split()) for item in items)
        self._grams = _Grams.of(12, words)

    def __call__(self, texts: list[str]) -> list[dict[Key, Hit]]:
        return [self._found(text.lower().split()) for text in texts]

    def _found(self, words: list[str]) -> dict[Key, Hit]:
        shared = sorted(self._grams.shared(words))
        return {
            key: Hit(match=" ".join(gram)) for gram in shared for key in self._grams.items[gram]
        }


class ThirteenGram:
    """A 13-gram of an item in a document is a hit, if it is in at most 10 documents of the corpus.

    GPT-3 (Brown et al. 2020, "Language Models are Few-Shot Learners", appendix C): a gram is a
    lower-case word parted by white space, without punctuation; grams that collide with more than
    10 training documents are ignored as common phrases. The janitor of the evaluation harness
    follows it, and removes 200 characters around each hit rather than the document; whether there
    is a hit at all is the same. An item of fewer than 13 words is never found (the paper compares
    such whole in evaluation; the janitor does not).
    """

    name = "13-gram"

    def __init__(self, items: Sequence[Item]) -> None:
        words = (((item.test_set, item.test_item), _plain(item.text)) for item in items)
        self._grams = _Grams.of(13, words)
        self._documents = Counter[Gram]()

    def count(self, texts: Iterable[str]) -> None:
        """See documents of the corpus, to know which grams are common in it."""
        for text in texts:
            self._documents.update(self._grams.shared(_plain(text)))

    def __call__(self, texts: list[str]) -> list[dict[Key, Hit]]:
        return [self._found(_plain(text)) for text in texts]

    def _found(self, words: list[str]) -> dict[Key, Hit]:
        shared = sorted(gram for gram in self._grams.shared(words) if self._documents[gram] <= 10)
        return {
            key: Hit(match=" ".join(gram)) for gram in shared for key in self._grams.items[gram]
        }


class _Unmarked(dict[int, int | None]):
    """Deletes punctuation and symbols, looked up once a character."""

    def __missing__(self, code: int) -> int | None:
        kept = None if unicodedata.category(chr(code))[0] in "PS" else code
        self[code] = kept
        return kept


_UNMARKED = _Unmarked()


def _plain(text: str) -> list[str]:
    """The words in lower case, their punctuation deleted."""
    return text.lower().translate(_UNMARKED).split()
