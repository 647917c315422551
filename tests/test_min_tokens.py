"""``min_tokens``: units of fewer tokens are measured, and not judged, wherever a filter stands."""

from __future__ import annotations

from typing import Any

import pytest

from cleanpipe import Pipeline
from cleanpipe.errors import ConfigError

LOUD, LONG = "BUY NOW !!!", "BUY NOW " * 10 + "!!!"
"""Two tokens, and twenty."""
SYMBOLS = {"upper_share": [None, 0.5]}


def kept(stages: list[Any], *texts: str) -> list[str]:
    result = Pipeline.from_dict({"stages": stages}).run(list(texts))
    found: list[str] = result.kept["text"].to_pylist()
    return found


@pytest.mark.parametrize(
    ("least", "stays"),
    [(0, []), (1, []), (2, []), (3, [LOUD]), (20, [LOUD]), (21, [LOUD, LONG])],
)
def test_documents(least: int, stays: list[str]) -> None:
    assert kept([{"symbols": {**SYMBOLS, "min_tokens": least}}], LOUD, LONG) == stays


def test_what_is_not_judged_is_measured() -> None:
    pipeline = Pipeline.from_dict({"stages": [{"symbols": {**SYMBOLS, "min_tokens": 9}}]})
    result = pipeline.run([LOUD, LONG])
    assert result.measures["symbols.upper_share"].to_pylist() == [1.0, 1.0]
    assert result.dropped["id"].to_pylist() == [1]


def test_units_in_documents() -> None:
    remove = {"unit": "line", "failing": [{"symbols": {**SYMBOLS, "min_tokens": 9}}]}
    assert kept([{"remove": remove}], f"{LOUD}\n{LONG}\nquiet") == [f"{LOUD}\nquiet"]


def test_the_members_of_a_set() -> None:
    assert kept([{"gopher_quality": {}}], "short") == []
    assert kept([{"gopher_quality": {"min_tokens": 2}}], "short") == ["short"]
    plan = Pipeline.from_dict({"stages": [{"gopher_quality": {"min_tokens": 2}}]}).plan
    rules = [stage["parameters"]["min_tokens"] for stage in plan.described["stages"]]
    assert set(rules) == {2}


@pytest.mark.parametrize("kind", ["symbols", "gopher_quality"])
@pytest.mark.parametrize(("least", "expected"), [(-5, "0 or more"), (10**400, "smaller")])
def test_what_is_no_number_of_tokens(kind: str, least: int, expected: str) -> None:
    with pytest.raises(ConfigError, match=rf"{kind}\.min_tokens: expected .*{expected}"):
        kept([{kind: {**(SYMBOLS if kind == "symbols" else {}), "min_tokens": least}}])
