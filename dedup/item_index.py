"""The items of test sets as they are looked for: tokens, weights, grams and n-grams, in one file.

docs/contamination.md has the definitions. Sets do not know of each other: an index of several is
the same whether they were built together or merged, and what is found of one does not depend on
the rest.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from xxhash import xxh3_128

from cleanpipe import _native
from cleanpipe.dedup.items import Item
from cleanpipe.dedup.ngram_index import NgramIndex
from cleanpipe.errors import ConfigError
from cleanpipe.store import Store

FORMAT = 1
"""Raised when the file changes its form, or what is found with it."""
MIN_TOKENS = 4.0
"""Weight, in tokens, below which a part is not judged alone."""
UNIT = 256
"""Weights are whole numbers of 1 / UNIT."""

_NGRAM = 5
_SHORT_NGRAM = 3
_SHORT = 12
"""Tokens below which a part is looked for by n-grams of ``_SHORT_NGRAM`` tokens."""
_GRAM = 3
_COMMON = 16
"""Parts of a set that may share an n-gram that is looked for."""
_RAREST = 4
"""N-grams of a part that are looked for whoever shares them."""
_SATURATED = 4.0
"""Bits of rarity from which on a token weighs 1."""
_REFERENCE_TEXTS = 2
"""Texts of the reference that make a gram a common phrase."""

_NUMBERING = re.compile(
    r"^[ \t]*[(\[（【]?(?:[A-Za-z]|\d{1,2})[)\].:、．）】](?=\s)[ \t]*|^\d{1,2}、", re.M
)

Tokens = Literal["words", "code"]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class TestSetEntry:
    """What an index knows of one test set.

    Attributes:
        name: its name.
        tokens: ``words`` or ``code``.
        min_tokens: weight below which a part was not to be judged alone.
        reference: texts of the reference sample, 0 for none.
        items: how many it has.
        too_short: ids of the items of which nothing is judged, in order.
    """

    __test__ = False  # no test, whatever pytest thinks

    name: str
    tokens: Tokens
    min_tokens: float
    reference: int
    items: int
    too_short: tuple[str, ...]


class Found(NamedTuple):
    """Passages in some texts, by text, part, then place.

    Attributes:
        text, part: int64, shape (f,): which text, and which part of the index.
        first, last: int64, shape (f,): its tokens in the text, both included.
        start, end: int64, shape (f,): its bytes in the text's UTF-8, half-open.
        covered: int64, shape (f,): weight of the part's tokens found, in 256ths.
    """

    text: Ints
    part: Ints
    first: Ints
    last: Ints
    start: Ints
    end: Ints
    covered: Ints


class _Seeds(NamedTuple):
    """The n-grams that lead to parts.

    Attributes:
        code: whether they are of code tokens.
        ngrams: the n-grams.
        offsets: int64, shape (len(ngrams) + 1,): the n-gram of ordinal i leads to
            ``parts[offsets[i]:offsets[i + 1]]``, uint32.
    """

    code: bool
    ngrams: NgramIndex
    offsets: Ints
    parts: npt.NDArray[np.uint32]


_COLUMNS: Mapping[str, pa.DataType] = {
    "set": pa.uint32(),
    "item": pa.uint32(),
    "label": pa.large_string(),
    "name": pa.large_string(),
    "text": pa.large_string(),
    "n": pa.uint8(),
    "least": pa.uint32(),
    "token_offsets": pa.int64(),
    "tokens": pa.uint64(),
    "weights": pa.uint32(),
    "gram_offsets": pa.int64(),
    "grams": pa.uint64(),
    "gram_positions": pa.uint32(),
    "gram_lengths": pa.uint8(),
}
_SEEDS = pa.struct(
    [
        ("code", pa.bool_()),
        ("ngrams", pa.large_binary()),
        ("offsets", pa.large_list(pa.int64())),
        ("parts", pa.large_list(pa.uint32())),
    ]
)
_MAGIC = b"cpitems\n"
_HEADER = 64  # of which the second 16 bytes are a checksum of all that follows


class ItemIndex:
    """What is looked for of the items of some test sets; :meth:`build`, :meth:`open` and
    :meth:`merge` make one.

    A file is mapped, so that all workers of a machine share it.

    Attributes:
        sets: the test sets, in order.
        fingerprint: 32 hexadecimal digits, XXH3-128 of the content.
        nbytes: size of the file.
    """

    sets: tuple[TestSetEntry, ...]
    fingerprint: str
    nbytes: int

    def __init__(self, image: Any) -> None:
        """Over the bytes of an index file: any buffer, which is not copied.

        Errors: ValueError where they are no index, are damaged, or are of another format, token
        table or Unicode version.
        """
        buffer = pa.py_buffer(image)
        head = buffer.slice(0, min(_HEADER, buffer.size)).to_pybytes()
        if not head.startswith(_MAGIC):
            raise ValueError("no index of test sets")
        body = buffer.slice(_HEADER) if buffer.size >= _HEADER else pa.py_buffer(b"")
        if len(head) < _HEADER or _checksum(body) != head[16:32]:
            raise ValueError("a damaged index of test sets: its checksum is another")
        self._image = buffer
        self.nbytes = buffer.size
        self.fingerprint = head[16:32].hex()
        batch = pa.ipc.open_file(body).get_batch(0)
        about = json.loads(batch.schema.metadata[b"about"])
        versions = _versions()
        if about["versions"] != versions:
            raise ValueError(f"an index for {about['versions']}, and this is {versions}")
        self.sets = tuple(
            TestSetEntry(**{**entry, "too_short": tuple(entry["too_short"])})
            for entry in about["sets"]
        )
        columns = {name: batch.column(name)[0].values for name in _COLUMNS}
        self._labels, self._names, self._texts = (columns[x] for x in ("label", "name", "text"))
        self._arrays = {
            name: column.to_numpy(zero_copy_only=True)
            for name, column in columns.items()
            if name not in ("label", "name", "text")
        }
        self._seeds = [
            _Seeds(
                seeds["code"].as_py(),
                NgramIndex(seeds["ngrams"].as_buffer()),
                seeds["offsets"].values.to_numpy(),
                seeds["parts"].values.to_numpy(),
            )
            for seeds in batch.column("seeds")[0].values
        ]

    @classmethod
    def build(
        cls,
        sets: Sequence[tuple[str, Tokens, Sequence[Item]]],
        min_tokens: float = MIN_TOKENS,
        reference: Callable[[], Iterable[pa.Array]] | None = None,
    ) -> ItemIndex:
        """An index of some test sets.

        Args:
            sets: of each its name, its tokens and its items.
            min_tokens: weight, in tokens, below which a part is not judged alone. Default 4.0.
            reference: gives the texts of a reference sample, large_string arrays, each time it is
                called. Default: there is none.

        Errors: ConfigError for two sets of one name.
        """
        made = [_Set.of(*each, min_tokens=min_tokens, reference=reference) for each in sets]
        return cls(_image(made))

    @classmethod
    def merge(cls, indexes: Sequence[ItemIndex]) -> ItemIndex:
        """One index of all test sets of several, as if they were built together.

        Errors: ConfigError for two sets of one name.
        """
        return cls(_image([part for index in indexes for part in index._apart()]))

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> ItemIndex:
        """Map a file that :meth:`save` wrote, and verify it: reads all of it once.

        Errors: ConfigError, which names the file and what to do.
        """
        name = os.fspath(path)
        try:
            with pa.memory_map(name) as file:
                return cls(file.read_buffer())
        except OSError as error:
            raise ConfigError(f"{name}: {error.strerror}; expected an index of test sets") from None
        except (ValueError, KeyError, pa.ArrowException) as error:
            raise ConfigError(
                f"{name}: {error}; build it again with cleanpipe index build"
            ) from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file, which appears whole or not at all; an old one is replaced.

        Errors: OSError where it cannot be written.
        """
        folder, name = os.path.split(os.path.abspath(path))
        with Store(folder).create(name) as file:
            file.write(self._image)

    def needed(self, threshold: float | None) -> npt.NDArray[np.uint64]:
        """The covered weight that makes a passage of each part, in 256ths, 0 for parts that are
        not judged: shape (parts,).

        Args:
            threshold: one share for all parts, or None for :func:`threshold_of` their weight.
        """
        needed = np.zeros(len(self.weights), np.uint64)
        for part in np.flatnonzero(self._arrays["n"]).tolist():
            weight = int(self.weights[part])
            share = (threshold or threshold_of(weight)) * weight
            needed[part] = math.ceil(round(share, 6))  # 0.55 * 100 is a little more than 55
        return needed

    def find(
        self, texts: pa.Array, needed: npt.NDArray[np.uint64], sets: Sequence[str] | None = None
    ) -> Found:
        """The passages of items in texts.

        Args:
            texts: large_string, shape (n,).
            needed: as :meth:`needed` gives it.
            sets: names of the sets to look for. Default: all.
        """
        chosen = None
        if sets is not None and set(sets) != {entry.name for entry in self.sets}:
            wanted = np.array([entry.name in sets for entry in self.sets], dtype=np.bool_)
            chosen = wanted[self._arrays["set"]]
        found = [
            self._found(seeds, without_markup(texts, seeds.code), needed, chosen)
            for seeds in self._seeds
        ]
        columns = [np.concatenate(parts) for parts in zip(*found, strict=True)]
        if not columns:
            columns = [np.zeros(0, np.int64)] * len(Found._fields)
        order = np.lexsort((columns[2], columns[1], columns[0]))
        return Found(*(column[order] for column in columns))

    def _found(
        self,
        seeds: _Seeds,
        texts: pa.Array,
        needed: npt.NDArray[np.uint64],
        chosen: npt.NDArray[np.bool_] | None,
    ) -> tuple[Ints, ...]:
        hits = seeds.ngrams.query(texts)
        first = seeds.offsets[hits.ordinals]
        size = seeds.offsets[hits.ordinals.astype(np.int64) + 1] - first
        # Each hit once for every part that it leads to.
        hit = np.repeat(np.arange(len(size)), size)
        inner = np.arange(len(hit)) - np.repeat(np.cumsum(size) - size, size)
        part = seeds.parts[first[hit] + inner].astype(np.int64)
        text = np.repeat(np.arange(len(texts)), np.diff(hits.offsets))[hit]
        position = hits.positions[hit]
        if chosen is not None:
            text, part, position = (each[chosen[part]] for each in (text, part, position))
        order = np.lexsort((position, part, text))
        text, part, position = text[order], part[order], position[order]
        starts = _starts(text, part)
        counts = np.diff([*starts, len(part)])
        enough = counts >= self._arrays["least"][part[starts]]
        kept = np.repeat(enough, counts)
        text, part, starts = text[starts][enough], part[starts][enough], position[kept]
        offsets = np.concatenate([[0], np.cumsum(counts[enough])])
        arrays = self._arrays
        candidate, *places = _native.passages(
            texts,
            text,
            part,
            offsets,
            starts,
            seeds.ngrams.n,
            arrays["token_offsets"],
            arrays["tokens"],
            arrays["weights"],
            arrays["gram_offsets"],
            arrays["grams"],
            arrays["gram_positions"],
            arrays["gram_lengths"],
            needed,
            self._spans,
            code=seeds.code,
        )
        return text[candidate], part[candidate], *places

    @cached_property
    def weights(self) -> Ints:
        """int64, shape (parts,): weight of each part, in 256ths."""
        total: Ints = np.concatenate([[0], np.cumsum(self._arrays["weights"], dtype=np.int64)])
        weights: Ints = np.diff(total[self._arrays["token_offsets"]])
        return weights

    @cached_property
    def _spans(self) -> npt.NDArray[np.uint32]:
        spans: npt.NDArray[np.uint32] = np.diff(self._arrays["token_offsets"]).astype(np.uint32)
        return 2 * spans + 16

    def threshold(self, part: int, threshold: float | None) -> float:
        """The share that makes a passage of a part; ``threshold`` as for :meth:`needed`."""
        return threshold if threshold is not None else threshold_of(int(self.weights[part]))

    def part(self, part: int) -> tuple[str, int, str]:
        """The name of a part's set, its item, and its own name."""
        name = self.sets[self._arrays["set"][part]].name
        return name, int(self._arrays["item"][part]), str(self._names[part])

    def label(self, part: int) -> str:
        """The id of a part's item."""
        return str(self._labels[part])

    def tokens(self, part: int) -> npt.NDArray[np.uint64]:
        """uint64, shape (tokens,): the hashes of a part's tokens."""
        first, end = self._arrays["token_offsets"][part : part + 2]
        tokens: npt.NDArray[np.uint64] = self._arrays["tokens"][first:end]
        return tokens

    def is_code(self, part: int) -> bool:
        """Whether a part is compared by tokens of programs."""
        return self.sets[self._arrays["set"][part]].tokens == "code"

    def parts_beside(self, part: int) -> range:
        """All parts of a part's item, itself among them, in their order in the item."""
        return range(*np.searchsorted(self._owners, [self._owners[part], self._owners[part] + 1]))

    def judged(self, part: int) -> bool:
        """Whether a part is judged, or too short for that."""
        return bool(self._arrays["n"][part])

    def item_text(self, name: str, label: str) -> str | None:
        """The texts of the first item of that id in a set, one under the other; None where there
        is none."""
        numbers = [at for at, entry in enumerate(self.sets) if entry.name == name]
        mine = np.flatnonzero(np.isin(self._arrays["set"], numbers)).tolist()
        first = next((part for part in mine if self.label(part) == label), None)
        if first is None:
            return None
        return "\n".join(str(self._texts[part]) for part in self.parts_beside(first))

    @cached_property
    def _owners(self) -> Ints:
        """int64, shape (parts,): a number for each set's item, ascending."""
        sets: Ints = self._arrays["set"].astype(np.int64)
        return sets << 32 | self._arrays["item"]

    def _apart(self) -> list[_Set]:
        """Each set by itself, as it was built."""
        return [self._one(number) for number in range(len(self.sets))]

    def _one(self, number: int) -> _Set:
        first, end = np.searchsorted(self._arrays["set"], [number, number + 1]).tolist()
        arrays: dict[str, Any] = {}
        for name in ("item", "n", "least"):
            arrays[name] = self._arrays[name][first:end]
        for offsets, values in _RAGGED.items():
            mine = self._arrays[offsets][first : end + 1]
            arrays[offsets] = mine - mine[0]
            for name in values:
                arrays[name] = self._arrays[name][mine[0] : mine[-1]]
        seeds = []
        for kind in self._seeds:
            gram = np.repeat(kind.ngrams.hashes, np.diff(kind.offsets))
            ours = (kind.parts >= first) & (kind.parts < end)
            key = (kind.code, kind.ngrams.n)
            seeds.append((key, gram[ours], (kind.parts[ours] - first).astype(np.uint32)))
        labels, names, texts = (
            column[first:end].to_pylist() for column in (self._labels, self._names, self._texts)
        )
        return _Set(self.sets[number], labels, names, texts, arrays, seeds)


