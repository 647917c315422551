"""KenLM models: those that ship, what ``<model>.json`` beside one states, and whether it is whole.

Not a stage. ``cleanpipe lm train`` writes what is read here.
"""

from __future__ import annotations

import json
import mmap
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from cleanpipe.bounds import Numbers
from cleanpipe.errors import ConfigError
from cleanpipe.parameters import LocalPath, nearest

FOLDER = Path(__file__).parent / "models"
_SUFFIX = ".bin"
_DEMO = "demo."
"""How the names of the shipped models begin: none of them is more than a demonstration."""

_BINARY = b"mmap lm http://kheafield.com/code"
_PACKED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0")
_END = 4096  # bytes at either end of a file that are looked at
_ORDER_AT, _KIND_AT, _WORDS_KEPT_AT, _COUNTS_AT = 88, 96, 100, 108
_TRIES = range(2, 6)
"""Places in the header of a KenLM binary (its version 5): the order, a byte; the kind, an int32 of
which 2 to 5 are tries, whose number of words follows; whether the words stand at the end, a
byte; the numbers of n-grams by length, a uint64 each."""
_SAID = re.compile(r"threw \w+(?: because `.*?')?\. (.*?)\)?$")


@dataclass(frozen=True)
class HeldOut:
    """The perplexities of text that a model was not trained on.

    Attributes:
        documents: how many documents it has, 0 where that is not stated.
        tokens: how many tokens these have, 0 likewise.
        values: float64, shape (101,): the 0th to the 100th percentile of the perplexity of a
            document, ascending; linear between two documents.
    """

    documents: int
    tokens: int
    values: Numbers

    def to_json(self) -> dict[str, Any]:
        """As it stands in ``<model>.json``."""
        values = [round(float(value), 4) for value in self.values]
        return {"documents": self.documents, "tokens": self.tokens, "values": values}


@dataclass(frozen=True)
class Stated:
    """What the file beside a model states; None or False for what it does not.

    Attributes:
        profile: how its training text was prepared.
        spm: the SentencePiece model of the profile, by its name beside the model.
        spm_sha256: what its digest must be, in lower case.
        sha256: what the digest of the model must be, in lower case.
        order: the longest n-gram.
        tokens: how many tokens it was trained on.
        language: of its training text, a code.
        demo: it is small, and there to be tried.
        percentiles: of held-out text.
    """

    profile: str | None = None
    spm: str | None = None
    spm_sha256: str | None = None
    sha256: str | None = None
    order: int | None = None
    tokens: int | None = None
    language: str | None = None
    demo: bool = False
    percentiles: HeldOut | None = None


def shipped() -> list[str]:
    """Names of the models that come with the package, sorted."""
    return sorted(path.stem for path in FOLDER.glob(f"{_DEMO}*{_SUFFIX}"))


def file_of(model: LocalPath) -> LocalPath:
    """The file of a model: that of the shipped one of this name, else the path itself.

    Errors: ConfigError for a name like those of the shipped ones where there is neither.
    """
    name = model.written
    if name in shipped():
        return LocalPath(str(FOLDER / f"{name}{_SUFFIX}"), f"{name}{_SUFFIX}")
    if name.startswith(_DEMO) and not Path(name).suffix == _SUFFIX and not os.path.exists(model):
        raise ConfigError(f'no model that ships is called "{name}"; {nearest(name, shipped())}')
    return model


def beside(model: LocalPath) -> LocalPath:
    """``<model>.json``, there or not.

    Args:
        model: the file of a model, as :func:`file_of` gives it.
    """
    return LocalPath(f"{model}.json", f"{model.written}.json")


