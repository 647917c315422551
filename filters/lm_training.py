"""What ``cleanpipe lm train`` does: a KenLM model, its profile and its percentiles beside it.

Not a stage. KenLM's own lmplz estimates the model (Heafield et al. 2013, modified Kneser-Ney),
its build_binary packs it, and the stage ``perplexity`` itself scores the held-out texts.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypeAlias

import numpy as np
import pyarrow as pa
import xxhash

from cleanpipe.errors import ConfigError, RunError
from cleanpipe.filters.language_models import HeldOut, pieces_of
from cleanpipe.filters.perplexity import Perplexity
from cleanpipe.filters.profiles import ProfileName
from cleanpipe.filters.vocabulary import sentence_lines, subwords
from cleanpipe.fingerprint import file_sha256
from cleanpipe.parameters import LocalPath
from cleanpipe.progress import LINE_SECONDS, Progress
from cleanpipe.reference_texts import parts_of
from cleanpipe.schema import NAME_THE_TEXT, text_columns
from cleanpipe.shards import discover
from cleanpipe.sources import Source
from cleanpipe.units import Units

Format = Literal["trie", "probing"]
_Chosen: TypeAlias = Callable[[str], bool]

HELD_OUT = 20
"""Where no held-out files are named, every so manieth document is held out, by its text's hash."""
FEW = 101
"""With fewer held-out documents than there are percentiles some of these are but interpolated."""
ORDERS = range(2, 7)
"""KenLM as it is built everywhere has room for six words."""
_PRUNE = (0, 0, 1)
_PACKED: dict[Format, tuple[str, ...]] = {
    # 8 bits a probability and a backoff, 22 bits of pointers: 3 to 5 times smaller than probing.
    "trie": ("-q", "8", "-b", "8", "-a", "22", "trie"),
    "probing": ("probing",),
}
_FALLBACK = "--discount_fallback"
_LAST = 5  # lines shown of what a program said before it failed


@dataclass(frozen=True)
class Training:
    """What a model is trained on, and how.

    Attributes:
        text: patterns of files with documents, as a source has them.
        output: the file to write the model to; ``<output>.json`` stands beside it.
        profile: how the text is prepared.
        held_out: patterns of files with documents to score and not to train on; a document of
            ``text`` that is equal to one of them is left out. Default: every 20th document of
            ``text`` by the hash of its text, so that it depends on no order.
        column: the column that has the text, or None (default) for ``text``.
        spm: the SentencePiece model of the profile ``ccnet``, or None (default).
        order: the longest n-gram, 2 to 6. Default 5.
        prune: n-grams of length 1, 2, ... that are seen so often or less are left out; the last
            number holds for longer ones too. Default: 0, 0, 1.
        memory: what lmplz and build_binary may sort in, as lmplz writes it. Default ``1G``.
        language: of the text, a code, or None (default) where it is none of one.
        format: ``trie`` (default), quantised and small, or ``probing``, exact and fast.
        lmplz, build_binary: the programs, or None (default) for those on the PATH.
        demo: the model is there to be tried. Default False.
        overwrite: whether a file in the place of the output may be replaced. Default False.
    """

    text: tuple[str, ...]
    output: str
    profile: ProfileName
    held_out: tuple[str, ...] = ()
    column: str | None = None
    spm: str | None = None
    order: int = 5
    prune: tuple[int, ...] | None = None
    memory: str = "1G"
    language: str | None = None
    format: Format = "trie"
    lmplz: str | None = None
    build_binary: str | None = None
    demo: bool = False
    overwrite: bool = False

    def faults(self) -> Iterator[str]:
        """What is wrong with it, a sentence each, beginning with the option."""
        if not self.text:
            yield "--text: expected at least one file or pattern"
        if self.profile == "ccnet" and self.spm is None:
            yield "--spm: the profile ccnet needs the SentencePiece model that goes with it"
        elif self.profile != "ccnet" and self.spm is not None:
            yield f"--spm: the profile {self.profile} takes no SentencePiece model"
        elif self.spm is not None and not os.path.isfile(self.spm):
            yield f"--spm: {self.spm}: no such file"
        if self.order not in ORDERS:
            yield f"--order: expected {ORDERS[0]} to {ORDERS[-1]}, got {self.order}"
        if self.prune is not None:
            sorted_ = list(self.prune) == sorted(self.prune)
            if not (self.prune and self.prune[0] == 0 and sorted_):
                got = " ".join(map(str, self.prune))
                yield f'--prune: expected numbers that do not fall, 0 first, got "{got}"'
            elif len(self.prune) > self.order:
                yield f"--prune: expected at most {self.order} numbers, the order, got " + str(
                    len(self.prune)
                )
        if not re.fullmatch(r"[1-9][0-9]*[bKMGT]", self.memory):
            yield (
                "--memory: expected a number with b, K, M, G or T behind it, such as 1G, "
                f'got "{self.memory}"'
            )
        yield from self._output_faults()

    @property
    def spm_copy(self) -> str:
        """Where a copy of the SentencePiece model goes, beside the model; empty where none does."""
        path = f"{self.output}.sp.model"
        there = os.path.exists(path) and self.spm is not None and os.path.samefile(path, self.spm)
        return "" if self.spm is None or there else path

    def _output_faults(self) -> Iterator[str]:
        if "://" in self.output:
            yield f"--output: {self.output}: expected a local file"
        elif os.path.isdir(self.output):
            yield f"--output: {self.output} is a folder: name a file in it"
        elif not self.overwrite:
            for path in (self.output, f"{self.output}.json", self.spm_copy):
                if os.path.lexists(path):
                    yield f"--output: {path} is there: name another file, or give --overwrite"


