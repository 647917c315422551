"""The ``language`` filter: which language a text is in, by a fastText model."""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cleanpipe.bounds import Bounds, Flags
from cleanpipe.errors import ConfigError
from cleanpipe.parameters import LocalPath
from cleanpipe.stage import Codes, Evidence, Filter, Measures, Resource, Rule
from cleanpipe.units import Units

UNDECIDED = "und"
SHIPPED = Path(__file__).parent / "models" / "lid.176.ftz"
SHIPPED_SHA256 = "8f3472cfe8738a7b6099e8e999c3cbfae0dcd15696aac7d7738a8039db603e83"

_PREFIX = "__label__"
_UNSPACED = re.compile(
    "([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])"
)
"""A Hiragana, Katakana or Han character."""
_ASCII_SMALL = b"abcdefghijklmnopqrstuvwxyz"
_CASED_END = 0x1F000  # every cased script lies below; emoji and Han beyond are not cased


@dataclass(frozen=True)
class Language(Filter):
    """Keeps documents in the languages asked for; without ``keep`` it only measures.

    Parameters:
        keep: languages to keep, as the model labels them (``en``, ``zh``): a list, or a map
            with the lowest score for each, ``{en: 0.65, zh: 0.5}``. Default: empty, a
            scorer that drops nothing.
        min_score: with a list, the lowest score to keep, 0 to 1. Default 0.0. CCNet (Wenzek
            et al. 2020, section 3.3) and FineWeb (Penedo et al. 2024, section 3.3) use 0.5
            and 0.65.
        model: a supervised fastText model. Default: null, lid.176.ftz, which ships (176
            languages; Joulin et al. 2016, arXiv:1612.03651; see models/NOTICE.md).
        sha256: what the model file's digest must be. Default: null, which checks the shipped
            model against its own and only records that of another.
        characters: how many characters from the beginning are given to the model, or null
            for all. Default 2000: the same label as the full text for 99.6 % of 2,058 web pages.

    Measures:
        language: the most likely label; ``und`` where it cannot be decided, which is where
            the part looked at holds no letter at all (empty, digits, punctuation, emoji: the
            model would say ``en`` at 0.12 for each of them). A low score alone does not make
            ``und``.
        score: the model's probability for it, in [0, 1]; NaN for ``und``. float32 in the
            model, so 1.00001 is possible there, and is 1.0 here.

    Rules, in order:
        keep: the language is one of ``keep``; ``und`` is kept where it is listed.
        score: the score is at least the one asked for its language. ``und`` has none to fail.

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
    uses_model: ClassVar[bool] = True
    labels: ClassVar[tuple[str, ...]] = ("language",)

    keep: tuple[str, ...] | Mapping[str, float] = ()
    min_score: float = 0.0
    model: LocalPath | None = None
    sha256: str | None = None
    characters: int | None = 2000

    def resources(self) -> tuple[Resource, ...]:
        """The model, whose digest is known where it is the shipped one."""
        shipped = LocalPath(str(SHIPPED), SHIPPED.name)  # where it is installed is no matter
        return (Resource(self.model or shipped, self._expected_sha256),)

    def check(self) -> Iterable[tuple[str, str]]:
        """Scores outside [0, 1], a score that nothing would use, labels the model lacks."""
        if not 0.0 <= self.min_score <= 1.0:
            yield "min_score", f"expected a score from 0 to 1, got {self.min_score}"
        if self.min_score and isinstance(self.keep, Mapping):
            yield "min_score", "the map in `keep` has a score for each language: drop this one"
        elif self.min_score and not self.keep:
            yield "min_score", "nothing is dropped without `keep`: list the languages to keep"
        if self.characters is not None and self.characters < 1:
            yield "characters", f"expected at least 1, or null for all, got {self.characters}"
        if isinstance(self.keep, Mapping):
            for label, score in self.keep.items():
                if not 0.0 <= score <= 1.0:
                    yield "keep", f"expected a score from 0 to 1 for {label}, got {score}"
        try:
            known = sorted(self._known_labels() or ())
        except ConfigError as error:
            yield "model", str(error)
            return
        for label in self.keep if known else ():
            if label not in known:
                near = difflib.get_close_matches(label, known, n=1, cutoff=0.5)
                hint = f'did you mean "{near[0]}"? ' if near else ""
                few = f"{len(known)} labels, {', '.join(known[:8])}, ..."
                yield "keep", f'the model has no language "{label}"; {hint}known: {few}'

    def takes(self) -> tuple[str, ...]:
        """``language`` and ``score``."""
        return ("language", "score")

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
        """The model's labels, where it can be read."""
        try:
            known = self._known_labels()
        except ConfigError:  # a fault by itself, which `check` tells
            known = None
        return {} if known is None else {"language": known}

    def measure(self, units: Units) -> Measures:
        """One call of the model a unit."""
        predict = self._model.f.predict
        languages: list[str] = []
        scores = np.full(len(units), np.nan)
        for index, text in enumerate(units.strings):
            prepared = _prepared(text, self.characters)
            # The method behind `predict` works with every NumPy; the text must end in a newline.
            found = predict(prepared + "\n", 1, 0.0, "strict") if prepared else []
            if found:
                score, label = found[0]
                languages.append(label.removeprefix(_PREFIX))
                scores[index] = min(float(score), 1.0)
            else:
                languages.append(UNDECIDED)
        return {"language": pa.array(languages, pa.large_string()), "score": scores}

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

    @property
    def _path(self) -> Path:
        return SHIPPED if self.model is None else Path(self.model)

    @property
    def _expected_sha256(self) -> str | None:
        return self.sha256 or (SHIPPED_SHA256 if self.model is None else None)

    def _known_labels(self) -> frozenset[str] | None:
        """The model's labels and ``und``; None where the file is not what it should be."""
        try:
            digest = hashlib.sha256(self._path.read_bytes()).hexdigest()
        except OSError:
            return None  # the engine says so, with all other files that are missing
        if self._expected_sha256 not in (None, digest):
            return None
        return frozenset(
            [UNDECIDED, *(str(label).removeprefix(_PREFIX) for label in self._model.labels)]
        )

    @cached_property
    def _model(self) -> Any:
        try:
            import fasttext
        except ImportError as error:
            raise ConfigError(
                f"language: the module `fasttext` cannot be imported ({error}). It comes from "
                "the distribution fasttext-community; fasttext-wheel and fasttext install a "
                "module of the same name over it: uninstall those, then `pip install "
                "--force-reinstall fasttext-community`"
            ) from error
        try:
            return fasttext.load_model(str(self._path))
        except (ValueError, MemoryError, RuntimeError) as error:
            raise ConfigError(f"language: {self._path} is no fastText model: {error}") from error


