"""The Python API: every kind of data in memory, with the verdicts of the command line."""

from __future__ import annotations

import gc
import math
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import cleanpipe as cp

from .conftest import Cli
from .jobs import LENGTH, STAGES, jsonl, pipeline, rows, run, summary, without_seconds

TEXTS = ["one", "two words", "three words now", "", "four words are here", "three words now"]
PIPE: dict[str, Any] = {"stages": [*LENGTH, {"exact": {}}]}


def check(result: cp.Result, ids: list[Any]) -> None:
    """Texts 2 and 4 are kept, 5 is a duplicate of 2."""
    assert result.kept.column("id").to_pylist() == [ids[2], ids[4]]
    assert result.kept.column("text").to_pylist() == [TEXTS[2], TEXTS[4]]
    dropped = [(row["id"], row["stage"], row["survivor_id"]) for row in result.dropped.to_pylist()]
    assert dropped == [
        *((ids[place], "length", None) for place in (0, 1, 3)),
        (ids[5], "exact", ids[2]),
    ]
    assert result.measures.column("id").to_pylist() == ids
    assert result.measures.column("length.tokens").to_pylist() == [1, 2, 3, 0, 4, 3]
    assert len(result.dead) == len(result.edits) == 0
    assert result.summary["documents"] == {"in": 6, "kept": 2, "dropped": 4, "dead": 0}


@pytest.mark.parametrize(
    "data",
    [
        TEXTS,
        tuple(TEXTS),
        pa.array(TEXTS),
        pa.array(TEXTS, pa.large_string()),
        pa.array(TEXTS).dictionary_encode(),
        pa.chunked_array([TEXTS[:2], TEXTS[2:]]),
        pd.Series(TEXTS),
        pd.Series(TEXTS, index=list("abcdef")),
    ],
    ids=["list", "tuple", "array", "large", "dictionary", "chunked", "series", "indexed"],
)
def test_plain_texts_have_positions(data: Any) -> None:
    result = cp.Pipeline.from_dict(PIPE).run(data)
    check(result, list(range(6)))
    assert result.kept.schema.field("id").type == pa.int64()
    assert result.dropped.schema.field("survivor_id").type == pa.int64()
    explained = result.explain(5)
    assert explained.agrees and "with 2 " in explained.verdict


IDS = list("abcdef")
COLUMNS: dict[str, Any] = {"id": IDS, "text": TEXTS, "stars": [1, 2, 3, 4, 5, 6]}


@pytest.mark.parametrize(
    "data",
    [
        pa.table(COLUMNS),
        pd.DataFrame(COLUMNS),
        pd.DataFrame(COLUMNS, index=range(10, 16)),
        datasets.Dataset.from_dict(COLUMNS),
        datasets.Dataset.from_dict(COLUMNS).with_format("numpy"),
    ],
    ids=["table", "frame", "indexed", "dataset", "formatted"],
)
def test_tables_have_ids_and_columns(data: Any) -> None:
    result = cp.Pipeline.from_dict(PIPE).run(data)
    check(result, IDS)
    assert result.kept.column("stars").to_pylist() == [3, 5]
    assert result.explain("a").drop is not None


def test_a_shuffled_dataset(documents: list[dict[str, Any]]) -> None:
    """Rows come as the dataset gives them, not as they lie in its table."""
    data = datasets.Dataset.from_dict(COLUMNS).select([4, 2, 0])
    result = cp.Pipeline.from_dict(PIPE).run(data)
    assert result.measures.column("id").to_pylist() == ["e", "c", "a"]


def test_a_table_without_ids() -> None:
    result = cp.Pipeline.from_dict(PIPE).run(pa.table({"text": TEXTS}))
    check(result, [f"memory:{place}" for place in range(6)])


def test_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jsonl(tmp_path / "a.jsonl", [{"id": i, "text": t} for i, t in zip(IDS, TEXTS, strict=True)])
    monkeypatch.chdir(tmp_path)
    for path in ("a.jsonl", "*.jsonl", Path("a.jsonl"), str(tmp_path / "a.jsonl"), "."):
        check(cp.Pipeline.from_dict(PIPE).run(path), IDS)