_RAGGED: Mapping[str, tuple[str, ...]] = {
    "token_offsets": ("tokens", "weights"),
    "gram_offsets": ("grams", "gram_positions", "gram_lengths"),
}


def threshold_of(weight: int) -> float:
    """The share of a part's weight that makes a passage: 0.35 + 0.3 * sqrt(8 / W), W in tokens.

    Read off the best scores of unrelated texts by the weight of the part (docs/contamination.md).

    Args:
        weight: W in 256ths, above 0.
    """
    return min(1.0, 0.35 + 0.3 * math.sqrt(8 * UNIT / weight))


def without_markup(texts: pa.Array, code: bool = False) -> pa.Array:
    """Texts whose HTML tags and entities are blanks of the same length; code stays as it is."""
    if code:
        return texts
    offsets, data = _native.without_markup(texts)
    buffers = pa.py_buffer(offsets), pa.py_buffer(data)
    return pa.LargeStringArray.from_buffers(len(offsets) - 1, *buffers)


class _Set(NamedTuple):
    """One test set on its way into an index: its parts, item by item.

    Attributes:
        entry: what is known of it.
        labels, names, texts: of each part, its item's id, its own name and text.
        arrays: as in the file, but for the set's number.
        seeds: (code, n) with pairs of n-gram and part: uint64 and uint32, by n-gram, then part.
    """

    entry: TestSetEntry
    labels: list[str]
    names: list[str]
    texts: list[str]
    arrays: dict[str, Any]
    seeds: list[tuple[tuple[bool, int], npt.NDArray[np.uint64], npt.NDArray[np.uint32]]]

    @classmethod
    def of(
        cls,
        name: str,
        tokens: Tokens,
        items: Sequence[Item],
        *,
        min_tokens: float,
        reference: Callable[[], Iterable[pa.Array]] | None,
    ) -> _Set:
        code = tokens == "code"
        owner = [number for number, item in enumerate(items) for _ in item.parts]
        raw = _Raw([part.text for item in items for part in item.parts], code)
        known, texts = raw.common(reference) if reference else (None, 0)
        weights = raw.weights(np.array(owner, np.int64), len(items), known)
        total = np.concatenate([[0], np.cumsum(weights)])
        least = min_tokens * UNIT
        groups: list[tuple[int, str, list[int], bool]] = []
        place = 0
        too_short = []
        for number, item in enumerate(items):
            mine = range(place, place + len(item.parts))
            place += len(item.parts)
            heavy = [total[raw.offsets[at + 1]] - total[raw.offsets[at]] for at in mine]
            short = [at for at, weight in zip(mine, heavy, strict=True) if weight < least]
            joined = len(short) > 1 and sum(heavy[at - mine.start] for at in short) >= least
            made = [
                (number, part.name, [at], at not in short)
                for at, part in zip(mine, item.parts, strict=True)
                if not (joined and at in short)
            ]
            if joined:
                names = "+".join(item.parts[at - mine.start].name for at in short)
                made.append((number, names, short, True))
            made.sort(key=lambda group: group[2])
            groups += made
            if not any(judged for *_, judged in made):
                too_short.append(item.id)
        arrays, seeds = raw.arranged([members for _, _, members, _ in groups], weights)
        judged = np.array([each for *_, each in groups], dtype=np.bool_)
        arrays["item"] = np.array([number for number, *_ in groups], np.uint32)
        arrays["n"] = np.where(judged, arrays["n"], 0).astype(np.uint8)
        entry = TestSetEntry(name, tokens, min_tokens, texts, len(items), tuple(too_short))
        return cls(
            entry,
            [items[number].id for number, *_ in groups],
            [name for _, name, *_ in groups],
            ["\n".join(raw.written[at] for at in members) for _, _, members, _ in groups],
            arrays,
            _rare(seeds, judged),
        )


