"""Units of text with what is known of them: what every stage looks at."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cleanpipe import surface
from cleanpipe.bounds import Numbers

Value: TypeAlias = Numbers | pa.LargeStringArray


def rows_of(value: Value, rows: npt.NDArray[np.int64]) -> Value:
    """Some rows of a measure or label."""
    if isinstance(value, np.ndarray):
        return value[rows]
    taken: Value = value.take(pa.array(rows, pa.int64()))
    return taken


class Units:
    """n documents, paragraphs, lines or sentences, all of one version of their text.

    Attributes:
        text: large_string, shape (n,), no nulls, well-formed UTF-8.
        document: int64, shape (n,), ascending: the document that each unit lies in, where they
            are parts of documents; else None.
    """

    def __init__(
        self,
        text: pa.LargeStringArray,
        known: Mapping[str, Value] | None = None,
        *,
        find: Callable[[str], Value | None] | None = None,
        together: Iterable[Collection[str]] = (),
        document: npt.NDArray[np.int64] | None = None,
    ) -> None:
        """
        Args:
            text: the texts.
            known: labels and measures by name, each of length n: float64 with NaN, or
                large_string with nulls, where not known. Default: nothing is known.
            find: looks up names that ``known`` lacks. Default: none.
            together: groups of surface measures; to ask for one takes its whole group (the
                first that has it) in one go. Default: each is taken alone.
            document: see above. Default: these are no parts of documents.
        """
        self._given = text
        self.document = document
        self._known: Mapping[str, Value] = {} if known is None else known
        self._find = find
        self._together: dict[str, Collection[str]] = {}
        for group in together:
            for name in group:
                self._together.setdefault(name, group)
        self._surface: dict[str, tuple[Numbers, npt.NDArray[np.bool_]]] = {}

    def __len__(self) -> int:
        return len(self._given)

    @cached_property
    def text(self) -> pa.LargeStringArray:
        """The texts, as they were given."""
        return self._given

    @cached_property
    def strings(self) -> list[str]:
        """The texts as Python strings."""
        return [str(text) for text in self.text.to_pylist()]

    def value(self, name: str) -> Value:
        """A label or measure that is known, else a surface measure, taken at most once.

        Errors: KeyError where it is neither; the plan has made sure of that before.
        """
        found = self._lookup(name)
        return self._taken(name, None) if found is None else found

    def number(self, name: str) -> Numbers:
        """:meth:`value` of a measure, or of a column of numbers (NaN where it is null).

        Errors: KeyError where these are no numbers; the plan has made sure of that before.
        """
        value = self.value(name)
        if isinstance(value, np.ndarray):
            return value
        if not (is_numeric(value.type) or value.null_count == len(value)):
            raise KeyError(f"{name} has no numbers")
        numbers: Numbers = value.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        return numbers

    def take(self, rows: npt.NDArray[np.int64]) -> Units:
        """These rows alone, with all that is known of them; shares what is taken later."""
        return _Part(self, rows)

    def _lookup(self, name: str) -> Value | None:
        if name in self._known:
            return self._known[name]
        return self._find(name) if self._find is not None else None

    def _taken(self, name: str, rows: npt.NDArray[np.int64] | None) -> Numbers:
        """A surface measure of these rows (None: all), taking only what is missing."""
        wanted = np.arange(len(self)) if rows is None else rows
        values, have = self._kept(name)
        missing = wanted[~have[wanted]]
        if len(missing):
            whole = len(missing) == len(self)
            text = self.text if whole else self.text.take(pa.array(missing, pa.int64()))
            group = self._together.get(name, (name,))
            names = [each for each in group if not self._kept(each)[1][missing].all()]
            for each, taken in surface.take(text, names).items():
                values_of_each, have_each = self._kept(each)
                values_of_each[missing] = taken
                have_each[missing] = True
        return values[wanted]

    def _kept(self, name: str) -> tuple[Numbers, npt.NDArray[np.bool_]]:
        """What is taken of a surface measure so far, and where it is."""
        kept = self._surface.get(name)
        if kept is None:
            kept = np.full(len(self), np.nan), np.zeros(len(self), dtype=np.bool_)
            self._surface[name] = kept
        return kept


def is_numeric(kind: pa.DataType) -> bool:
    """Whether a column of this type can be compared with bounds."""
    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    )


class _Part(Units):
    """Some rows of other units; measures taken here are kept there."""

    def __init__(self, whole: Units, rows: npt.NDArray[np.int64]) -> None:
        document = None if whole.document is None else whole.document[rows]
        super().__init__(whole.text, document=document)
        self._whole = whole
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    @cached_property
    def text(self) -> pa.LargeStringArray:
        """These rows' texts, copied only if asked for: most filters look at numbers alone."""
        return self._whole.text.take(pa.array(self._rows, pa.int64()))

    @cached_property
    def strings(self) -> list[str]:
        if "strings" in self._whole.__dict__:
            return [self._whole.strings[row] for row in self._rows]
        return [str(text) for text in self.text.to_pylist()]

    def take(self, rows: npt.NDArray[np.int64]) -> Units:
        return _Part(self._whole, self._rows[rows])

    def _lookup(self, name: str) -> Value | None:
        value = self._whole._lookup(name)
        if value is None:
            return None
        if isinstance(value, np.ndarray):
            return value[self._rows]
        return value.take(pa.array(self._rows, pa.int64()))

    def _taken(self, name: str, rows: npt.NDArray[np.int64] | None) -> Numbers:
        return self._whole._taken(name, self._rows if rows is None else self._rows[rows])
