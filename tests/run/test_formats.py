"""What the formats of ``kept/`` can hold, and how."""

from __future__ import annotations

import datetime
import re

import pyarrow as pa
import pytest

from cleanpipe import ConfigError, Pipeline

from ..jobs import LENGTH


@pytest.mark.parametrize(
    ("format", "column", "message"),
    [
        ("jsonl", pa.array([b"x"], pa.binary()), 'column "c" is large_binary, which jsonl cannot'),
        ("parquet", pa.array([{}], pa.struct([])), 'column "c" is struct<>, which parquet cannot'),
    ],
)
def test_columns_that_a_format_cannot_hold(format: str, column: pa.Array, message: str) -> None:
    pipe = Pipeline.from_dict({"stages": LENGTH, "output": {"format": format}})
    with pytest.raises(ConfigError, match=re.escape(message)):
        pipe.run(pa.table({"text": ["a b c"], "c": column}))


def test_times_are_texts_in_json_lines() -> None:
    when = datetime.datetime(2026, 1, 2, 3, 4, 5, 678901)
    table = pa.table({"text": ["a b c"], "c": pa.array([when], pa.timestamp("ns"))})
    pipe = Pipeline.from_dict({"stages": LENGTH, "output": {"format": "jsonl"}})
    assert pipe.run(table).kept.column("c").to_pylist() == ["2026-01-02 03:04:05.678901000"]
