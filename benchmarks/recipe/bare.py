"""The bare calls of the models: which strings they got, and what the calls cost alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import fasttext  # noqa: F401  # loads the module below
import fasttext_pybind
import kenlm

from benchmarks.measuring.clock import cpu_seconds
from benchmarks.recipe.split import LANGUAGE, PERPLEXITY


class Calls:
    """What models were called with in the block of :meth:`recorded`."""

    def __init__(self) -> None:
        self._models: dict[str, Any] = {}
        self._calls: dict[str, list[tuple[Any, ...]]] = {LANGUAGE: [], PERPLEXITY: []}

    @contextmanager
    def recorded(self) -> Iterator[None]:
        """Models that are loaded in the block note what they are called with."""
        calls, models = self._calls, self._models
        language, perplexity = fasttext_pybind.fasttext, kenlm.Model

        class Language(language):  # type: ignore[misc, valid-type]
            def predict(self, *args: Any) -> Any:
                models[LANGUAGE] = super().predict
                calls[LANGUAGE].append(args)
                return super().predict(*args)

        class Perplexity(perplexity):  # type: ignore[misc, valid-type]
            def score(self, *args: Any) -> Any:
                models[PERPLEXITY] = super().score
                calls[PERPLEXITY].append(args)
                return super().score(*args)

        fasttext_pybind.fasttext, kenlm.Model = Language, Perplexity
        try:
            yield
        finally:
            fasttext_pybind.fasttext, kenlm.Model = language, perplexity

    def number(self, part: str) -> int:
        """How many there were."""
        return len(self._calls[part])

    def seconds(self, part: str) -> float:
        """The CPU time of the same calls, with nothing else done."""
        call, calls = self._models[part], self._calls[part]

        def again() -> None:
            for args in calls:
                call(*args)

        return cpu_seconds(again)