def _prepared(text: str, characters: int | None) -> str:
    """The part of a text the model is to see, harmless for it; empty where no letter is."""
    part = text if characters is None else text[:characters]
    if not any(map(str.isalpha, part)):
        return ""
    part = part.replace("\n", " ")
    if "</s>" in part:
        part = part.replace("</s>", " ")
        if not any(map(str.isalpha, part)):
            return ""
    if not part.isascii():
        part = _UNSPACED.sub(r" \1 ", part)
    return part.lower() if _mostly_capitals(part) else part


def _one_of(labels: pa.LargeStringArray, wanted: tuple[str, ...]) -> Flags:
    """Flags, shape (n,): which labels are wanted; null never is."""
    found = pc.is_in(labels, value_set=pa.array(wanted, pa.large_string()))
    return np.asarray(found.to_numpy(zero_copy_only=False), dtype=np.bool_)


def _mostly_capitals(text: str) -> bool:
    """Whether more than half of the cased letters are capitals."""
    encoded = text.encode()
    if 2 * len(encoded.translate(None, _ASCII_SMALL)) <= len(encoded):
        return False  # the usual case, decided fast: too few characters are left
    points = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)
    return int(_case()[np.minimum(points, _CASED_END)].sum(dtype=np.int64)) > 0


@cache
def _case() -> npt.NDArray[np.int8]:
    """Shape (_CASED_END + 1,): 1 for a capital letter, -1 for a small one, else 0."""
    return np.array(
        [char.isupper() - char.islower() for char in map(chr, range(_CASED_END))] + [0],
        dtype=np.int8,
    )
