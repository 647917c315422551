"""KenLM models: files that are cut off or damaged, what stands beside them, those that ship."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cleanpipe.errors import ConfigError
from cleanpipe.filters.language_models import (
    FOLDER,
    demo_warning,
    fault_of,
    file_of,
    shipped,
    stated,
)
from cleanpipe.filters.perplexity import Perplexity
from cleanpipe.parameters import LocalPath, build
from cleanpipe.pipeline import Pipeline
from cleanpipe.units import Units

from ..language_models import write_arpa

BINARY = (FOLDER / "demo.zh.bin").read_bytes()
WORDS = re.compile(rb"<unk>\0").search(BINARY)
assert WORDS is not None
LIST = WORDS.start()
"""Where the words begin, at the end of the file."""


def of(path: Path) -> LocalPath:
    return LocalPath(str(path), path.name)


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (0, "neither a KenLM binary nor an ARPA file"),
        (1, "neither a KenLM binary nor an ARPA file"),
        (31, "neither a KenLM binary nor an ARPA file"),
        (33, "no KenLM model"),
        (88, "no KenLM model"),
        (100, "no KenLM model"),
        (108, "no KenLM model"),
        (200, "no KenLM model"),
        (4096, "no KenLM model"),
        (LIST // 2, "Binary file has size"),
        (LIST - 1, "Binary file has size"),
        (LIST, "6 more bytes to read"),  # <unk> and its NUL
        (LIST + 3, "3 more bytes to read"),
        # KenLM itself takes these
        (LIST + 6, "is cut off: the list of its words"),
        ((LIST + len(BINARY)) // 2, "is cut off: the list of its words"),
        (len(BINARY) - 4, "is cut off: the list of its words"),
        (len(BINARY) - 1, "is cut off: the list of its words"),
        (len(BINARY) + 1, "is cut off: the list of its words"),  # something is behind it
        (len(BINARY) + 4096, "is cut off: the list of its words"),
        (len(BINARY), None),
    ],
)
def test_a_binary_cut_off(tmp_path: Path, size: int, words: str | None) -> None:
    """The stage says so too, where nobody says what the digest must be."""
    path = tmp_path / "cut.bin"
    path.write_bytes(BINARY[:size] + b"\0" * (size - len(BINARY)))
    fault = fault_of(of(path))
    faults = list(Perplexity(model=of(path), profile="characters").check())
    if words is None:
        assert fault is None and faults == []
    else:
        assert fault is not None and words in fault and fault.startswith("cut.bin is ")
        assert faults == [("model", fault)]


def test_a_binary_without_its_words(tmp_path: Path) -> None:
    """build_binary can leave them out; then KenLM's own look at the size is all there is."""
    path = tmp_path / "wordless.bin"
    path.write_bytes(BINARY[:100] + b"\0" + BINARY[101:LIST])
    assert fault_of(of(path)) is None
    path.write_bytes(BINARY[:100] + b"\0" + BINARY[101 : LIST - 1])
    assert "Binary file has size" in (fault_of(of(path)) or "")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (lambda whole: whole, None),
        (lambda whole: whole[:-1], None),  # its last line break
        (lambda whole: whole[:-7], "is cut off: an ARPA file has \\end\\ at its end"),
        (lambda whole: whole[:40], "is cut off"),
        (lambda whole: b"\n" + whole, None),
        (lambda whole: whole[5:], "neither a KenLM binary nor an ARPA file"),
        (gzip.compress, None),  # not looked at
        (lambda whole: b"\0" * 100, "neither a KenLM binary nor an ARPA file"),
    ],
)
def test_an_arpa_file(tmp_path: Path, content: Any, words: str | None) -> None:
    path = tmp_path / "model.arpa"
    write_arpa(path, ["a", "b"])
    path.write_bytes(content(path.read_bytes()))
    fault = fault_of(of(path))
    assert fault is None if words is None else fault is not None and words in fault


def test_no_file_is_the_engine_s_to_report(tmp_path: Path) -> None:
    assert fault_of(of(tmp_path / "none")) is None
    assert "cannot be read: Is a directory" in (fault_of(of(tmp_path)) or "")