def stated(model: LocalPath) -> Stated | None:
    """What the file beside a model states; None without such a file.

    Args:
        model: the file of a model, as :func:`file_of` gives it.

    Errors: ConfigError where it cannot be read, or states what cannot be.
    """
    name = Path(f"{model}.json").name
    try:
        found = json.loads(Path(f"{model}.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{name} cannot be read: {error}") from error
    if not isinstance(found, dict):
        raise ConfigError(f"{name}: expected a map with `profile`, got {found!r}")
    digest, pieces = (_value(name, found, key, str, "a text") for key in ("sha256", "spm_sha256"))
    spm = _value(name, found, "spm", str, "the name of a file")
    if spm is not None and "\0" in spm:
        raise ConfigError(f"{name}: expected the name of a file as spm, got {spm!r}")
    return Stated(
        profile=_value(name, found, "profile", str, "a text"),
        spm=spm,
        spm_sha256=None if pieces is None else pieces.lower(),
        sha256=None if digest is None else digest.lower(),
        order=_value(name, found, "order", int, "a whole number"),
        tokens=_value(name, found, "tokens", int, "a whole number"),
        language=_value(name, found, "language", str, "a code"),
        demo=bool(_value(name, found, "demo", bool, "true or false")),
        percentiles=_percentiles(name, found),
    )


def fault_of(model: LocalPath) -> str | None:
    """Why a model cannot be used, as far as can be known without reading all of it.

    A KenLM binary holds no digest: a byte changed in the middle is found by ``sha256`` alone.
    KenLM itself refuses one whose header says another size than the file has, but not one that
    is cut within the list of its words at the end. Of an ARPA file the ends are looked at.

    Args:
        model: the file of a model, as :func:`file_of` gives it.

    Returns:
        A sentence, or None where nothing is wrong, there is no such file, or it is a compressed
        ARPA file.
    """
    try:
        with open(model, "rb") as file:
            head = file.read(_END)
            if head.startswith(_PACKED):
                return None
            if head.startswith(_BINARY):
                fault = _fault_of_header(head)
                if fault is None:
                    opened(model, lazily=True)
                    fault = _fault_of_words(file, head)
            else:
                fault = _fault_of_arpa(file, head)
    except ConfigError as error:
        return str(error)
    except FileNotFoundError:
        return None
    except OSError as error:
        fault = f"cannot be read: {error.strerror or error}"
    return f"{model.written} {fault}" if fault else None


def demo_warning(model: LocalPath) -> str | None:
    """What a run with this model must say, where it is but a demonstration."""
    try:
        found = stated(file_of(model))
    except ConfigError:
        return None  # a fault, told elsewhere
    if found is None or not found.demo:
        return None
    return (
        f"{model.written} is a demo model, trained on too little text for numbers to rely on: "
        "train your own with `cleanpipe lm train` (docs/how-to/lmplz.md)"
    )


def opened(model: LocalPath, lazily: bool = False) -> Any:
    """A KenLM model; a binary is memory-mapped, one copy for all processes of a machine.

    Args:
        model: the file of a model, as :func:`file_of` gives it.
        lazily: read nothing but what is looked at. Default False: all of it, in order.

    Errors: ConfigError where the module ``kenlm`` or the model cannot be loaded.
    """
    try:
        import kenlm
    except ImportError as error:
        raise ConfigError(
            f"the module `kenlm` cannot be imported ({error}). It comes from the "
            "distribution ufal-kenlm; kenlm and kenlm-ex install a module of the same name "
            "over it: uninstall those, then `pip install --force-reinstall ufal-kenlm`"
        ) from error
    config = kenlm.Config()
    methods = kenlm.LoadMethod
    config.load_method = methods.LAZY if lazily else methods.POPULATE_OR_LAZY
    config.show_progress = False
    config.arpa_complain = kenlm.ARPALoadComplain.NONE
    try:
        return kenlm.Model(str(model), config)
    except (OSError, RuntimeError) as error:
        said = " ".join(str(error).split())
        why = _SAID.search(said)  # without the place in KenLM's source
        raise ConfigError(
            f"{model.written} is no KenLM model: {why[1] if why else said}"
        ) from error


def pieces_of(path: str) -> Any:
    """A SentencePiece model.

    Errors: ConfigError where the module ``sentencepiece`` or the model cannot be loaded.
    """
    try:
        import sentencepiece
    except ImportError as error:
        raise ConfigError(
            f"the module `sentencepiece` cannot be imported ({error}): `pip install sentencepiece`"
        ) from error
    try:
        return sentencepiece.SentencePieceProcessor(model_file=path)
    except (OSError, RuntimeError) as error:
        said = " ".join(str(error).split())
        raise ConfigError(f"{path} is no SentencePiece model: {said}") from error


def _fault_of_header(head: bytes) -> str | None:
    """Whether a trie has no more words than 1-grams: KenLM believes its number, and a damaged one
    ends the process. What else a header says it compares with the file itself."""
    words_at = -(-(_COUNTS_AT + 8 * head[_ORDER_AT]) // 8) * 8 if len(head) > _ORDER_AT else 0
    trie = int.from_bytes(head[_KIND_AT : _KIND_AT + 4], "little") in _TRIES
    grams, words = (int.from_bytes(head[at : at + 8], "little") for at in (_COUNTS_AT, words_at))
    if trie and words_at + 8 <= len(head) and words > grams:
        return "is damaged: its header says more words than 1-grams"
    return None


def _fault_of_words(file: BinaryIO, head: bytes) -> str | None:
    """Whether the words at the end of a binary, each with a NUL behind it, are all there."""
    if not head[_WORDS_KEPT_AT]:
        return None
    words = int.from_bytes(head[_COUNTS_AT : _COUNTS_AT + 8], "little")
    found = 0
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        end = len(data)
        # The first of them is <unk>; others may end so too, and lie behind it.
        while found < words and (start := data.rfind(b"<unk>\0", 0, end)) >= 0:
            found += data[start:end].count(b"\0")
            end = start
        whole = found == words and data[-1] == 0
    return None if whole else "is cut off: the list of its words at the end is not whole"


def _fault_of_arpa(file: BinaryIO, head: bytes) -> str | None:
    if not head.lstrip().startswith(b"\\data\\"):
        return "is no KenLM model: neither a KenLM binary nor an ARPA file"
    file.seek(max(0, os.fstat(file.fileno()).st_size - _END))
    if b"\\end\\" not in file.read():
        return "is cut off: an ARPA file has \\end\\ at its end"
    return None


def _value(name: str, found: Mapping[str, Any], key: str, kind: type, expected: str) -> Any:
    value = found.get(key)
    wrong = not isinstance(value, kind) or (kind is int and isinstance(value, bool))
    if value is not None and wrong:
        raise ConfigError(f"{name}: expected {expected} as {key}, got {value!r}")
    return value


def _percentiles(name: str, found: Mapping[str, Any]) -> HeldOut | None:
    part = found.get("percentiles")
    if part is None:
        return None
    expected = "expected percentiles with 101 ascending values"
    if not isinstance(part, Mapping) or not isinstance(part.get("values"), list):
        raise ConfigError(f"{name}: {expected}")
    try:
        if not all(type(value) in (int, float) for value in part["values"]):
            raise TypeError
        values = np.array(part["values"], np.float64)
        documents, tokens = int(part.get("documents", 0)), int(part.get("tokens", 0))
    except (TypeError, ValueError, OverflowError):
        raise ConfigError(f"{name}: {expected}") from None
    ascending = values.shape == (101,) and (np.diff(values) >= 0).all() and values[0] >= 0
    if not ascending or not np.isfinite(values).all():
        raise ConfigError(f"{name}: {expected}")
    return HeldOut(documents, tokens, values)
