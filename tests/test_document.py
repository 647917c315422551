"""Pipeline files as plain values: what YAML 1.2 says, and where every value stands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from cleanpipe.document import Document, dotted, frozen
from cleanpipe.errors import ConfigError, Fault


def place(document: Document, *parts: str | int) -> tuple[int, int]:
    fault = document.fault(parts, "")
    return fault.line, fault.column


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("1e-5", 1e-5),
        ("1E5", 1e5),
        ("0.5", 0.5),
        ("3", 3),
        ("0x10", 16),
        ("no", "no"),
        ("yes", "yes"),
        ("on", "on"),
        ("NO", "NO"),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("2024-01-31", "2024-01-31"),
        ("2024-01-31T10:00:00", "2024-01-31T10:00:00"),
        ("12:30", "12:30"),
        ("'3'", "3"),
        ("[1, null]", (1, None)),
        ("{a: [x, {b: 1}]}", {"a": ("x", {"b": 1})}),
        ("|\n  two\n  lines\n", "two\nlines\n"),
    ],
)
def test_values(written: str, value: Any) -> None:
    found = Document.parse(f"key: {written}", "f").tree["key"]
    assert found == value
    assert type(found) is type(value)


TEXT = """\
# a comment
sources:
  web: {paths: [a.jsonl, b.jsonl]}
stages:
  - length:
      tokens: [50,
               null]
  - exact
