"""The ``classifier`` filter: any supervised fastText model, its labels bounded by name."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cleanpipe.bounds import Bounds, Numbers
from cleanpipe.errors import ConfigError
from cleanpipe.filters.fasttext_models import (
    ModelFile,
    Predict,
    fault_of,
    inspected,
    lines,
    loaded,
)
from cleanpipe.parameters import LocalPath, nearest
from cleanpipe.stage import Filter, Measures, Resource, Rule
from cleanpipe.units import Units

_LABEL, _SCORE = "label", "score"


@dataclass(frozen=True)
class Classifier(Filter):
    """Keeps text by what a fastText classifier says of it: quality, education, toxicity.

    Labels are written as in the model, without ``__label__``.

    Parameters:
        model: a supervised fastText model, such as those of DCLM (Li et al. 2024,
            arXiv:2406.11794), which tell text to learn from from the web at large.
        bounds: probabilities that pass, by label: ``{hq: [0.5, null]}``. Default: null, none.
        scores: more labels whose probability is stored. Default: none.
        weights: a number for each of the model's labels, ``{High: 2, Mid: 1, Low: 0}``, for the
            measure ``score``. Default: null, it is not taken.
        score: scores that pass. Default: open.
        characters: how many characters from the beginning are given to the model. Default: null,
            all: published classifiers were trained on whole documents and their thresholds come
            from whole documents, so a part would be judged by numbers that are not for it.
        lower_case: whether the text is lower-cased, for models that were trained so. Default
            false.
        sha256: what the model file's digest must be. Default: null, it is recorded only.

    Measures:
        label: the most likely label; null where the text has no letter.
        <label>: for each label in ``bounds`` or ``scores`` its probability, in [0, 1] (float32 in
            the model).
        score: with ``weights``, sum of weight x probability over the labels: the expected weight,
            but of a model with one-vs-all loss, whose probabilities do not add up to 1.
        Without a letter there is nothing to look at: all are NaN, which no rule fails.

    Rules, in order: one a label in ``bounds``, under its name; then ``score``.

    What is done to the text before the model sees it: line breaks and a literal ``</s>`` become
    spaces, as either would end the text for fastText. Nothing else: a classifier must see what it
    was trained on, so text that it expects in words (Chinese, mostly) is to be split before.

    Errors: ConfigError where the module ``fasttext`` or the model cannot be loaded.
    """

    kind: ClassVar[str] = "classifier"
    uses_model: ClassVar[bool] = True
    labels: ClassVar[tuple[str, ...]] = (_LABEL,)

    model: LocalPath
    bounds: Mapping[str, Bounds] | None = None
    scores: tuple[str, ...] = ()
    weights: Mapping[str, float] | None = None
    score: Bounds = Bounds()
    characters: int | None = None
    lower_case: bool = False
    sha256: str | None = None

    def resources(self) -> tuple[Resource, ...]:
        """The model."""
        return (Resource(self.model, self.sha256),)

    def check(self) -> Iterable[tuple[str, str]]:
        """Labels that the model lacks, weights that are missing, a score that nothing takes."""
        if self.characters is not None and self.characters < 1:
            yield "characters", f"expected at least 1, or null for all, got {self.characters}"
        if self.score and self.weights is None:
            yield "score", "no score is taken without `weights`, a number for each label"
        for name in self._named:
            if name in (_LABEL, _SCORE) or "." in name:
                message = f'"{name}" cannot be the name of a measure here; give it a weight instead'
                yield "bounds" if name in (self.bounds or ()) else "scores", message
        if fault := fault_of(self.model, self.sha256):
            yield "model", fault
        if (known := self._labels_if_any) is None:
            return
        used = {"bounds": self.bounds or (), "scores": self.scores, "weights": self.weights or ()}
        for parameter, names in used.items():
            for name in names:
                if name not in known:
                    yield parameter, f'the model has no label "{name}"; {nearest(name, known)}'
        for name, weight in (self.weights or {}).items():
            if not math.isfinite(weight):
                yield "weights", f"expected a finite number for {name}, got {weight}"
        for name, bounds in (self.bounds or {}).items():
            if bounds.low is not None and bounds.low > 1:
                yield "bounds", f"expected a probability from 0 to 1 for {name}, got {bounds.low:g}"
        if self.weights is not None and (missing := [n for n in known if n not in self.weights]):
            yield "weights", f"expected a number for every label: {', '.join(missing)} has none"

    def takes(self) -> tuple[str, ...]:
        """``label``, those in ``bounds`` and ``scores``, ``score`` with weights."""
        return (_LABEL, *self._named, *([_SCORE] if self.weights is not None else []))

    def rules(self) -> tuple[Rule, ...]:
        """One a label with bounds, then ``score``."""
        by_label = (Rule(name, name, bounds) for name, bounds in (self.bounds or {}).items())
        return (*by_label, *([Rule(_SCORE, _SCORE, self.score)] if self.score else []))

    def label_values(self) -> Mapping[str, Collection[str]]:
        """The model's labels, where it can be read."""
        known = self._labels_if_any
        return {} if known is None else {_LABEL: known}

    def measure(self, units: Units) -> Measures:
        """One call of the model a unit."""
        predict, named = self._predict, self._named
        weights = self.weights or {}
        asked = -1 if named or weights else 1
        labels: list[str | None] = [None] * len(units)
        shares = np.full((len(named), len(units)), np.nan)
        score = np.full(len(units), np.nan)
        for index, line in enumerate(self._lines(units.text)):
            if not (found := predict(line, asked) if line else []):
                continue
            labels[index] = found[0][1]
            if asked == 1:
                continue
            share_of = {label: share for share, label in found}
            for place, name in enumerate(named):
                shares[place, index] = share_of.get(name, 0.0)
            if weights:
                score[index] = sum([weights[label] * share for share, label in found])
        measures: dict[str, Numbers | pa.LargeStringArray] = {
            _LABEL: pa.array(labels, pa.large_string()),
            **dict(zip(named, shares, strict=True)),
        }
        return {**measures, _SCORE: score} if weights else measures

    @property
    def _named(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*(self.bounds or ()), *self.scores]))

    def _lines(self, texts: pa.LargeStringArray) -> Iterator[bytes]:
        """What the model is given of each text; empty where it is not asked."""
        return lines(pc.utf8_lower(texts) if self.lower_case else texts, self.characters)

    @cached_property
    def _file(self) -> ModelFile:
        return inspected(self.model)

    @cached_property
    def _labels_if_any(self) -> tuple[str, ...] | None:
        """None where the model cannot be read, which `check` and the engine tell."""
        try:
            return self._file.labels
        except (OSError, ConfigError):
            return None

    @cached_property
    def _predict(self) -> Predict:
        return loaded(self._file)
