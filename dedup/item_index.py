"""The items of test sets as they are looked for: tokens, weights, grams and n-grams, in one file.

docs/contamination.md has the definitions. Sets do not know of each other: an index of several is
the same whether they were built together or merged, and what is found of one does not depend on
the rest.
"""

from __future__ import annotations

import math
import mmap
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cleanpipe import _native
from cleanpipe.dedup import index_file
from cleanpipe.dedup.item_parts import (
    RAGGED,
    UNIT,
    Ints,
    TestSetEntry,
    TestSetParts,
    Tokens,
    plain,
    starts,
)
from cleanpipe.dedup.items import Item
from cleanpipe.dedup.ngram_index import Hits, NgramIndex
from cleanpipe.errors import ConfigError
from cleanpipe.store import Store


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
        self._image = pa.py_buffer(image)
        self.nbytes = self._image.size
        self._content = index_file.read(self._image)
        self.sets, self.fingerprint = self._content.sets, self._content.fingerprint
        self._arrays = self._content.arrays

    @classmethod
    def build(
        cls,
        sets: Sequence[tuple[str, Tokens | Mapping[str, Tokens], Sequence[Item]]],
        min_weight: float | None = None,
        reference: Callable[[], Iterable[pa.Array]] | None = None,
    ) -> ItemIndex:
        """An index of some test sets.

        Args:
            sets: of each its name, how its parts are read (one for all, or by their names, else
                words) and its items.
            min_weight: weight, in tokens, below which a part is not judged alone. Default: None,
                4.0, of code 8.0.
            reference: gives the texts of a reference sample, large_string arrays, each time it is
                called. Default: there is none.

        Errors: ConfigError for two sets of one name.
        """
        made = [TestSetParts.of(*each, min_weight=min_weight, reference=reference) for each in sets]
        return cls(index_file.written(made))

    @classmethod
    def merge(cls, indexes: Sequence[ItemIndex]) -> ItemIndex:
        """One index of all test sets of several, as if they were built together.

        Errors: ConfigError for two sets of one name.
        """
        return cls(index_file.written([part for index in indexes for part in index._apart()]))

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> ItemIndex:
        """Map a file that :meth:`save` wrote, and verify it: reads all of it once.

        Errors: ConfigError, which names the file and what to do.
        """
        name = os.fspath(path)
        try:
            with open(name, "rb") as file:
                image = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:  # an empty file cannot be mapped
            reason = getattr(error, "strerror", None) or "an empty file"
            raise ConfigError(
                f"{name}: {reason}; expected a local file of `cleanpipe index build`"
            ) from None
        try:
            return cls(image)
        except (ValueError, KeyError, pa.ArrowException) as error:
            raise ConfigError(f"{name}: {error}; build one with `cleanpipe index build`") from None

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
        shown = plain(texts)
        columns = [
            np.concatenate(each)
            for each in zip(
                self._read(shown, False, needed, chosen),
                self._programs(texts, shown, needed, chosen),
                strict=True,
            )
        ]
        order = np.lexsort((columns[2], columns[1], columns[0]))
        return Found(*(column[order] for column in columns))

    def _programs(
        self,
        texts: pa.Array,
        shown: pa.Array,
        needed: npt.NDArray[np.uint64],
        chosen: npt.NDArray[np.bool_] | None,
    ) -> Found:
        """Of programs, in texts as they are and as a page shows them: each part in that reading in
        which more of it is found."""
        found = self._read(texts, True, needed, chosen)
        if not any(seeds.code for seeds in self._content.seeds):
            return found
        rows = np.flatnonzero(pc.not_equal(texts, shown).to_numpy(zero_copy_only=False))
        other = self._read(shown.take(pa.array(rows, pa.int64())), True, needed, chosen)
        other = other._replace(text=rows[other.text])
        best: list[dict[tuple[int, int], int]] = [{}, {}]
        for reading, each in enumerate((found, other)):
            for text, part, covered in zip(each.text, each.part, each.covered, strict=True):
                key = int(text), int(part)
                best[reading][key] = max(int(covered), best[reading].get(key, 0))
        better = {key for key, covered in best[1].items() if covered > best[0].get(key, 0)}
        kept = []
        for each, wanted in ((found, False), (other, True)):
            keys = zip(each.text.tolist(), each.part.tolist(), strict=True)
            mine = np.array([(key in better) == wanted for key in keys], dtype=np.bool_)
            kept.append([column[mine] for column in each])
        return Found(*(np.concatenate(columns) for columns in zip(*kept, strict=True)))

    def _read(
        self,
        texts: pa.Array,
        code: bool,
        needed: npt.NDArray[np.uint64],
        chosen: npt.NDArray[np.bool_] | None,
    ) -> Found:
        """What is found by tokens of one kind; they are looked up in one reading of the texts."""
        kind = [seeds for seeds in self._content.seeds if seeds.code == code]
        hits = NgramIndex.query_all([seeds.ngrams for seeds in kind], texts) if kind else []
        found = [
            self._found(seeds, its, texts, needed, chosen)
            for seeds, its in zip(kind, hits, strict=True)
        ]
        nothing = [np.zeros(0, np.int64)] * len(Found._fields)
        return Found(*(np.concatenate(parts) for parts in zip(nothing, *found, strict=True)))

    def _found(
        self,
        seeds: index_file.Seeds,
        hits: Hits,
        texts: pa.Array,
        needed: npt.NDArray[np.uint64],
        chosen: npt.NDArray[np.bool_] | None,
    ) -> tuple[Ints, ...]:
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
        # Of a text's part, positions ascend already.
        order = np.argsort(text * len(self._arrays["n"]) + part, kind="stable")
        text, part, position = text[order], part[order], position[order]
        first = starts(text, part)
        counts = np.diff(np.append(first, len(part)))
        enough = counts >= self._arrays["least"][part[first]]
        position = position[np.repeat(enough, counts)]
        text, part = text[first][enough], part[first][enough]
        offsets = np.concatenate([[0], np.cumsum(counts[enough])])
        arrays = self._arrays
        candidate, *places = _native.passages(
            texts,
            text,
            part,
            offsets,
            position,
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
        entry: TestSetEntry = self.sets[self._arrays["set"][part]]
        names = str(self._content.names[part]).replace("\n", "+")
        return entry.name, int(self._arrays["item"][part]), names

    def members(self, part: int) -> list[tuple[str, npt.NDArray[np.uint64]]]:
        """The name of a part, or of each that is joined in it, and its tokens."""
        first, end = self._arrays["member_offsets"][part : part + 2]
        ends = np.cumsum(self._arrays["members"][first:end])[:-1]
        names = str(self._content.names[part]).split("\n")
        return list(zip(names, np.split(self.tokens(part), ends), strict=False))

    def label(self, part: int) -> str:
        """The id of a part's item."""
        return str(self._content.labels[part])

    def tokens(self, part: int) -> npt.NDArray[np.uint64]:
        """uint64, shape (tokens,): the hashes of a part's tokens."""
        first, end = self._arrays["token_offsets"][part : part + 2]
        tokens: npt.NDArray[np.uint64] = self._arrays["tokens"][first:end]
        return tokens

    def is_code(self, part: int) -> bool:
        """Whether a part is compared by tokens of programs."""
        return bool(self._arrays["code"][part])

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
        return "\n".join(str(self._content.texts[part]) for part in self.parts_beside(first))

    @cached_property
    def _owners(self) -> Ints:
        """int64, shape (parts,): a number for each set's item, ascending."""
        owners: Ints = self._arrays["set"].astype(np.int64) << 32 | self._arrays["item"]
        return owners

    def _apart(self) -> list[TestSetParts]:
        """Each set by itself, as it was built."""
        return [self._one(number) for number in range(len(self.sets))]

    def _one(self, number: int) -> TestSetParts:
        first, end = np.searchsorted(self._arrays["set"], [number, number + 1]).tolist()
        arrays: dict[str, Any] = {}
        for name in ("item", "code", "n", "least"):
            arrays[name] = self._arrays[name][first:end]
        for offsets, values in RAGGED.items():
            mine = self._arrays[offsets][first : end + 1]
            arrays[offsets] = mine - mine[0]
            for name in values:
                arrays[name] = self._arrays[name][mine[0] : mine[-1]]
        seeds = []
        for kind in self._content.seeds:
            gram = np.repeat(kind.ngrams.hashes, np.diff(kind.offsets))
            ours = (kind.parts >= first) & (kind.parts < end)
            key = (kind.code, kind.ngrams.n)
            seeds.append((key, gram[ours], (kind.parts[ours] - first).astype(np.uint32)))
        labels, names, texts = (
            column[first:end].to_pylist()
            for column in (self._content.labels, self._content.names, self._content.texts)
        )
        return TestSetParts(self.sets[number], labels, names, texts, arrays, seeds)

    @property
    def ngrams(self) -> int:
        """How many n-grams are looked for; one that several sets have counts once."""
        return sum(len(seeds.ngrams) for seeds in self._content.seeds)

    def sizes(self) -> list[tuple[int, int]]:
        """Of each set, how many parts it has, and by how many n-grams these are looked for."""
        owner = self._arrays["set"]
        ngrams = np.zeros(len(self.sets), np.int64)
        for seeds in self._content.seeds:
            gram = np.repeat(np.arange(len(seeds.ngrams)), np.diff(seeds.offsets))
            sets = owner[seeds.parts]  # parts of a gram ascend, and so do their sets
            ngrams += np.bincount(sets[starts(gram, sets)], minlength=len(self.sets))
        parts = np.bincount(owner, minlength=len(self.sets))
        return list(zip(parts.tolist(), ngrams.tolist(), strict=True))


def threshold_of(weight: int) -> float:
    """The share of a part's weight that makes a passage: 0.35 + 0.3 * sqrt(8 / W), W in tokens.

    Read off the best scores of unrelated texts by the weight of the part (docs/contamination.md).

    Args:
        weight: W in 256ths, above 0.
    """
    return min(1.0, 0.35 + 0.3 * math.sqrt(8 * UNIT / weight))