def test_same_verdicts_as_the_command_line(
    tmp_path: Path, documents: list[dict[str, Any]], clean: Cli
) -> None:
    """The sample as a table in memory, and as a file by ``cleanpipe run``."""
    jsonl(tmp_path / "a.jsonl", documents)
    path = pipeline(tmp_path, {"s": {"paths": "a.jsonl"}}, STAGES)
    assert clean("run", path).code == 0
    result = cp.Pipeline.from_yaml(path).run(pa.Table.from_pylist(documents))
    ours = {"file": None, "source": None, "survivor_file": None}
    for table, folder in ((result.dropped, "dropped"), (result.measures, "measures")):
        wanted = [{**row, **ours} for row in rows(tmp_path / "out", folder)]
        assert [{**row, **ours} for row in table.to_pylist()] == wanted
    kept = [row["text"] for row in rows(tmp_path / "out", "kept")]
    assert result.kept.column("text").to_pylist() == kept
    found, wanted_ = without_seconds(result.summary), summary(tmp_path / "out")
    for key in ("documents", "bytes", "tokens", "stages"):
        assert found[key] == wanted_[key]


def test_none_is_dead_and_empty_is_a_document() -> None:
    result = cp.Pipeline.from_dict(PIPE).run(["one two three", None, ""])
    assert [(row["row"], row["reason"]) for row in result.dead.to_pylist()] == [(1, "no_text")]
    assert result.dropped.column("id").to_pylist() == [2]
    series = cp.Pipeline.from_dict(PIPE).run(pd.Series(["one two three", None, math.nan, ""]))
    assert [row["row"] for row in series.dead.to_pylist()] == [1, 2]
    assert series.dropped.column("id").to_pylist() == [3]


def test_nothing_at_all() -> None:
    empty = pa.array([], pa.string())
    nothing: tuple[Any, ...] = ([], empty, pa.table({"text": empty}))
    for data in nothing:
        result = cp.Pipeline.from_dict(PIPE).run(data)
        assert result.summary["documents"] == {"in": 0, "kept": 0, "dropped": 0, "dead": 0}
        assert len(result.kept) == len(result.dropped) == 0
        assert {"id", "text", "cleanpipe"} <= set(result.kept.schema.names)


def test_lone_surrogates_are_replaced() -> None:
    result = cp.Pipeline.from_dict(PIPE).run(["one two \ud800 three", "a b \U0001f600 c"])
    assert result.kept.column("text").to_pylist() == ["one two \ufffd three", "a b \U0001f600 c"]


def test_duplicate_ids() -> None:
    result = cp.Pipeline.from_dict(PIPE).run(pa.table({"id": ["x", "x"], "text": TEXTS[:2]}))
    assert result.dropped.column("id").to_pylist() == ["x", "x"]
    with pytest.raises(cp.ConfigError, match='2 documents have the id "x"'):
        result.explain("x")
    assert result.explain("memory:1").measures["length.tokens"] == 2


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ((text for text in TEXTS), "expected data that is there, got generator"),
        (b"bytes", "expected a list of texts, .* got bytes"),
        (5, "got int"),
        ({"a": "b"}, "got dict"),
        (["one", 2], "expected texts, got int at position 1"),
        ([b"one"], "expected texts, got bytes at position 0"),
        (pa.array([1, 2]), "text"),
        (pd.Series(["one", 2]), "expected texts, got int at position 1"),
        (pd.DataFrame({"text": ["one", 2]}), "the frame is no table: .*text"),
        (pa.table({"content": ["a"]}), "no column `text`"),
        (pd.DataFrame({"content": ["a"]}), "no column `text`"),
        ("no/such/*.jsonl", "matches no file"),
    ],
)
def test_what_holds_no_texts_is_refused(data: Any, message: str) -> None:
    with pytest.raises(cp.ConfigError, match=message):
        cp.Pipeline.from_dict(PIPE).run(data)


def test_the_temporary_folder_goes_with_the_result() -> None:
    result = cp.Pipeline.from_dict(PIPE).run(TEXTS)
    folder = Path(result.folder)
    assert (folder / "summary.json").exists()
    kept = result.kept
    del result
    gc.collect()
    assert not folder.exists() and not folder.parent.exists()
    assert kept.column("text").to_pylist() == [TEXTS[2], TEXTS[4]]