@dataclass(frozen=True)
class Trained:
    """What came of it.

    Attributes:
        model: the file of the model.
        documents: how many it was trained on.
        tokens: how many tokens these have, ends of sentences not counted.
        percentiles: of the held-out documents.
    """

    model: str
    documents: int
    tokens: int
    percentiles: HeldOut


def train(training: Training, progress: Progress) -> Trained:
    """Train a model. The same documents give the same bytes, in whatever order they come.

    Args:
        training: what on, and how.
        progress: told what is done.

    Returns:
        What was made. The model appears under its name last, when all else is there.

    Errors: ConfigError for options and inputs, every fault of the options at once; RunError
    where lmplz or build_binary fails. Nothing is left behind then.
    """
    faults = list(training.faults())
    programs = []
    for name, option in (("lmplz", "--lmplz"), ("build_binary", "--build-binary")):
        given = training.lmplz if name == "lmplz" else training.build_binary
        found = shutil.which(given or name)
        programs.append(found or "")
        if found is None:
            faults.append(
                f"{option}: {given or name} is no program that can be run: docs/how-to/lmplz.md "
                "says how to build lmplz and build_binary; have them on the PATH, or name them "
                "with --lmplz and --build-binary"
            )
    if faults:
        raise ConfigError("\n".join(faults))
    text = _Documents("--text", training.text, training.column)
    held_out = _Documents("--held-out", training.held_out, training.column)
    output = Path(training.output).absolute()
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"--output: {training.output}: {error.strerror or error}") from error
    try:
        # Beside the output, so that a rename is all that is left to do.
        with tempfile.TemporaryDirectory(prefix=f".{output.name}.", dir=output.parent) as folder:
            return _Work(training, programs, Path(folder), progress).run(text, held_out, output)
    except OSError as error:
        raise RunError(f"--output: {training.output}: {error.strerror or error}") from error