class _Raw:
    """Parts as they come, before short ones are joined.

    Attributes:
        written: their texts.
        offsets: int64, shape (parts + 1,): part i has the tokens offsets[i] to offsets[i + 1] - 1.
        hashes: uint64, shape (tokens,).
    """

    def __init__(self, written: Sequence[str], code: bool) -> None:
        self.written, self.code = written, code
        texts = without_markup(pa.array(written, pa.large_string()), code).to_pylist()
        if code:  # a program is one line: its short ones say little
            lines = [[text] for text in texts]
        else:
            lines = [_NUMBERING.sub("", text).splitlines() for text in texts]
        self._lines = [each for part in lines for each in part]
        self._line_offsets = np.concatenate([[0], np.cumsum([len(part) for part in lines])])
        column = pa.array(self._lines, pa.large_string())
        tokens, _, _, self.hashes = _native.tokens(column, code=code)
        self.offsets: Ints = tokens[self._line_offsets]
        self._line_tokens = tokens
        self._grams, self._gram_hashes = _native.ngrams(column, _GRAM, code=code)
        # Where a gram begins among all tokens, and how many it has.
        line = np.repeat(np.arange(len(self._lines)), np.diff(self._grams))
        self._gram_first = tokens[line] + np.arange(len(line)) - self._grams[line]
        self._gram_length = np.minimum(np.diff(tokens), _GRAM)[line]

    def common(
        self, reference: Callable[[], Iterable[pa.Array]]
    ) -> tuple[npt.NDArray[np.bool_], int]:
        """Flags, shape (tokens,): which ones all of whose grams are common phrases of the
        reference; and how many texts this has."""
        common = np.zeros(len(self._gram_hashes), dtype=np.bool_)
        texts = 0
        lengths = np.flatnonzero(np.bincount(self._gram_length)).tolist()
        indexes = {
            n: NgramIndex.build(self._gram_hashes[self._gram_length == n], n, code=self.code)
            for n in lengths
        }
        counts = {n: np.zeros(len(index), np.int64) for n, index in indexes.items()}
        for column in reference():
            texts += len(column)
            column = without_markup(column, self.code)
            for n, index in indexes.items():
                hits = index.query(column)
                text = np.repeat(np.arange(len(column)), np.diff(hits.offsets))
                order = np.lexsort((hits.ordinals, text))
                starts = _starts(text[order], hits.ordinals[order])
                np.add.at(counts[n], hits.ordinals[order][starts], 1)
        for n, index in indexes.items():
            mine = np.flatnonzero(self._gram_length == n)
            place = np.searchsorted(index.hashes, self._gram_hashes[mine])
            common[mine] = counts[n][place] >= _REFERENCE_TEXTS
        said = np.zeros(len(self.hashes), dtype=np.bool_)
        for offset in range(_GRAM):
            some = ~common & (self._gram_length > offset)
            said[self._gram_first[some] + offset] = True
        return ~said, texts

    def weights(
        self, owner: Ints, items: int, common: npt.NDArray[np.bool_] | None
    ) -> npt.NDArray[np.uint32]:
        """uint32, shape (tokens,), in 256ths.

        Args:
            owner: shape (parts,): the item of each part.
            items: how many there are.
            common: shape (tokens,): those that weigh nothing. Default: none.
        """
        part = np.repeat(np.arange(len(owner)), np.diff(self.offsets))
        order = np.lexsort((part, self.hashes))
        token, part = self.hashes[order], part[order]
        first = _starts(token)
        size = np.diff([*first, len(token)])
        # Of each distinct token, in how many items it is; then of each token. Parts go by items.
        items_of = _starts(token, owner[part])
        frequency = np.diff([*np.searchsorted(items_of, first), len(items_of)])
        table = np.array([_weight(df, items) for df in range(items + 1)], np.int64)
        weight = np.repeat(table[frequency], size)
        # One that a part has several times shares its weight among its places.
        same = _starts(token, part)
        times = np.diff([*same, len(token)])
        times = np.repeat(times, times)
        weights = np.empty(len(token), np.uint32)
        weights[order] = (2 * weight + times) // (2 * times)
        if common is not None:
            weights[common] = 0
        return weights

    def arranged(
        self, groups: Sequence[Sequence[int]], weights: npt.NDArray[np.uint32]
    ) -> tuple[dict[str, Any], list[tuple[tuple[bool, int], Any, Any]]]:
        """The arrays of parts that are made of some of these each, and their n-grams."""
        member = np.array([at for group in groups for at in group], np.int64)
        group = np.repeat(np.arange(len(groups)), [len(each) for each in groups])
        line, line_group = _spread(
            self._line_offsets[member], self._line_offsets[member + 1], group
        )
        token, token_group = _spread(
            self._line_tokens[line], self._line_tokens[line + 1], line_group
        )
        gram, gram_group = _spread(self._grams[line], self._grams[line + 1], line_group)
        token_offsets = _offsets(token_group, len(groups))
        # A gram's place in its part: where its line begins there, and its place in the line.
        size = self._line_tokens[line + 1] - self._line_tokens[line]
        begin = np.cumsum(size) - size - token_offsets[line_group]
        grams_of = self._grams[line + 1] - self._grams[line]
        position = np.repeat(begin, grams_of) + gram - np.repeat(self._grams[line], grams_of)
        order = np.lexsort((position, self._gram_hashes[gram], gram_group))
        longest = np.zeros(len(groups), np.int64)
        np.maximum.at(longest, line_group, size)
        tokens = np.diff(token_offsets)
        n = np.full(len(groups), _NGRAM)
        if not self.code:
            n[(tokens < _SHORT) | (longest < _NGRAM)] = _SHORT_NGRAM
        n = np.minimum(n, np.maximum(tokens, 1))
        seeds = []
        least = np.ones(len(groups), np.uint32)
        for length in sorted(set(n.tolist())):
            mine = np.flatnonzero(n == length)
            whole = longest[mine] < length  # no line has as many: across its lines
            texts, owners = [], []
            for part, across in zip(mine.tolist(), whole.tolist(), strict=True):
                lines = self._lines_of(groups[part])
                texts += ["\n".join(lines)] if across else lines
                owners += [part] * (1 if across else len(lines))
            column = pa.array(texts, pa.large_string())
            enough = np.diff(_native.tokens(column, code=self.code)[0]) >= length
            offsets, grams = _native.ngrams(column, length, code=self.code)
            owner = np.repeat(np.array(owners, np.int64), np.diff(offsets))
            usable = np.repeat(enough, np.diff(offsets))
            grams, owner = grams[usable], owner[usable]
            least[mine] = np.maximum(1, np.bincount(owner, minlength=len(groups))[mine] // 10)
            seeds.append(((self.code, length), grams, owner))
        arrays = {
            "n": n,
            "least": least,
            "token_offsets": token_offsets,
            "tokens": self.hashes[token],
            "weights": weights[token],
            "gram_offsets": _offsets(gram_group, len(groups)),
            "grams": self._gram_hashes[gram][order],
            "gram_positions": position[order].astype(np.uint32),
            "gram_lengths": self._gram_length[gram][order].astype(np.uint8),
        }
        return arrays, seeds

    def _lines_of(self, members: Sequence[int]) -> list[str]:
        return [
            line
            for at in members
            for line in self._lines[self._line_offsets[at] : self._line_offsets[at + 1]]
        ]


def _weight(frequency: int, items: int) -> int:
    if not frequency:
        return 0
    rarity = math.log2((items + 1) / frequency) / min(_SATURATED, math.log2(items + 1))
    return math.floor(min(1.0, rarity) * UNIT + 0.5)


def _rare(
    seeds: Sequence[tuple[tuple[bool, int], Any, Any]], judged: npt.NDArray[np.bool_]
) -> list[tuple[tuple[bool, int], Any, Any]]:
    """The n-grams that not too many parts share, and the rarest of each part; each pair once."""
    kept = []
    for key, gram, part in seeds:
        some = judged[part]
        order = np.lexsort((part[some], gram[some]))
        gram, part = gram[some][order], part[some][order]
        pairs = _starts(gram, part)
        gram, part = gram[pairs], part[pairs]
        shared = np.diff([*_starts(gram), len(gram)])
        shared = np.repeat(shared, shared)
        order = np.lexsort((gram, shared, part))
        begin = _starts(part[order])
        rank = np.empty(len(part), np.int64)
        rank[order] = np.arange(len(part)) - np.repeat(begin, np.diff([*begin, len(part)]))
        chosen = (shared <= _COMMON) | (rank < _RAREST)
        if chosen.any():
            kept.append((key, gram[chosen], part[chosen].astype(np.uint32)))
    return kept


def _image(sets: Sequence[_Set]) -> pa.Buffer:
    """The bytes of an index file."""
    names = [made.entry.name for made in sets]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f'two test sets are called "{name}": rename one')
    parts = [len(made.names) for made in sets]
    begin = np.concatenate([[0], np.cumsum(parts)]).astype(np.int64)
    arrays: dict[str, Any] = {"set": np.repeat(np.arange(len(sets)), parts)}
    arrays |= {
        "label": [each for made in sets for each in made.labels],
        "name": [each for made in sets for each in made.names],
        "text": [each for made in sets for each in made.texts],
    }
    for name in _COLUMNS.keys() - arrays.keys():
        values = [made.arrays[name] for made in sets]
        if name in _RAGGED:
            sizes = np.concatenate([np.zeros(0, np.int64), *(np.diff(each) for each in values)])
            arrays[name] = np.concatenate([[0], np.cumsum(sizes)])
        else:
            kind = _COLUMNS[name].to_pandas_dtype()
            arrays[name] = np.concatenate([np.zeros(0, kind), *values])
    seeds = []
    for key in sorted({key for made in sets for key, _, _ in made.seeds}):
        mine = [
            (gram, part.astype(np.int64) + begin[at])
            for at, made in enumerate(sets)
            for kind, gram, part in made.seeds
            if kind == key
        ]
        gram = np.concatenate([gram for gram, _ in mine])
        part = np.concatenate([part for _, part in mine])
        order = np.lexsort((part, gram))
        gram, part = gram[order], part[order]
        first = _starts(gram)
        code, n = key
        ngrams = NgramIndex.build(gram[first], n, code=code)
        offsets = [*first.tolist(), len(gram)]
        seeds.append(
            {"code": code, "ngrams": bytes(ngrams.image), "offsets": offsets, "parts": part}
        )
    about = {
        "versions": _versions(),
        "sets": [{**vars(made.entry), "too_short": list(made.entry.too_short)} for made in sets],
    }
    columns = {
        name: pa.array([pa.array(arrays[name], kind)], pa.large_list(kind))
        for name, kind in _COLUMNS.items()
    }
    columns["seeds"] = pa.array([seeds], pa.large_list(_SEEDS))
    batch = pa.RecordBatch.from_arrays(
        list(columns.values()),
        schema=pa.schema(
            [(name, column.type) for name, column in columns.items()],
            metadata={"about": json.dumps(about, ensure_ascii=False)},
        ),
    )
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, batch.schema) as writer:
        writer.write_batch(batch)
    body = sink.getvalue()
    head = _MAGIC.ljust(16, b"\0") + _checksum(body)
    return pa.py_buffer(head.ljust(_HEADER, b"\0") + body.to_pybytes())


def _versions() -> dict[str, Any]:
    return {
        "format": FORMAT,
        "tokens": _native.TOKEN_TABLE_VERSION,
        "unicode": _native.UNICODE_VERSION,
    }


def _checksum(body: pa.Buffer) -> bytes:
    return xxh3_128(body).digest()


def _starts(*columns: npt.NDArray[Any]) -> Ints:
    """Where rows begin that differ from the row before; the columns are sorted together."""
    size = len(columns[0])
    first = np.zeros(size, dtype=np.bool_)
    first[:1] = True
    for column in columns:
        first[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(first)


def _spread(first: Ints, end: Ints, owner: Ints) -> tuple[Ints, Ints]:
    """The numbers of ranges, one range after another, and the owner of each."""
    size = end - first
    inner = np.arange(int(size.sum())) - np.repeat(np.cumsum(size) - size, size)
    return np.repeat(first, size) + inner, np.repeat(owner, size)


def _offsets(owner: Ints, owners: int) -> Ints:
    """Offsets of what belongs to each owner; ``owner`` ascends."""
    return np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=owners))]).astype(np.int64)