VALUES = [float(at) for at in range(101)]


@pytest.mark.parametrize(
    ("beside", "words"),
    [
        ("{", "m.bin.json cannot be read"),
        ("[" * 100_000, "m.bin.json cannot be read"),
        ([], "m.bin.json: expected a map with `profile`, got []"),
        ({"profile": 5}, "expected a text as profile, got 5"),
        ({"spm": ["x"]}, "expected the name of a file as spm"),
        ({"order": "5"}, "expected a whole number as order"),
        ({"order": True}, "expected a whole number as order, got True"),
        ({"tokens": 1.5}, "expected a whole number as tokens"),
        ({"demo": "yes"}, "expected true or false as demo"),
        ({"language": 1}, "expected a code as language"),
        ({"percentiles": VALUES}, "expected percentiles with 101 ascending values"),
        ({"percentiles": {"values": VALUES[:-1]}}, "101 ascending values"),
        ({"percentiles": {"values": VALUES[::-1]}}, "101 ascending values"),
        ({"percentiles": {"values": [*VALUES[:-1], None]}}, "101 ascending values"),
        ({"percentiles": {"values": [*VALUES[:-1], 1e999]}}, "101 ascending values"),
        ({"percentiles": {"values": ["a"] * 101}}, "101 ascending values"),
        ({"percentiles": {"values": VALUES, "documents": "many"}}, "101 ascending values"),
    ],
)
def test_what_stands_beside_makes_no_sense(tmp_path: Path, beside: Any, words: str) -> None:
    text = beside if isinstance(beside, str) else json.dumps(beside)
    (tmp_path / "m.bin.json").write_text(text)
    (tmp_path / "m.bin").write_bytes(BINARY)
    with pytest.raises(ConfigError, match=re.escape(words)):
        stated(of(tmp_path / "m.bin"))
    [(place, message)] = Perplexity(model=of(tmp_path / "m.bin")).check()
    assert place == "model" and words in message


def test_only_a_profile_is_needed(tmp_path: Path) -> None:
    model = of(tmp_path / "m.bin")
    assert stated(model) is None
    beside = tmp_path / "m.bin.json"
    beside.write_text(json.dumps({"profile": "words", "unknown": 1, "sha256": "AB"}))
    found = stated(model)
    assert found is not None and found.profile == "words" and found.sha256 == "ab"
    assert found.percentiles is None and not found.demo
    beside.write_text(json.dumps({"profile": "words", "percentiles": {"values": VALUES}}))
    found = stated(model)
    assert found is not None and found.percentiles is not None
    assert found.percentiles.values.tolist() == VALUES
    assert found.percentiles.documents == found.percentiles.tokens == 0


# ---- those that ship ----


def test_what_ships() -> None:
    """Small, stated in full, and what the notice says of them."""
    assert shipped() == ["demo.en", "demo.zh"]
    notice = (FOLDER / "NOTICE.md").read_text(encoding="utf-8")
    for name, language, profile in (
        ("demo.en", "en", "words"), ("demo.zh", "zh", "characters"),
    ):  # fmt: skip
        model = file_of(LocalPath(name))
        content = Path(model).read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        found = stated(model)
        assert found is not None and found.percentiles is not None and found.tokens is not None
        assert (found.sha256, found.language, found.profile) == (digest, language, profile)
        assert found.demo and found.order == 3 and found.percentiles.documents > 101
        assert len(content) <= 1_200_000
        assert digest in notice and f"{len(content):,}" in notice and f"{found.tokens:,}" in notice