class _Work:
    """One training, in a folder of its own."""

    def __init__(
        self, training: Training, programs: Sequence[str], folder: Path, progress: Progress
    ) -> None:
        self.training, self.folder, self.progress = training, folder, progress
        self.made = folder / "made"  # apart from the files of the work: its names are the user's
        self.made.mkdir()
        self.lmplz, self.build_binary = programs
        self.documents = self.tokens = 0

    def run(self, text: _Documents, held_out: _Documents, output: Path) -> Trained:
        if held_out:
            hashes = {_hash(each) for texts in self._read("held out", held_out) for each in texts}
            is_apart: _Chosen = lambda each: _hash(each) in hashes  # noqa: E731
        else:
            is_apart = _every_20th
        self._prepare(self._read("read", text, lambda each: not is_apart(each)))
        # Said before hours of work, not after them.
        if not any(self._read("scored", held_out or text, is_apart)):
            raise _nothing_held_out(0)
        self._estimate()
        model = self._pack(output.name)
        stated: dict[str, Any] = {
            "profile": self.training.profile,
            "spm": f"{output.name}.sp.model" if self.training.spm else None,
            "sha256": file_sha256(str(model)),
            "order": self.training.order,
            "tokens": self.tokens,
        }
        if self.training.spm:
            stated["spm_sha256"] = file_sha256(self.training.spm)
        stated |= {"demo": True} if self.training.demo else {}
        stated |= {"language": self.training.language} if self.training.language else {}
        if self.training.spm:
            shutil.copyfile(self.training.spm, self.made / stated["spm"])
        beside = Path(f"{model}.json")
        _write(beside, stated)
        percentiles = self._score(model, self._read("scored", held_out or text, is_apart))
        _write(beside, {**stated, "percentiles": percentiles.to_json()})
        # The model last: it is there only when what it needs is.
        copy = self.training.spm_copy and self.made / stated["spm"]
        for made in filter(None, (copy, beside, model)):
            os.replace(made, output.parent / made.name)
        return Trained(self.training.output, self.documents, self.tokens, percentiles)

    def _prepare(self, texts: Iterable[list[str]]) -> None:
        training = self.training
        try:
            pieces = None if training.spm is None else pieces_of(training.spm)
        except ConfigError as error:
            raise ConfigError(f"--spm: {error}") from error
        with open(self._text, "wb") as file:
            for batch in texts:
                lines = training_lines(pa.array(batch, pa.large_string()), training.profile, pieces)
                file.write(lines)
                self.documents += len(batch)
                self.tokens += lines.count(b" ") + lines.count(b"\n")  # one separator behind each
        if not self.tokens:
            left = "that is not held out" if self.documents == 0 else "with a token"
            raise ConfigError(f"--text: no document {left}: nothing to train on")
        size = f"{self.documents:,} documents, {self.tokens:,} tokens"
        self.progress.say(f"prepared as {training.profile}: {size}")

    def _estimate(self) -> None:
        """lmplz; ``--renumber`` orders the words by their hashes, not as the text has them."""
        training = self.training
        prune = training.prune or _PRUNE[: training.order]
        command = [self.lmplz, "-o", str(training.order), "-S", training.memory]
        command += ["-T", f"{self.folder}/", "--skip_symbols", "--renumber"]
        command += ["--text", str(self._text), "--arpa", str(self._arpa)]
        command += ["--prune", *map(str, prune)]
        start = time.monotonic()
        code, said = self._call(command)
        if code and _FALLBACK in said:
            # Kneser-Ney takes its discounts from how many n-grams are seen once, twice, three and
            # four times; a small text may have none of one of these.
            why = re.search(r"(\d-gram discount out of range|we didn't observe any [^;\n]*)", said)
            self.progress.warn(
                "the text is too small, or too unlike natural text, for its own discounts"
                f"{f' ({why[1]})' if why else ''}: lmplz takes fixed ones ({_FALLBACK})"
            )
            code, said = self._call([*command, _FALLBACK])
        if code:
            raise _failed("lmplz", code, said)
        self._text.unlink()
        self.progress.say(f"lmplz: order {training.order}, {time.monotonic() - start:.1f} s")

    def _pack(self, name: str) -> Path:
        model = self.made / name
        command = [self.build_binary, "-T", f"{self.folder}/", "-S", self.training.memory]
        command += [*_PACKED[self.training.format], str(self._arpa), str(model)]
        code, said = self._call(command)
        if code:
            raise _failed("build_binary", code, said)
        self._arpa.unlink()
        size = model.stat().st_size
        self.progress.say(f"build_binary: {self.training.format}, {size:,} bytes")
        return model

    def _score(self, model: Path, texts: Iterable[list[str]]) -> HeldOut:
        stage = Perplexity(model=LocalPath(str(model)))
        values: list[float] = []
        tokens = documents = 0
        for batch in texts:
            taken = stage.measure(Units(pa.array(batch, pa.large_string())))
            perplexity = np.asarray(taken["perplexity"], np.float64)
            judged = ~np.isnan(perplexity)
            values += perplexity[judged].tolist()
            tokens += int(np.asarray(taken["model_tokens"])[judged].sum())
            documents += len(batch)
        if not values:
            raise _nothing_held_out(documents)
        if len(values) < FEW:
            self.progress.warn(
                f"percentiles of {len(values):,} held-out documents only: 101 or more are needed "
                "for each of them to be one of a document"
            )
        self.progress.say(f"scored: {len(values):,} held-out documents, {tokens:,} tokens")
        return HeldOut(len(values), tokens, np.percentile(values, range(101)))

    def _read(
        self, done: str, documents: _Documents, chosen: _Chosen = lambda each: True
    ) -> Iterator[list[str]]:
        """The chosen texts in batches; says now and then how far it is, and at the end what could
        not be read."""
        said = time.monotonic()
        number = 0
        for batch in documents:
            self.progress.check()
            yield list(filter(chosen, batch))
            number += len(batch)
            if time.monotonic() - said >= LINE_SECONDS:
                said = time.monotonic()
                self.progress.say(f"{done}: {number:,} documents")
        if documents.dead and done != "scored":
            first = documents.first_dead
            self.progress.warn(f"{documents.dead:,} records cannot be read, the first: {first}")

    def _call(self, command: Sequence[str]) -> tuple[int, str]:
        """Exit status, and what the program said on stderr; ended where this is interrupted."""
        name, start = Path(command[0]).name, time.monotonic()
        with open(self.folder / "said", "w+b") as said, _running(command, said) as process:
            told = start
            while process.poll() is None:
                self.progress.check()
                time.sleep(min(0.2, 0.005 + (time.monotonic() - start) / 20))
                if time.monotonic() - told >= LINE_SECONDS:
                    told = time.monotonic()
                    self.progress.say(f"{name}: {told - start:.0f} s")
            said.seek(0)
            return process.returncode, said.read().decode("utf-8", "replace")

    @property
    def _text(self) -> Path:
        return self.folder / "text"

    @property
    def _arpa(self) -> Path:
        return self.folder / "arpa"


