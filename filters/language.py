"""The ``language`` filter: which language a text is in, by a fastText model."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cleanpipe.bounds import Bounds, Flags
from cleanpipe.errors import ConfigError
from cleanpipe.filters.fasttext_models import (
    ModelFile,
    Predict,
    expected_sha256,
    fault_of,
    inspected,
    lines,
    loaded,
)
from cleanpipe.filters.language_codes import (
    UNDECIDED,
    LabelScheme,
    Named,
    code_of,
    reading,
    scheme_of,
)
from cleanpipe.parameters import LocalPath, nearest
from cleanpipe.stage import Codes, Evidence, Filter, Measures, Resource, Rule
from cleanpipe.units import Units

SHIPPED = Path(__file__).parent / "models" / "lid.176.ftz"
Part = Literal["beginning", "samples"]

_STRETCH = 75
_MOST = 10


@dataclass(frozen=True)
class Language(Filter):
    """Keeps documents in the languages asked for; without ``keep`` it only measures.

    Languages are codes: ISO 639-1 where there is one, else ISO 639-3, whatever the model's own
    labels are like (docs/languages.md).

    Parameters:
        keep: languages to keep (``en``, ``zh``, ``yue``), or groups: a list, or a map with the
            lowest score for each, ``{en: 0.65, zh: 0.5}``. Default: empty, a scorer that drops
            nothing.
        min_score: with a list, the lowest score to keep, 0 to 1. Default 0.0. CCNet (Wenzek
            et al. 2020, section 3.3) and FineWeb (Penedo et al. 2024, section 3.3) use 0.5
            and 0.65.
        model: a supervised fastText model. Default: null, lid.176.ftz, which ships (176
            languages; Joulin et al. 2016, arXiv:1612.03651; see models/NOTICE.md).
        sha256: what the model file's digest must be. Default: null, which checks lid.176.ftz
            and lid.176.bin, by their file names, against the published ones and only records
            that of another.
        characters: how many characters are given to the model, or null for all. Default 1500.
        part: which these are: ``beginning``, or ``samples``, stretches of 75 characters, the
            first at the beginning, the last at the end, the others evenly between them. Default
            ``samples``: of 2,058 web pages 100.0 % get the language of the full text, of 58,348
            pages of manuals 99.6 %; from the first 1,500 characters 99.3 and 98.9 %
            (docs/languages.md).
        top: how many languages are stored for each text, the most likely first. Default 1; at
            most 10.
        label_scheme: how the model's labels are to be read: ``wikipedia`` (lid.176), ``iso``
            (``eng_Latn``, as NLLB, OpenLID and GlotLID write, ``zh-Hant``, ``eng``), ``as_is``.
            Default: null, told from the labels.
        groups: languages that count as one, ``{zh: [zh, yue, wuu]}``: the group stands for its
            members, and its probability is the sum of theirs. Default: null, none.

    Measures:
        language: the most likely language or group; ``und`` where it cannot be decided, which is
            where the part looked at holds no letter at all (empty, digits, punctuation, emoji:
            the model would say ``en`` at 0.12 for each of them), where the model knows no part
            of any word, and so answers the same, or where the model says so (``und_Grek``). A
            low score alone does not make ``und``.
        score: the model's probability for it, in [0, 1], the sum over its labels where it has
            several (``zho_Hans``, ``zho_Hant``); NaN where the model was not asked. float32 in
            the model, so 1.00001 is possible there, and is 1.0 here.
        label: the model's own label (``__label__`` left out) behind the decision, the most likely
            one of several; null where the model was not asked.
        script: the script that the label names (ISO 15924: ``Latn``, ``Hans``), null where it
            names none. Only with a model whose labels name any.
        language_2, score_2, and so on: with ``top`` above 1, what comes next; null and NaN where
            there is no more.

    Rules, in order:
        keep: the language is one of ``keep``; ``und`` is kept where it is listed.
        score: the score is at least the one asked for its language; NaN does not fail.

    What is done to the text before the model sees it: line breaks become spaces (one ends
    the text for fastText), as does a literal ``</s>`` (so does that); text of which more than
    half of the cased letters are capitals is lower-cased (the model agrees with itself on only
    76 % of capitalised texts otherwise); Han and kana get a space on either side, as the model
    takes an unspaced sentence for one unknown word and its label from chance: of 149,063 short
    Chinese texts (reviews, poems, encyclopaedia) 134,915 are labelled right without the spaces
    and 147,757 with them. NUL separates words there, and needs nothing.

    Errors: ConfigError where the module ``fasttext`` or the model cannot be loaded.
    """

    kind: ClassVar[str] = "language"
    version: ClassVar[int] = 2
    uses_model: ClassVar[bool] = True
    labels: ClassVar[tuple[str, ...]] = (
        "language",
        "label",
        "script",
        *(f"language_{place}" for place in range(2, _MOST + 1)),
    )

    keep: tuple[str, ...] | Mapping[str, float] = ()
    min_score: float = 0.0
    model: LocalPath | None = None
    sha256: str | None = None
    characters: int | None = 1500
    part: Part = "samples"
    top: int = 1
    label_scheme: LabelScheme | None = None
    groups: Mapping[str, tuple[str, ...]] | None = None

    def resources(self) -> tuple[Resource, ...]:
        """The model, whose digest is known where it is a published one."""
        shipped = LocalPath(str(SHIPPED), SHIPPED.name)  # where it is installed is no matter
        return (Resource(self.model or shipped, self._expected_sha256),)

    def check(self) -> Iterable[tuple[str, str]]:
        """Scores outside [0, 1], a score that nothing would use, languages the model lacks."""
        if not 0.0 <= self.min_score <= 1.0:
            yield "min_score", f"expected a score from 0 to 1, got {self.min_score}"
        if self.min_score and isinstance(self.keep, Mapping):
            yield "min_score", "the map in `keep` has a score for each language: drop this one"
        elif self.min_score and not self.keep:
            yield "min_score", "nothing is dropped without `keep`: list the languages to keep"
        if self.characters is not None and self.characters < 1:
            yield "characters", f"expected at least 1, or null for all, got {self.characters}"
        if not 1 <= self.top <= _MOST:
            yield "top", f"expected 1 to {_MOST}, got {self.top}"
        if isinstance(self.keep, Mapping):
            for label, score in self.keep.items():
                if not 0.0 <= score <= 1.0:
                    yield "keep", f"expected a score from 0 to 1 for {label}, got {score}"
        if fault := fault_of(self._path, self._expected_sha256):
            yield "model", fault
        if (meaning := self._meaning_if_any) is None:
            return
        yield from meaning.faults_of_groups()
        for wanted in self.keep:
            if fault := meaning.fault_of(wanted):
                yield "keep", fault

    def takes(self) -> tuple[str, ...]:
        """``language``, ``score``, ``label``, ``script`` if the labels name any, and the next."""
        meaning = self._meaning_if_any
        scripts = ("script",) if meaning is not None and meaning.scripts else ()
        places = range(2, self.top + 1)
        more = [name for place in places for name in (f"language_{place}", f"score_{place}")]
        return ("language", "score", "label", *scripts, *more)

    def rules(self) -> tuple[Rule, ...]:
        """``keep``, then ``score``: with a map once a language, as each has its own bound."""
        if not self.keep:
            return ()
        keep = Rule("keep", "language", f"in {', '.join(self.keep)}")
        if isinstance(self.keep, Mapping):
            return (
                keep,
                *(
                    Rule("score", "score", Bounds(low), only=("language", label))
                    for label, low in self.keep.items()
                ),
            )
        return (keep, Rule("score", "score", Bounds(self.min_score)))

    def label_values(self) -> Mapping[str, Collection[str]]:
        """The languages and labels of the model, where it can be read."""
        if (meaning := self._meaning_if_any) is None:
            return {}
        known = {"label": meaning.named.keys(), "script": meaning.scripts}
        languages = {name: meaning.decisions for name in self.labels if name not in known}
        return {
            name: values for name, values in {**known, **languages}.items() if name in self.takes()
        }

    def measure(self, units: Units) -> Measures:
        """One call of the model a unit."""
        predict, meaning, top, size = self._predict, self._meaning, self.top, len(units)
        asked = -1 if meaning.summed else top
        nothing = predict(b"\n", asked)
        found_labels: list[list[str | None]] = [[None] * size for _ in range(top)]
        found_scores = [[np.nan] * size for _ in range(top)]
        for index, line in enumerate(self._lines(units.text)):
            if not line:
                continue
            found = predict(line, asked)
            if found == nothing:  # the model knows no part of any word: it would say so of all
                continue
            if meaning.summed:
                found = meaning.ranked(found, top)
            for place, (score, label) in enumerate(found):
                found_labels[place][index], found_scores[place][index] = label, score
        measures: dict[str, npt.NDArray[np.float64] | pa.LargeStringArray] = {}
        for place, (labels, scores) in enumerate(zip(found_labels, found_scores, strict=True)):
            none = None if place else UNDECIDED
            languages = [none if label is None else meaning.decision_of[label] for label in labels]
            end = f"_{place + 1}" if place else ""
            measures[f"language{end}"] = pa.array(languages, pa.large_string())
            measures[f"score{end}"] = np.array(scores, dtype=np.float64)
            if not place:
                measures["label"] = pa.array(labels, pa.large_string())
        if meaning.scripts:
            named = meaning.named
            scripts = [None if each is None else named[each].script for each in found_labels[0]]
            measures["script"] = pa.array(scripts, pa.large_string())
        return measures

    def failures(self, measures: Measures) -> list[Flags]:
        """Shape (n,) a rule: the wrong language; the right one with too low a score."""
        if not self.keep:
            return []
        languages = measures["language"]
        assert isinstance(languages, pa.LargeStringArray)
        kept = _one_of(languages, tuple(self.keep))
        taken = languages.is_valid().to_numpy(zero_copy_only=False)
        return [taken & ~kept, *(failed & kept for failed in super().failures(measures))]

    def evidence(self, units: Units, codes: Codes, measures: Measures) -> Sequence[Evidence | None]:
        """For the rule ``keep`` the language found."""
        labels = measures["language"].tolist()
        return [
            Evidence(label) if code == 1 else None
            for label, code in zip(labels, codes, strict=True)
        ]

    def _lines(self, texts: pa.LargeStringArray) -> Iterator[bytes]:
        """What the model is given of each text; empty where it is not asked."""
        stretch = _STRETCH if self.part == "samples" else 0
        return lines(texts, self.characters, stretch, spaced=True, lowered=True)

    @property
    def _path(self) -> str:
        return str(SHIPPED) if self.model is None else self.model

    @property
    def _expected_sha256(self) -> str | None:
        return expected_sha256(self._path, self.sha256)

    @cached_property
    def _file(self) -> ModelFile:
        return inspected(self._path)

    @cached_property
    def _meaning(self) -> _Meaning:
        return _Meaning(self._file.labels, self.label_scheme, self.groups or {})

    @cached_property
    def _meaning_if_any(self) -> _Meaning | None:
        """None where the model cannot be read, which `check` and the engine tell."""
        try:
            return self._meaning
        except (OSError, ConfigError):
            return None

    @cached_property
    def _predict(self) -> Predict:
        return loaded(self._file)


class _Meaning:
    """What a model's labels mean: languages, scripts, and the groups that are decided between.

    Attributes:
        named: language and script of each label.
        scripts: every script that is named.
        decision_of: what a text with that label is found to be.
        decisions: what a text can be found to be: languages in no group, groups, ``und``.
        summed: whether one of them has several labels, so that probabilities are summed.
    """

    def __init__(
        self,
        labels: Sequence[str],
        scheme: LabelScheme | None,
        groups: Mapping[str, tuple[str, ...]],
    ) -> None:
        read = reading(scheme or scheme_of(labels))
        self._groups = groups
        self._group_of = {code: group for group, codes in groups.items() for code in codes}
        self.named: Mapping[str, Named] = {label: read(label) for label in labels}
        self.scripts = {named.script for named in self.named.values() if named.script}
        self._languages = {named.language for named in self.named.values()}
        self.decisions = set(map(self._decision, self._languages))
        self.decision_of = {
            label: self._decision(named.language) for label, named in self.named.items()
        }
        self.summed = len(self.decisions) < len(self.named)
        self.decisions.add(UNDECIDED)

    def _decision(self, language: str) -> str:
        return self._group_of.get(language, language)

    def ranked(self, found: Sequence[tuple[float, str]], most: int) -> list[tuple[float, str]]:
        """Probability and most likely label of the most likely decisions, the first first.

        Args:
            found: all of the model's labels with their probabilities, the most likely first.
            most: how many are wanted.
        """
        total: dict[str, float] = {}
        first: dict[str, str] = {}
        for score, label in found:
            decision = self.decision_of[label]
            total[decision] = total.get(decision, 0.0) + score
            first.setdefault(decision, label)
        best = sorted(total, key=lambda decision: (-total[decision], decision))[:most]
        return [(min(total[decision], 1.0), first[decision]) for decision in best]

    def fault_of(self, wanted: str) -> str | None:
        """Why this is nothing that a text can be found to be; None where it is."""
        if wanted in self.decisions:
            return None
        return self._advice(wanted, self.decisions)

    def faults_of_groups(self) -> Iterator[tuple[str, str]]:
        """(parameter, fault): members that are no languages or in two groups, misleading names."""
        seen: dict[str, str] = {}
        for group, codes in self._groups.items():
            place = f"groups.{group}"
            if group in ("", UNDECIDED):
                yield place, f'expected a name that is not "{group}", which means something else'
            if not codes:
                yield place, "expected a list of languages, got none"
            for code in codes:
                known = {code, code_of(code)} & self._languages
                if not known and code not in self.named:
                    near = nearest(code, self._languages)
                    yield place, f'the model has no language "{code}"; {near}'
                elif code not in self._languages:
                    yield place, self._advice(code, self._languages)
                if code in seen:
                    where = "twice" if seen[code] == group else f'in the group "{seen[code]}" too'
                    yield place, f'"{code}" is there {where}'
                seen[code] = group
            if group in self._languages and group not in codes:
                yield place, f'"{group}" is a language and not in its group: add it, or rename it'

    def _advice(self, wanted: str, known: Collection[str]) -> str:
        named = self.named.get(wanted)
        language = code_of(wanted) if named is None else named.language
        meant = language if language in known else self._decision(language)
        if meant in known and wanted in self._group_of:
            return f'"{wanted}" is in the group "{meant}": write "{meant}"'
        if meant in known and named is not None:
            return f'"{wanted}" is the model\'s label of the language "{meant}": write "{meant}"'
        if meant in known:
            return f'the code of "{wanted}" is "{meant}" here: write "{meant}"'
        return f'the model has no language "{wanted}"; {nearest(wanted, known)}'


def _one_of(labels: pa.LargeStringArray, wanted: tuple[str, ...]) -> Flags:
    """Flags, shape (n,): which labels are wanted; null never is."""
    found = pc.is_in(labels, value_set=pa.array(wanted, pa.large_string()))
    return np.asarray(found.to_numpy(zero_copy_only=False), dtype=np.bool_)