def test_a_folder_that_stays(tmp_path: Path) -> None:
    pipe = cp.Pipeline.from_dict(PIPE)
    check(pipe.run(TEXTS, output=tmp_path / "out"), list(range(6)))
    gc.collect()
    assert (tmp_path / "out" / "summary.json").exists()
    check(cp.Result(str(tmp_path / "out"), positions=True), list(range(6)))


def test_own_sources(tmp_path: Path) -> None:
    jsonl(tmp_path / "a.jsonl", [{"id": "1", "text": TEXTS[2]}])
    path = pipeline(tmp_path, {"s": {"paths": "a.jsonl"}}, LENGTH)
    assert run(path).folder == str(tmp_path / "out")
    assert cp.Pipeline.from_yaml(path).run().summary["documents"]["kept"] == 1
    with pytest.raises(cp.ConfigError, match="expected sources, or data to run on"):
        cp.Pipeline.from_dict(PIPE).run()


def test_faults_of_a_dictionary() -> None:
    with pytest.raises(cp.ConfigError) as caught:
        cp.Pipeline.from_dict({"stages": [{"lenght": {}}, {"length": {"tokens": "x"}}], "x": 1})
    assert [fault.path for fault in caught.value.faults] == [
        "stages[0].lenght",
        "stages[1].length.tokens",
        "x",
    ]
    assert "unknown stage" in str(caught.value)
    with pytest.raises(cp.ConfigError, match="length.tokens"):
        cp.Pipeline.from_dict(PIPE, set=["length.tokens.min=many"])
    with pytest.raises(cp.ConfigError, match="no recipe of that name"):
        cp.Pipeline.from_yaml("startr")


def test_describe_and_display() -> None:
    pipe = cp.Pipeline.from_dict(PIPE)
    assert [stage["name"] for stage in pipe.describe()["stages"]] == ["length", "exact"]
    result = pipe.run(TEXTS)
    assert "6 documents in: 2 kept, 4 dropped, 0 dead" in repr(result)
    shown = result._repr_html_()
    assert "<table>" in shown and "<td>exact</td>" in shown and "6 documents in" in shown
    assert "<pre>" in result.explain(0)._repr_html_()


def test_the_library_is_quiet(capfd: pytest.CaptureFixture[str]) -> None:
    cp.Pipeline.from_dict(PIPE).run(TEXTS)
    assert capfd.readouterr() == ("", "")
    cp.Pipeline.from_dict(PIPE).run(TEXTS, quiet=False)
    assert "clean: 1/1 shards" in capfd.readouterr().err


def test_columns_of_a_frame_by_name() -> None:
    frame = pd.DataFrame({"body": ["one", "one two three"], "key": [7, 8]})
    result = cp.Pipeline.from_dict({"stages": LENGTH}).run(frame, text="body", id="key")
    assert result.kept.column("text").to_pylist() == ["one two three"]
    assert result.dropped.column("id").to_pylist() == ["7"]


def test_the_same_data_into_the_same_output_is_the_same_run(tmp_path: Path) -> None:
    pipe = cp.Pipeline.from_dict({"stages": LENGTH})
    first = pipe.run(["one", "one two three"], output=tmp_path / "out").summary
    assert pipe.run(["one", "one two three"], output=tmp_path / "out").summary == first
    with pytest.raises(cp.ChangedError):
        pipe.run(["one", "one two four"], output=tmp_path / "out")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ((text for text in ["a"]), "got generator, which comes one by one"),
        (datasets.Dataset.from_dict({"text": ["a"]}).to_iterable_dataset(), "one by one"),
        (pd.DataFrame([["a", "b"]], columns=["text", "text"]), "two columns of the frame"),
    ],
)
def test_data_that_will_not_do(data: Any, message: str) -> None:
    with pytest.raises(cp.ConfigError, match=message):
        cp.Pipeline.from_dict({"stages": LENGTH}).run(data)


def test_numpy_arrays_and_scalars_and_record_batches() -> None:
    pipe = cp.Pipeline.from_dict({"stages": [{"length": {"tokens": [np.int64(2), None]}}]})
    assert pipe.run(np.array(["a b", "c"])).dropped.column("id").to_pylist() == [1]
    assert pipe.run(pa.record_batch({"text": ["a b", "c"]})).kept.num_rows == 1


def test_a_table_has_no_measures() -> None:
    with pytest.raises(TypeError, match="choose a column"):
        cp.measures(pd.DataFrame({"text": ["a"]}))
