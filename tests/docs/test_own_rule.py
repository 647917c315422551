"""The pipeline of docs/how-to/own-rule.md, run as it stands on the page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import cleanpipe as cp

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "own-rule.md"
PROSE = "It is a long way from the house to the river, and nobody has walked it since the last war."
CHINESE = "从房子到河边的路很长，自从战争以来没有人走过这条路，大家都说那里已经没有路了。"


@pytest.fixture(scope="module")
def pipe(tmp_path_factory: pytest.TempPathFactory) -> cp.Pipeline:
    (page,) = re.findall(r"^```yaml\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.S)
    path = tmp_path_factory.mktemp("page") / "pipeline.yaml"
    path.write_text(page, "utf-8")
    return cp.Pipeline.from_yaml(path)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (PROSE, PROSE),
        (CHINESE, CHINESE),
        (f"1999 12 34 56 78\n{PROSE}", PROSE),
        (f"1999 12 34 56 a\r\n{CHINESE}", CHINESE),
        (f"1999 12\n{PROSE}", f"1999 12\n{PROSE}"),
        (f"{PROSE}\nBUY NOW, ONLY TODAY", PROSE),
        (f"{PROSE}\nNASA", f"{PROSE}\nNASA"),
        ("Anna Berta Carla\n" * 13, "Anna Berta Carla\n" * 13),
    ],
)
def test_kept(pipe: cp.Pipeline, text: str, left: str) -> None:
    assert pipe.run([text]).kept["text"].to_pylist() == [left]


def test_percentiles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stages = ["language", {"rule": {"measure": "digit_share"}, "name": "digits"}]
    cp.Pipeline.from_dict({"stages": stages}).run([PROSE, CHINESE], output=tmp_path / "out")
    (code,) = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.S)
    monkeypatch.chdir(tmp_path)
    exec(compile(code, str(PAGE), "exec"), {})  # ours, from the page
    assert capsys.readouterr().out.split("\n")[:2] == [
        "en 1 [0.0, 0.0, 0.0]",
        "zh 1 [0.0, 0.0, 0.0]",
    ]


@pytest.mark.parametrize(
    ("text", "stage"),
    [
        (f"{PROSE}\n" + "1999 12 34 56 78\n" * 9, "mostly_lines"),
        ("Too short to be anything.", "size"),
        ("太短了。", "size"),
        ("Anna Berta Carla\n" * 14, "prose"),
        ("安娜、贝塔、卡拉\n" * 7, "prose"),
        ("", "size"),
    ],
)
def test_dropped(pipe: cp.Pipeline, text: str, stage: str) -> None:
    assert pipe.run([text]).dropped["stage"].to_pylist() == [stage]