shard_bytes: 1
"""


@pytest.mark.parametrize(
    ("parts", "where"),
    [
        (("sources",), (2, 1)),
        (("sources", "web"), (3, 3)),
        (("sources", "web", "paths"), (3, 9)),
        (("sources", "web", "paths", 1), (3, 26)),
        (("stages", 0), (5, 5)),
        (("stages", 0, "length"), (5, 5)),
        (("stages", 0, "length", "tokens"), (6, 7)),
        (("stages", 0, "length", "tokens", 1), (7, 16)),
        (("stages", 1), (8, 5)),
        (("shard_bytes",), (9, 1)),
        # What is not there is placed at what it would be in.
        (("stages", 0, "length", "chars"), (5, 5)),
        (("stages", 1, "exact", "x"), (8, 5)),
        (("output", "path"), (0, 0)),
        ((), (0, 0)),
    ],
)
def test_places(parts: tuple[str | int, ...], where: tuple[int, int]) -> None:
    assert place(Document.parse(TEXT, "f"), *parts) == where


def test_anchors_and_merges() -> None:
    document = Document.parse(
        "shared: &limits {tokens: [1, 9], lines: [1, 2]}\n"
        "one: *limits\n"
        "two:\n  <<: *limits\n  lines: [3, 4]\n",
        "f",
    )
    limits = {"tokens": (1, 9), "lines": (1, 2)}
    assert document.tree["one"] == limits
    assert document.tree["two"] == {"tokens": (1, 9), "lines": (3, 4)}
    assert place(document, "two", "lines") == (5, 3)
    # A merged key stands elsewhere: its fault is told at the map it was merged into.
    assert place(document, "two", "tokens") == (3, 1)


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, 1, "duplicate key"),
        ("stages:\n  - length: {tokens: 1, tokens: 2}\n", 2, 25, "duplicate key"),
        ("a: [1, 2\nb: 3\n", 2, 2, "no YAML"),
        ("a:\n- b\n- !!python/object/apply:os.system [x]\n", 3, 3, "a plain value"),
        ('a:\n- "\\ud800"\n', 2, 3, "half a surrogate pair"),
        ("a: 'open\n", 2, 1, "no YAML"),
        ("a: b: c\n", 1, 5, "no YAML"),
        ("a: *nowhere\n", 1, 4, "no YAML"),
        ("a: 1\n--- \nb: 2\n", 2, 1, "no YAML"),
        ("a:\n\t- 1\n", 2, 1, "no YAML"),
        ("b: 1\na: \x01\n", 2, 4, "special characters are not allowed: U+0001"),
    ],
)
def test_no_yaml(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Document.parse(text, "p.yaml")
    (fault,) = caught.value.faults
    assert (fault.line, fault.column, fault.file) == (line, column, "p.yaml")
    assert message in fault.message
    assert "\n" not in fault.message


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    latin = tmp_path / "latin.yaml"
    latin.write_bytes(b"stages:\n  - length: {name: caf\xe9}\n")
    with pytest.raises(ConfigError, match="expected UTF-8, got the byte 0xe9") as caught:
        Document.read(str(latin))
    assert (caught.value.faults[0].line, caught.value.faults[0].column) == (2, 23)
    with pytest.raises(ConfigError, match="No such file"):
        Document.read(str(tmp_path / "none.yaml"))
    with pytest.raises(ConfigError, match="directory"):
        Document.read(str(tmp_path))


def test_an_empty_file_is_nothing() -> None:
    assert Document.parse("", "f").tree is None
    assert Document.parse("# only a comment\n", "f").tree is None


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (("stages", 2, "perplexity", "bounds"), "stages[2].perplexity.bounds"),
        (("shard_bytes",), "shard_bytes"),
        ((), ""),
        (("stages", 0, "remove", "failing", 1, "length"), "stages[0].remove.failing[1].length"),
    ],
)
def test_dotted(parts: tuple[str | int, ...], text: str) -> None:
    assert dotted(parts) == text


def test_a_path_is_placed_where_it_stands() -> None:
    document = Document.parse(
        "sources:\n  my.web:\n    paths: [a]\n    text: t\n  my: {paths: [b]}\n", "f"
    )

    def placed(path: str) -> tuple[int, int, str]:
        fault = document.placed(Fault(0, 0, path, "m"))
        return fault.line, fault.column, fault.file

    assert placed("sources.my.web.text") == (4, 5, "f")
    assert placed("sources.my.web.url") == (2, 3, "f")
    assert placed("sources.my.paths") == (5, 8, "f")
    # Not of the file: --input.
    assert placed("sources.input.paths") == (0, 0, "f")
    elsewhere = Fault(0, 0, "length", "m", "--set")
    assert document.placed(elsewhere) == elsewhere


def test_a_fault_as_it_is_printed() -> None:
    assert str(Fault(14, 7, "stages[2].length", "expected", "p.yaml")) == (
        "p.yaml:14:7: stages[2].length: expected"
    )
    assert str(Fault(0, 0, "sources", "expected", "p.yaml")) == "p.yaml: sources: expected"
    assert str(Fault(0, 0, "stages", "expected")) == "pipeline: stages: expected"
    assert str(Fault(3, 1, "", "no YAML", "p.yaml")) == "p.yaml:3:1: no YAML"


def test_faults_are_in_the_order_of_the_file() -> None:
    faults = [Fault(9, 1, "b", "m", "f"), Fault(2, 5, "a", "m", "f"), Fault(2, 1, "c", "m", "f")]
    assert [fault.path for fault in ConfigError(faults).faults] == ["c", "a", "b"]


def test_frozen() -> None:
    assert frozen({"a": [1, [2, {"b": [3]}]], 4: None}) == {"a": (1, (2, {"b": (3,)})), "4": None}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("stages: [!!python/object/apply:os.system [id]]", "got one with the tag"),
        ("a: {b: !mine [1, 2]}", "a.b: expected a plain value, got one with the tag !mine"),
        ("[" * 20_000, "nested too deeply"),
        (
            "a: &a [1,1,1,1,1,1,1,1,1,1]\n"
            + "".join(
                f"{new}: &{new} [{', '.join([f'*{old}'] * 10)}]\n"
                for old, new in zip("abcdefghi", "bcdefghij", strict=True)
            ),
            "no pipeline has more than 100000 values",
        ),
    ],
)
def test_no_tags_and_no_bombs(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        Document.parse(text, "p.yaml")


def test_null_and_true_as_keys_are_what_they_look_like() -> None:
    assert Document.parse("null: 1\ntrue: 2\n3: 4", "p.yaml").tree == {"null": 1, "true": 2, "3": 4}
