"""The ``perplexity`` filter: how surprised a KenLM model is by a text."""

from __future__ import annotations

import csv
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from cleanpipe.bounds import Bounds, Flags, Numbers
from cleanpipe.errors import CleanpipeError, ConfigError
from cleanpipe.filters.language_models import (
    HeldOut,
    Stated,
    beside,
    demo_warning,
    fault_of,
    file_of,
    opened,
    pieces_of,
    stated,
)
from cleanpipe.filters.profiles import IMPOSSIBLE, ProfileName, unusable
from cleanpipe.filters.vocabulary import Prepared, Vocabulary, subwords
from cleanpipe.fingerprint import file_sha256
from cleanpipe.parameters import LocalPath, nearest
from cleanpipe.percentiles import LEAST, Percentiles, Range
from cleanpipe.reference_texts import reference_files, reference_texts
from cleanpipe.stage import Filter, Measures, Resource, Rule
from cleanpipe.units import Units

BUCKETS = ("head", "middle", "tail")

_PUBLISHED = "ccnet."
_SHARED = 0.5


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
            or ARPA (read into memory, slow); or the name of one that ships, ``demo.en`` or
            ``demo.zh``, which are for trying this out, and say so.
        bounds: perplexities that pass, or percentiles of a reference,
            ``{percentile: [2, 60], of: reference.jsonl}``: the perplexities of its texts (JSON
            lines or Parquet with a column ``text``, or plain text) that are not too short, at
            least 100. Without ``of`` those that ``<model>.json`` states; ``of: ccnet.en`` are
            those published for CCNet's models, in 49 languages. They are found when the plan is
            made, and printed in it. Default: open, a scorer that drops nothing.
        buckets: two perplexities, or percentiles as above: the label ``bucket`` is ``head``
            below the first, ``middle`` below the second, else ``tail``. CCNet's are
            ``{percentile: [30, 60], of: ccnet.en}``. Default: null, no label.
        profile: ``words``, ``characters`` or ``ccnet``, how the model's training text was
            prepared. Default: null, what ``<model>.json`` beside the model says:
            ``{"profile": "words", "spm": null, "sha256": "..."}``. Neither is a fault, as
            is saying two different things.
        spm: the SentencePiece model, with the profile ``ccnet`` alone. Default: null, what
            ``<model>.json`` says, relative to itself.
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
        bucket: a label, null below ``min_tokens``; only with ``buckets``. ``kept/`` has it too.

    Literal ``<s>``, ``</s>`` and ``<unk>`` in the text are harmless, as every profile splits
    them at their brackets; NUL, at which KenLM would cut the sentence, is replaced by U+FFFD
    (the profile ``ccnet`` deletes it).

    Errors: ConfigError where the module ``kenlm`` or a model cannot be loaded, where a model was
    trained on text prepared otherwise, and where a reference has too few texts.
    """

    kind: ClassVar[str] = "perplexity"
    uses_model: ClassVar[bool] = True
    labels: ClassVar[tuple[str, ...]] = ("bucket",)

    model: LocalPath
    bounds: Range = Bounds()
    buckets: Range | None = None
    profile: ProfileName | None = None
    spm: LocalPath | None = None
    sha256: str | None = None
    min_tokens: int = field(default=20, kw_only=True)

    def resources(self) -> tuple[Resource, ...]:
        """The models, the file beside that states the profile, the references' files."""
        try:
            model, said = self._file, self._stated
        except ConfigError:  # which `check` tells
            return ()
        found = () if said is None else (Resource(self._beside),)
        expected = self.sha256 or (None if said is None else said.sha256)
        pieces = None if said is None or self.spm is not None else said.spm_sha256
        spm = () if self._spm is None else (Resource(self._spm, pieces),)
        references = dict.fromkeys(
            path for each in self._percentiles().values() for path in self._files(each)
        )
        return (Resource(model, expected), *found, *spm, *map(Resource, references))

    def check(self) -> Iterable[tuple[str, str]]:
        """A profile that nobody states, that two places state differently, or that is unknown; a
        model that does not fit it; percentiles of nothing."""
        if self.min_tokens < 1:
            yield "min_tokens", f"expected at least 1, got {self.min_tokens}"
        try:
            faults = [*self._stated_wrongly(), *self._percentiles_of_nothing()]
        except ConfigError as error:  # no such model, or what stands beside it makes no sense
            yield "model", str(error)
            return
        yield from faults
        if not faults and self._as_expected():
            if fault := fault_of(self._file):
                yield "model", fault
            else:
                yield from self._other_text()

    def warnings(self) -> Iterable[str]:
        """That the model is but a demonstration."""
        if sentence := demo_warning(self.model):
            yield sentence

    def settled(self) -> Perplexity:
        """The same with numbers for percentiles."""
        found: dict[str, Any] = {
            name: replace(each, found=self._bounds_of(each))
            for name, each in self._percentiles().items()
        }
        return replace(self, **found) if found else self

    def takes(self) -> tuple[str, ...]:
        """``perplexity``, ``oov_share`` and ``model_tokens``; ``bucket`` where it is asked for."""
        bucket = () if self.buckets is None else ("bucket",)
        return ("perplexity", "oov_share", "model_tokens", *bucket)

    def label_values(self) -> Mapping[str, Collection[str]]:
        """The three buckets."""
        return {} if self.buckets is None else {"bucket": BUCKETS}

    def rules(self) -> tuple[Rule, ...]:
        """``perplexity``, where it is bounded."""
        bounds = self.bounds
        if isinstance(bounds, Percentiles):
            bounds = bounds.found or bounds
        return (Rule("perplexity", "perplexity", _as_rule(bounds)),) if bounds else ()

    def to_be_measured(self, units: Units) -> Flags:
        """All: ``min_tokens`` are the model's."""
        return np.ones(len(units), dtype=np.bool_)

    def too_short(self, units: Units, measures: Measures) -> Flags:
        """Those without a perplexity: it goes by the model's tokens."""
        return np.isnan(_numbers(measures, "perplexity"))

    def measure(self, units: Units) -> Measures:
        """One call of the model a sentence."""
        perplexity = np.full(len(units), np.nan)
        prepared = self._ccnet(units) if self._profile == "ccnet" else self._prepared(units)
        score = self._model.score
        model_tokens = prepared.tokens.astype(np.float64)
        with np.errstate(invalid="ignore"):  # without tokens NaN
            oov_share = (model_tokens - prepared.known) / model_tokens
        for index in np.flatnonzero(prepared.tokens >= self.min_tokens).tolist():
            sentences = prepared.sentences(index)
            log10 = math.fsum(map(score, sentences))
            perplexity[index] = 10.0 ** (-log10 / (int(prepared.tokens[index]) + len(sentences)))
        taken = {"perplexity": perplexity, "oov_share": oov_share, "model_tokens": model_tokens}
        return taken if self.buckets is None else {**taken, "bucket": self._buckets(perplexity)}

    def _prepared(self, units: Units) -> Prepared:
        return self._vocabulary.prepared(units.text, self._profile)

    def _ccnet(self, units: Units) -> Prepared:
        """One sentence a text: the pieces that SentencePiece cuts its line into."""
        lines, tokens, known = [], [], []
        for pieces in subwords(units.text, self._pieces):
            lines.append(f"{' '.join(pieces)}\n".encode() if pieces else b"")
            tokens.append(len(pieces))
            known.append(sum(map(self._known.__getitem__, pieces)))
        first = np.cumsum([0, *map(len, lines)]).tolist()
        return Prepared(b"".join(lines), first, np.array(tokens, np.int64), np.array(known))

    def _buckets(self, perplexity: Numbers) -> pa.LargeStringArray:
        found = self.buckets.found if isinstance(self.buckets, Percentiles) else self.buckets
        assert found is not None and found.low is not None and found.high is not None
        place = (perplexity >= found.low).astype(np.int64) + (perplexity >= found.high)
        names = pa.array(BUCKETS, pa.large_string())
        return names.take(pa.array(place, pa.int64(), mask=np.isnan(perplexity)))

    # ---- percentiles ----

    def _percentiles(self) -> dict[str, Percentiles]:
        """The parameters that are percentiles still to be found, by name."""
        named = {"bounds": self.bounds, "buckets": self.buckets}
        return {
            name: each
            for name, each in named.items()
            if isinstance(each, Percentiles) and each.found is None
        }

    def _files(self, percentiles: Percentiles) -> list[LocalPath]:
        """The files of its reference; none where it has none of its own, or is at fault."""
        if _published(percentiles) is not None:
            return []
        try:
            return reference_files(percentiles.of) if percentiles.of else []
        except ConfigError:  # which `check` tells
            return []

    def _percentiles_of_nothing(self) -> Iterable[tuple[str, str]]:
        if isinstance(self.buckets, (Bounds, Percentiles)):
            ends = self.buckets
            ends = ends.percentile if isinstance(ends, Percentiles) else ends
            if ends.low is None or ends.high is None:
                yield "buckets", "expected two numbers: where middle begins, and where tail does"
        for name, each in self._percentiles().items():
            language = _published(each)
            if language is not None:
                table = _published_tables()
                if language not in table:
                    yield name, f'CCNet published none for "{language}"; {nearest(language, table)}'
                    continue
                try:
                    each.within(table[language])
                except KeyError as error:
                    known = ", ".join(f"{at:g}" for at in table[language])
                    yield name, f"CCNet's percentile {error.args[0]:g} is not known; known: {known}"
            elif each.of:
                try:
                    reference_files(each.of)
                except ConfigError as error:
                    yield name, str(error)
            elif self._held_out is None:
                yield (
                    name,
                    f"{Path(self._beside).name} beside the model states no percentiles: "
                    "say `of:` and files of texts in the language",
                )

    def _bounds_of(self, percentiles: Percentiles) -> Bounds:
        """Its numbers.

        Errors: ConfigError where the reference has too few texts.
        """
        language = _published(percentiles)
        if language is not None:
            return percentiles.within(_published_tables()[language])
        if not percentiles.of:
            assert self._held_out is not None
            return percentiles.within(self._held_out.values)  # its percentiles are its own
        written = ", ".join(path.written for path in percentiles.of)
        found = [np.zeros(0)]
        try:
            for texts in reference_texts(reference_files(percentiles.of)):
                measures = replace(self, buckets=None).measure(Units(texts))
                found.append(_numbers(measures, "perplexity"))
        except ConfigError:
            raise
        except CleanpipeError as error:
            raise ConfigError(f"{written}: {error}") from error
        numbers = np.concatenate(found)
        numbers = numbers[~np.isnan(numbers)]
        if len(numbers) < LEAST:
            raise ConfigError(
                f"{written}: {len(numbers)} texts have {self.min_tokens} tokens or more; "
                f"percentiles take at least {LEAST}"
            )
        return percentiles.within(numbers)

    # ---- models ----

    def _stated_wrongly(self) -> Iterable[tuple[str, str]]:
        found, name = self._stated, Path(self._beside).name
        if found is None:
            if self.profile is not None:
                yield from self._pieces_wrongly(self.profile)
            elif Path(self._file).exists():
                ways = f'{{"profile": "words"}} into {name} beside it, or `profile:` here'
                yield "model", f"nothing says how to prepare text for this model: write {ways}"
            return
        if fault := unusable(found.profile):
            yield "model", f"{name}: {fault}"
            return
        assert found.profile is not None
        if self.profile not in (None, found.profile):
            said = f"says {found.profile}, this says {self.profile}"
            yield "profile", f"{name} beside the model {said}"
            return
        if found.sha256 and self.sha256 and found.sha256 != self.sha256.lower():
            yield "sha256", f"{name} beside the model says {found.sha256}"
        if found.spm is not None and found.profile != "ccnet":
            said = f"the profile {found.profile} takes no SentencePiece model (spm)"
            yield "model", f"{name}: {said}"
        else:
            yield from self._pieces_wrongly(found.profile)

    def _pieces_wrongly(self, profile: str) -> Iterable[tuple[str, str]]:
        if profile == "ccnet" and self._spm is None:
            yield (
                "profile",
                "the profile ccnet needs the SentencePiece model that the language model was "
                "trained with: `spm:` here, or in the file beside the model",
            )
        elif profile != "ccnet" and self.spm is not None:
            yield "spm", f"the profile {profile} takes no SentencePiece model"

    def _other_text(self) -> Iterable[tuple[str, str]]:
        """Signs that the model was trained on text prepared in another way."""
        try:
            model, name = self._model, self._profile
            pieces = None if self._spm is None or not self._spm_exists else self._pieces
        except ConfigError as error:
            yield "model", str(error)
            return
        known = [word for word in IMPOSSIBLE[name] if word in model]
        if known:
            yield (
                "model",
                f'it knows "{known[0]}", which no text has that is prepared as {name}: it was '
                "trained on text prepared in another way; name its own profile",
            )
        elif pieces is not None:
            all_of_it = [pieces.id_to_piece(at) for at in range(pieces.get_piece_size())]
            shared = sum(piece in model for piece in all_of_it)
            if shared < _SHARED * len(all_of_it):
                yield (
                    "spm",
                    f"of its {len(all_of_it):,} pieces the language model knows {shared:,}: it was "
                    "trained with another SentencePiece model",
                )

    def _as_expected(self) -> bool:
        """Whether the model is there, and the one that is meant; if not, the engine says so."""
        expected = self.resources()[0].sha256
        try:
            digest = file_sha256(self._file)
        except OSError:
            return False
        return expected is None or expected.lower() == digest

    @cached_property
    def _file(self) -> LocalPath:
        """The model itself, where it is one that ships."""
        return file_of(self.model)

    @property
    def _beside(self) -> LocalPath:
        return beside(self._file)

    @cached_property
    def _stated(self) -> Stated | None:
        """What the file beside the model says; None without such a file.

        Errors: ConfigError where it makes no sense.
        """
        return stated(self._file)

    @property
    def _held_out(self) -> HeldOut | None:
        """What the file beside the model says of text that it was not trained on."""
        return None if self._stated is None else self._stated.percentiles

    @cached_property
    def _profile(self) -> ProfileName:
        name: Any = self.profile or (self._stated and self._stated.profile)
        if fault := unusable(name):
            raise ConfigError(f"perplexity: {self.model}: {fault}")
        found: ProfileName = name
        return found

    @cached_property
    def _spm(self) -> LocalPath | None:
        """The SentencePiece model, where any place names one."""
        name = None if self._stated is None else self._stated.spm
        if self.spm is not None or name is None:
            return self.spm
        return self._file.found(str(Path(self._file).parent / name))

    @property
    def _spm_exists(self) -> bool:
        return self._spm is not None and Path(self._spm).exists()

    @cached_property
    def _pieces(self) -> Any:
        return pieces_of(str(self._spm))

    @cached_property
    def _model(self) -> Any:
        return opened(self._file)

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return Vocabulary(self._model)

    @cached_property
    def _known(self) -> _Pieces:
        return _Pieces(self._model)


