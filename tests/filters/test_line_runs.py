"""``line_runs``: lines alone, and runs of them inside ``remove``."""

from __future__ import annotations

import pytest

import cleanpipe as cp
from cleanpipe.filters.line_runs import LineRuns

from .table import faults, table

NONE = {"run": [None, 0]}

test_line_runs = table(
    LineRuns,
    [
        ("Home", NONE, "run"),
        ("Home", {"run": [None, 1]}, None),
        ("Home", {"run": {"below": 1}}, "run"),
        ("Home.", NONE, None),
        ("首页", NONE, "run"),
        ("首页。", NONE, None),
        ("", NONE, "run"),
        ("a" * 29, NONE, "run"),
        ("a" * 30, NONE, None),
        ("a" * 9, {**NONE, "shorter_than": 10}, "run"),
        ("a" * 10, {**NONE, "shorter_than": 10}, None),
        ("a" * 1_000_000, NONE, None),
        ("🎉", NONE, "run"),
        ("שלום עולם", NONE, "run"),
        ("Home\r", NONE, "run"),
        ("Is this the end?", NONE, None),
    ],
)

MENU = "Home\nNews\n• Contact us\n新闻"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"{MENU}\nA sentence of the page stands here.", "A sentence of the page stands here."),
        (f"A sentence stays.\r\n{MENU}\r\nAnother does.", "A sentence stays.\r\nAnother does."),
        (f"A sentence stays.\n\n{MENU}", "A sentence stays."),
        ("Home\nNews\nContact us\nA sentence.", "Home\nNews\nContact us\nA sentence."),
        ("Home\nNews.\nMore\nAll\nA heading\nA sentence.",) * 2,
        ("一个标题\n第一句话在这里。",) * 2,
    ],
)
def test_runs_of_four_go(text: str, left: str) -> None:
    failing = [{"line_runs": {"run": [None, 3]}}]
    pipe = cp.Pipeline.from_dict({"stages": [{"remove": {"unit": "line", "failing": failing}}]})
    # Other documents' lines are no part of a run.
    others = ["Home\nNews", text, "Home\nNews"]
    assert pipe.run(others).kept["text"].to_pylist() == [others[0], left, others[2]]


def test_a_line_must_be_able_to_be_short() -> None:
    (fault,) = faults(LineRuns, {**NONE, "shorter_than": 0})
    assert "at least 1" in fault