@pytest.mark.parametrize(
    ("model", "good", "noise"),
    [
        (
            "demo.en",
            "You can use the settings of the system to change how the keyboard works, and "
            "which language is shown in the menus of all applications on your computer.",
            "language shown which system computer the applications You your menus on. is in "
            "keyboard change to, all can the settings works how of the use of the the and",
        ),
        (
            "demo.zh",
            "您可以在系统设置中更改键盘的工作方式，也可以选择在所有应用程序的菜单中显示的语言。",
            "言择键可式您用在以也程。统作单中工系选语的方，示菜序所有更以中的的改盘显应置设在可",
        ),
    ],
    ids=["en", "zh"],
)
def test_they_tell_language_from_noise(model: str, good: str, noise: str) -> None:
    stage, faults = build(Perplexity, {"model": model, "bounds": {"percentile": [None, 100]}}, ".")
    assert not faults and stage is not None
    stage = stage.settled()
    measures = stage.measure(Units(pa.array([good, noise], pa.large_string())))
    perplexity = np.asarray(measures["perplexity"], np.float64)
    assert perplexity[0] * 4 < perplexity[1]
    assert stage.judge(measures).tolist()[0] == 0


def test_a_run_with_one_says_so_and_names_no_place(tmp_path: Path) -> None:
    pipe = Pipeline.from_dict({"stages": [{"perplexity": {"model": "demo.en"}}]})
    described = json.dumps(pipe.describe())
    assert str(FOLDER) not in described and "demo.en.bin" in described
    assert "demo.en is a demo model" in (demo_warning(LocalPath("demo.en")) or "")
    assert demo_warning(of(tmp_path / "m.bin")) is None
    # a copy is one too
    (tmp_path / "m.bin.json").write_text((FOLDER / "demo.en.bin.json").read_text())
    assert list(Perplexity(model=of(tmp_path / "m.bin")).warnings())


def test_a_name_that_does_not_ship(tmp_path: Path) -> None:
    stage = Perplexity(model=LocalPath("demo.fr"))
    [(place, said)] = stage.check()
    assert place == "model" and said.startswith('no model that ships is called "demo.fr"; ')
    assert said.endswith("known: demo.en, demo.zh")
    assert stage.resources() == () and list(stage.warnings()) == []
    # a file of one's own may be called so
    for name in ("demo.fr", "demo.en.bin"):
        (tmp_path / name).write_bytes(BINARY)
        assert file_of(of(tmp_path / name)) == str(tmp_path / name)


@pytest.mark.parametrize("at", range(138, 144))
def test_a_damaged_header(at: int, tmp_path: Path) -> None:
    """KenLM would read outside of the file, and the process would end."""
    damaged = bytearray((FOLDER / "demo.en.bin").read_bytes())
    damaged[at] ^= 255
    path = tmp_path / "damaged.bin"
    path.write_bytes(damaged)
    assert fault_of(of(path)) == "damaged.bin is damaged: its header says more words than 1-grams"


@pytest.mark.parametrize(
    ("stated_there", "message"),
    [
        ({"spm": "a\0b"}, "expected the name of a file as spm"),
        ({"percentiles": {"documents": 1e400, "values": [1.0] * 101}}, "expected percentiles"),
        ({"percentiles": {"values": [10**400] * 101}}, "expected percentiles"),
        ({"percentiles": {"values": [True] * 101}}, "expected percentiles"),
        ({"percentiles": {"values": ["3.0"] * 101}}, "expected percentiles"),
        ({"percentiles": {"values": [-5.0] + [1.0] * 100}}, "expected percentiles"),
    ],
)
def test_what_cannot_be_stated(
    stated_there: dict[str, object], message: str, tmp_path: Path
) -> None:
    (tmp_path / "m.bin.json").write_text(json.dumps({"profile": "ccnet", **stated_there}))
    with pytest.raises(ConfigError, match=message):
        stated(of(tmp_path / "m.bin"))


def test_another_sentencepiece_model(tmp_path: Path) -> None:
    """Whose digest is not the one that was stated is a fault of the engine's."""
    said = {"profile": "ccnet", "spm": "m.model", "spm_sha256": "AB" * 32}
    (tmp_path / "m.bin.json").write_text(json.dumps(said))
    stage = Perplexity(model=of(tmp_path / "m.bin"))
    digests = {Path(each.path).name: each.sha256 for each in stage.resources()}
    assert digests["m.model"] == "ab" * 32
