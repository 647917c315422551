"""What the benchmarks stand on: the texts, the clock, the counted kernels. No speeds."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pyarrow as pa
import pytest

from benchmarks import kernels
from benchmarks.instructions import __main__ as instructions
from benchmarks.measuring import clock, texts

from .jobs import ROOT


def corpus(*parts: str) -> texts.Corpus:
    return texts.Corpus("a test", "nowhere", pa.array(parts, pa.large_string()))


@pytest.mark.parametrize(
    ("parts", "rows"),
    [
        (["é", "", "abc", "de"], [[0, 1], [2], [3]]),
        (["abcdefgh", "a", "b", "c"], [[0], [1, 2, 3]]),
        (["", "", ""], [[0, 1, 2]]),
        (["abcd", "", "", "abc"], [[0, 1, 2], [3]]),
    ],
)
def test_batches(parts: list[str], rows: list[list[int]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "BATCH_BYTES", 4)
    batches = corpus(*parts).batches()
    assert [batch.to_pylist() for batch in batches] == [[parts[row] for row in of] for of in rows]
    assert all(batch.offset == 0 for batch in batches)


def test_thinned() -> None:
    whole = corpus(*"abcdefgh")
    assert whole.thinned(8).texts.to_pylist() == list("abcdefgh")
    assert whole.thinned(4).texts.to_pylist() == ["a", "c", "e", "g"]
    assert whole.thinned(3).texts.to_pylist() == ["a", "d", "g"]


def test_written_as_they_are(tmp_path: Path) -> None:
    corpus("é b", "", "c\nd").write(tmp_path / "texts")
    assert (tmp_path / "texts").read_text("utf-8") == "é b\n\nc\nd\n"


def test_the_sample_has_three_kinds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(texts, "SHARED", tmp_path)
    monkeypatch.setattr(texts, "SAMPLE_BYTES", 1)
    english, mixed, chinese = texts.corpora(1)
    assert 100 < len(chinese.texts) < len(english.texts) < len(mixed.texts)
    assert "国家" in "".join(chinese.texts.to_pylist())


def test_items_in_sets() -> None:
    sentences = [f"The number {at} is one more than {at - 1}." for at in range(1, 300)]
    dealt = kernels.items(corpus(*sentences, *sentences, "Too short."))
    assert len(dealt) == 299
    same = [item.parts[0].text in sentences for item in dealt]
    assert same[::100] == [True, True, True] and sum(same) < 6
    for item, sentence in zip(dealt, sentences, strict=True):
        assert sorted(item.parts[0].text.strip(".").split()) == sorted(sentence[:-1].split())
    indexes = [kernels.item_index(dealt, sets) for sets in kernels.SETS]
    assert [len(index.sets) for index in indexes] == [1, 20]
    assert sum(entry.items for entry in indexes[1].sets) == 299


def test_turns() -> None:
    said: list[str] = []

    def says(name: str, seconds: list[float]) -> float:
        said.append(name)
        return seconds.pop(0)

    first, second = [9.0, 1.0, 3.0, 2.0], [9.0, 4.0, 4.0, 4.0]
    taken = clock.take_turns({"a": lambda: says("a", first), "b": lambda: says("b", second)}, 3)
    assert said == ["a", "b"] * 4
    assert taken == {"a": [1.0, 3.0, 2.0], "b": [4.0, 4.0, 4.0]}
    speed = clock.Speed.of(6_000_000, taken["a"])
    assert speed == (6.0, 3.0)
    ratio = speed.times(clock.Speed.of(6_000_000, taken["b"]))
    assert ratio == (4.0, 2.0)
    assert [ratio.against(target).split()[2:] for target in (None, 4, 4.1)] == [
        [],
        ["4", "met"],
        ["4.1", "NOT", "MET"],
    ]


def test_children_are_counted(tmp_path: Path) -> None:
    (tmp_path / "texts").write_text("wörter\n" * 1_000_000, "utf-8")
    assert clock.cpu_seconds(lambda: clock.wc(tmp_path / "texts")) > 0.01


def test_every_counted_kernel_is_kept(tmp_path: Path) -> None:
    """The program builds with the kernels as they are, and counts.json is of all its rows."""
    instructions.build(tmp_path / "kernels")
    done = subprocess.run([tmp_path / "kernels"], capture_output=True, text=True, check=True)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert {kind for _, kind, _ in rows} == {"English", "mixed", "Chinese"}
    assert all(256 << 10 <= int(size) < 300 << 10 for *_, size in rows)
    kept = json.loads(instructions.KEPT.read_text("utf-8"))
    assert "x86_64" in kept
    for machine, sets in instructions.INSTRUCTION_SETS.items():
        expected = [f"{name}, {kernel}, {kind}" for name in sets for kernel, kind, _ in rows]
        assert machine not in kept or list(kept[machine]["counts"]) == expected


def test_it_is_built_as_the_extension_is() -> None:
    (flags,) = re.findall(r"^flags = (.*)$", (ROOT / "setup.py").read_text("utf-8"), re.M)
    assert set(instructions.FLAGS) < set(json.loads(flags))


def test_more_instructions_are_seen(capsys: pytest.CaptureFixture[str]) -> None:
    kept = {"a": 10.0, "b": 10.0, "gone": 1.0}
    wrong = instructions.compare({"a": 10.5, "b": 10.51, "new": 1.0}, kept)
    assert wrong == ["gone is no longer counted", "b needs more than 5% more"]
    assert re.search(r"^new +new +1\.00$", capsys.readouterr().out, re.M)