class _Pieces(dict[str, bool]):
    """Whether the model knows a piece, remembered: KenLM's own look-up costs an encoding."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def __missing__(self, word: str) -> bool:
        known: bool = word in self._model
        self[word] = known
        return known


def _numbers(measures: Measures, name: str) -> Numbers:
    value = measures[name]
    assert isinstance(value, np.ndarray)
    return value


def _as_rule(bounds: Bounds | Percentiles) -> Bounds | str:
    """Bounds; in place of percentiles that are still to be found, their words."""
    return bounds if isinstance(bounds, Bounds) else str(bounds)


def _published(percentiles: Percentiles) -> str | None:
    """The language, where they are of CCNet's published models."""
    if len(percentiles.of) != 1 or not percentiles.of[0].written.startswith(_PUBLISHED):
        return None
    return percentiles.of[0].written.removeprefix(_PUBLISHED)


def _published_tables() -> Mapping[str, Mapping[float, float]]:
    """Language -> percentile -> perplexity, for CCNet's published models."""
    path = Path(__file__).parent / "data" / "ccnet_percentiles.csv"
    with path.open(encoding="ascii", newline="") as file:
        rows = csv.DictReader(file)
        return {
            row.pop("language"): {float(at): float(value) for at, value in row.items()}
            for row in rows
        }
