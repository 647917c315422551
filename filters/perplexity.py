"""The ``perplexity`` filter: how surprised a KenLM model is by a text."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from cleanpipe.bounds import Bounds, Flags
from cleanpipe.errors import ConfigError
from cleanpipe.filters.profiles import PROFILES, Profile, ProfileName, unusable
from cleanpipe.parameters import LocalPath
from cleanpipe.stage import Filter, Measures, Resource, Rule
from cleanpipe.units import Units

_VOCABULARY_CACHE = 1 << 18  # words remembered a process: about 25 MB


@dataclass(frozen=True)
class Perplexity(Filter):
    """Keeps text whose perplexity under a language model lies within bounds.

    perplexity = 10 ** (-sum of log10 p / sum of (tokens + 1)), both sums over the sentences
    of the text as the model's profile splits them; the 1 is the end of the sentence, which
    the model predicts too. This is KenLM's own definition (Heafield 2011) for more than one
    line; logarithms are summed in double precision over sentences, in order.

    Very low is boilerplate and lists, very high is noise or another language; published
    advice contradicts itself, so both ends are for the user to set (CCNet, Wenzek et al.
    2020, section 3.4, cuts at percentiles of a reference for each language).

    Parameters:
        model: a KenLM model: binary (memory-mapped, one copy for all workers of a machine)
            or ARPA (read into memory, slow).
        bounds: perplexities that pass. Default: open, a scorer that drops nothing.
        profile: ``words`` or ``characters``, how the model's training text was prepared.
            Default: null, what ``<model>.json`` beside the model says:
            ``{"profile": "words", "spm": null, "sha256": "..."}``. Neither is a fault, as
            is saying two different things.
        sha256: what the model file's digest must be. Default: null, that in ``<model>.json``
            if there is one; it is recorded in any case.
        min_tokens: texts of fewer tokens are not judged. Default 20: of stretches of 20 tokens
            from held-out Wikipedia one in twenty is off its document's own perplexity by
            more than a factor of 7.8 (English) or 6.5 (Chinese), about what lies between
            the median of good text and the nearer of the usual bounds (20 to 1500 around
            230); at 10 tokens it is 14 and 12, at 50 it is 3.8 and 3.8.

    Measures:
        perplexity: NaN below ``min_tokens``.
        oov_share: tokens the model does not know / tokens, in [0, 1]; NaN without tokens.
        model_tokens: tokens of the prepared text, ends of sentences not counted.

    Literal ``<s>``, ``</s>`` and ``<unk>`` in the text are harmless, as every profile splits
    them at their brackets; NUL, at which KenLM would cut the sentence, is replaced by U+FFFD.

    Errors: ConfigError where the module ``kenlm`` or the model cannot be loaded.
    """

    kind: ClassVar[str] = "perplexity"
    uses_model: ClassVar[bool] = True

    model: LocalPath
    bounds: Bounds = Bounds()
    profile: ProfileName | None = None
    sha256: str | None = None
    min_tokens: int = field(default=20, kw_only=True)

    def resources(self) -> tuple[Resource, ...]:
        """The model, and the file beside it that states its profile, where there is one."""
        beside = () if self._stated is None else (Resource(self.model.found(str(self._beside))),)
        stated = (self._stated or {}).get("sha256")
        expected = self.sha256 or (stated if isinstance(stated, str) else None)
        return (Resource(self.model, expected), *beside)

    def check(self) -> Iterable[tuple[str, str]]:
        """A profile that nobody states, that two places state differently, or that is unknown."""
        if self.min_tokens < 1:
            yield "min_tokens", f"expected at least 1, got {self.min_tokens}"
        try:
            stated = self._stated
        except ConfigError as error:
            yield "model", str(error)
            return
        if stated is None:
            if self.profile is None and Path(self.model).exists():
                ways = (
                    f'{{"profile": "words"}} into {self._beside.name} beside it, or `profile:` here'
                )
                yield "model", f"nothing says how to prepare text for this model: write {ways}"
            return
        name = stated.get("profile")
        if fault := unusable(name):
            yield "model", f"{self._beside.name}: {fault}"
        elif self.profile not in (None, name):
            yield (
                "profile",
                f"{self._beside.name} beside the model says {name}, this says {self.profile}",
            )
        if stated.get("spm") is not None:
            yield (
                "model",
                f"{self._beside.name}: the profile {name} takes no SentencePiece model (spm)",
            )
        digest = stated.get("sha256")
        if digest is not None and not isinstance(digest, str):
            yield "model", f"{self._beside.name}: expected a text as sha256, got {digest!r}"
        elif digest and self.sha256 and digest != self.sha256:
            yield "sha256", f"{self._beside.name} beside the model says {digest}"

    def takes(self) -> tuple[str, ...]:
        """``perplexity``, ``oov_share`` and ``model_tokens``."""
        return ("perplexity", "oov_share", "model_tokens")

    def rules(self) -> tuple[Rule, ...]:
        """``perplexity``, where it is bounded."""
        return (Rule("perplexity", "perplexity", self.bounds),) if self.bounds else ()

    def too_short(self, units: Units) -> Flags:
        """None of them: it counts the model's tokens, and below ``min_tokens`` measures nothing."""
        return np.zeros(len(units), dtype=np.bool_)

    def measure(self, units: Units) -> Measures:
        """One call of the model a sentence."""
        profile, score, knows = self._profile, self._model.score, self._vocabulary.__getitem__
        perplexity = np.full(len(units), np.nan)
        oov_share = np.full(len(units), np.nan)
        model_tokens = np.zeros(len(units))
        for index, text in enumerate(units.strings):
            # KenLM reads C strings, in which NUL is the end.
            sentences = profile(text.replace("\0", "\ufffd") if "\0" in text else text)
            log10, tokens, known = 0.0, 0, 0
            for sentence in sentences:
                log10 += score(" ".join(sentence))
                tokens += len(sentence)
                known += sum(map(knows, sentence))
            model_tokens[index] = tokens
            if tokens:
                oov_share[index] = (tokens - known) / tokens
            if tokens >= self.min_tokens:
                perplexity[index] = 10.0 ** (-log10 / (tokens + len(sentences)))
        return {"perplexity": perplexity, "oov_share": oov_share, "model_tokens": model_tokens}

    @property
    def _beside(self) -> Path:
        return Path(f"{self.model}.json")

    @cached_property
    def _stated(self) -> dict[str, object] | None:
        """What the file beside the model says; None without such a file."""
        try:
            found = json.loads(self._beside.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise ConfigError(f"{self._beside.name} cannot be read: {error}") from error
        if not isinstance(found, dict):
            raise ConfigError(f"{self._beside.name}: expected a map with `profile`, got {found!r}")
        return found

    @cached_property
    def _profile(self) -> Profile:
        name = self.profile or (self._stated or {}).get("profile")
        if fault := unusable(name):
            raise ConfigError(f"perplexity: {self.model}: {fault}")
        return PROFILES[str(name)]

    @cached_property
    def _model(self) -> Any:
        try:
            import kenlm
        except ImportError as error:
            raise ConfigError(
                f"perplexity: the module `kenlm` cannot be imported ({error}). It comes from the "
                "distribution ufal-kenlm; kenlm and kenlm-ex install a module of the same name "
                "over it: uninstall those, then `pip install --force-reinstall ufal-kenlm`"
            ) from error
        config = kenlm.Config()
        config.load_method = kenlm.LoadMethod.POPULATE_OR_LAZY  # mapped and shared, read in order
        config.show_progress = False
        config.arpa_complain = kenlm.ARPALoadComplain.NONE
        try:
            return kenlm.Model(str(self.model), config)
        except (OSError, RuntimeError) as error:
            raise ConfigError(f"perplexity: {self.model} is no KenLM model: {error}") from error

    @cached_property
    def _vocabulary(self) -> _Vocabulary:
        return _Vocabulary(self._model)


class _Vocabulary(dict[str, bool]):
    """Whether the model knows a word, remembered: KenLM's own look-up costs an encoding."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def __missing__(self, word: str) -> bool:
        if len(self) >= _VOCABULARY_CACHE:
            self.clear()
        known: bool = word in self._model
        self[word] = known
        return known