class _Documents:
    """The texts of files, as a source of a pipeline has them; may be gone through again.

    Attributes:
        dead: records that could not be read, when last gone through; ``first_dead`` says of one
            which and why.
    """

    def __init__(self, option: str, patterns: Sequence[str], column: str | None) -> None:
        self.dead, self.first_dead = 0, ""
        self._source = Source(option.strip("-"), tuple(patterns), os.getcwd(), text=column)
        try:
            self._files = discover((self._source,)) if patterns else ()
            self._columns = text_columns(self._source, self._files) if patterns else None
        except ConfigError as error:
            # Options have other remedies than sources of a pipeline file.
            said = dict.fromkeys(
                fault.message.replace(NAME_THE_TEXT, "--column names it") for fault in error.faults
            )
            sentences = "\n".join(f"{option}: {sentence}" for sentence in said)
            raise ConfigError(sentences or f"{option}: {error}") from None

    def __bool__(self) -> bool:
        return bool(self._files)

    def __iter__(self) -> Iterator[list[str]]:
        self.dead = 0
        if self._columns is None:
            return
        for file, batch in parts_of(self._source, self._files, self._columns):
            yield batch.table.column("text").to_pylist()
            if batch.dead and not self.dead:
                self.first_dead = f"{file.file}: {batch.dead[0].message}"
            self.dead += len(batch.dead)


@contextmanager
def _running(command: Sequence[str], said: BinaryIO) -> Iterator[subprocess.Popen[bytes]]:
    """A program, killed where this is left before it has ended.

    Errors: ConfigError where it cannot be run.
    """
    # An interrupt while it starts would lose it: none comes before it can be killed.
    held = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    process = None
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said
        )
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
        yield process
    except OSError as error:
        raise ConfigError(f"{command[0]} cannot be run: {error.strerror or error}") from None
    finally:
        if process is not None and process.returncode is None:
            process.kill()
            process.wait()
        signal.pthread_sigmask(signal.SIG_SETMASK, held)


def _nothing_held_out(documents: int) -> ConfigError:
    """Of so many documents none is long enough to be scored."""
    by_hash = f"by default every {HELD_OUT}th of --text is held out, by its hash"
    reason = f"of {documents:,} documents none has as many" if documents else by_hash
    return ConfigError(
        f"--held-out: no document of {Perplexity.min_tokens} tokens is held out ({reason}): "
        "name files with documents that stay out of the training"
    )


def training_lines(texts: pa.Array, profile: ProfileName, pieces: Any = None) -> bytes:
    """Texts prepared for training, as ``perplexity`` prepares them for judging.

    Args:
        texts: large_string, without nulls.
        profile: how.
        pieces: the SentencePiece model of ``ccnet``, opened.

    Returns:
        Their sentences: tokens joined by single spaces, a line feed behind each.
    """
    if profile != "ccnet":
        return sentence_lines(texts, profile)
    return b"".join(f"{' '.join(line)}\n".encode() for line in subwords(texts, pieces) if line)


def _hash(text: str) -> int:
    return xxhash.xxh3_64_intdigest(text.encode())


def _every_20th(text: str) -> bool:
    return _hash(text) % HELD_OUT == 0


def _write(path: Path, stated: dict[str, Any]) -> None:
    path.write_text(json.dumps(stated, ensure_ascii=False) + "\n", encoding="utf-8")


def _failed(program: str, code: int, said: str) -> RunError:
    lines = [line.rstrip() for line in said.splitlines() if line.strip()]
    last: Collection[str] = lines[-_LAST:] or ["it said nothing"]
    return RunError("\n  ".join([f"{program} failed (exit status {code}):", *last]))
