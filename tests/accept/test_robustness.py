"""The JSON test suite and the UTF-8 decoder tests of shared/data/robustness, read as documents."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cleanpipe.errors import ConfigError
from cleanpipe.readers import ReadBatch, read
from cleanpipe.schema import output_columns
from cleanpipe.shards import discover, split
from cleanpipe.sources import Source

SHARED = Path(os.environ.get("CLEANPIPE_SHARED", Path(__file__).parents[3] / "shared"))
FOLDER = SHARED / "data" / "robustness"
CASES = sorted((FOLDER / "json").glob("*.json"))
GOOD = b'{"text": "good"}\n'


def _read(folder: Path, name: str, batch_bytes: int = 1 << 20, **options: str) -> list[ReadBatch]:
    source = Source("s", (name,), str(folder), **options)  # type: ignore[arg-type]
    files = discover([source])
    columns = output_columns([source], files)
    [shard] = split(files, 1 << 30)
    return [batch for piece in shard.pieces for batch in read(piece, source, columns, batch_bytes)]


def test_the_suite_is_there() -> None:
    """Without it the tests below would be none at all, and pass."""
    if "CLEANPIPE_SHARED" not in os.environ and not FOLDER.exists():
        pytest.skip("no ../shared")
    assert len(CASES) > 150


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
@pytest.mark.parametrize("after", [0, 1])
def test_as_a_value(tmp_path: Path, case: Path, after: int) -> None:
    """Each file as the value of a key: y_ must parse, n_ must be dead, i_ may be either."""
    value = case.read_bytes().replace(b"\r", b" ").replace(b"\n", b" ")
    line = b'{"text": "t", "value": ' + value + b"}\n"
    (tmp_path / "a.jsonl").write_bytes(GOOD + line + GOOD * after)
    batches = _read(tmp_path, "a.jsonl")
    texts = [text for batch in batches for text in batch.table.column("text").to_pylist()]
    dead = [(dead.reason, dead.row) for batch in batches for dead in batch.dead]
    parsed: tuple[list[str], list[object]] = (["good", "t", *["good"] * after], [])
    refused = (["good", *["good"] * after], [("bad_json", 1)])
    if case.name.startswith("y_"):
        assert (texts, dead) == parsed
    elif case.name.startswith("n_"):
        assert (texts, dead) == refused
    else:
        assert (texts, dead) in (parsed, refused)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_as_a_file(tmp_path: Path, case: Path) -> None:
    """Each file as it is beside a good line: never a crash, every line accounted for."""
    content = case.read_bytes()
    (tmp_path / "a.jsonl").write_bytes(GOOD + content)
    try:
        batches = _read(tmp_path, "a.jsonl")
    except ConfigError as error:
        pytest.fail(str(error))
    rows = [row for batch in batches for row in batch.table.column("row").to_pylist()]
    dead = [dead.row for batch in batches for dead in batch.dead]
    lines = [row for row, line in enumerate(content.split(b"\n"), 1) if line.strip(b" \t\r")]
    assert rows == [0]
    assert dead == lines


@pytest.mark.parametrize("name", ["utf8tests.bin", "utf8tests.txt"])
def test_utf8_decoder_tests(tmp_path: Path, name: str) -> None:
    path = FOLDER / "utf8" / name
    if not path.exists():
        pytest.skip("no ../shared")
    content = path.read_bytes()
    (tmp_path / "a.txt").write_bytes(content)
    expected = content.removeprefix(b"\xef\xbb\xbf").decode(errors="replace")
    [batch] = _read(tmp_path, "a.txt")
    assert batch.table.column("text").to_pylist() == [expected]
    found: list[object] = []
    for batch in _read(tmp_path, "a.txt", document="line", batch_bytes=100):
        found += batch.table.column("text").to_pylist()
    lines = [line.removesuffix("\r") for line in expected.split("\n") if line.strip(" \t\r")]
    assert found == lines
