"""``explain`` replays a document from its source and agrees with what the run stored."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from cleanpipe import ConfigError, Explanation, Pipeline, RunError
from cleanpipe.explain import explain

from .conftest import Cli
from .jobs import LENGTH, STAGES, jsonl, pipeline, rows, run, verdicts

SOURCES: dict[str, Any] = {
    "pages": {"paths": "sample/pages.jsonl", "text": "content", "id": "url", "url": "url"},
    "help": {"paths": "sample/help.jsonl.zst"},
    "world": {"paths": "sample/world.parquet", "text": "body", "id": "page"},
    "articles": {"paths": "sample/articles.arrow"},
    "licences": {"paths": "sample/licences/*.txt"},
    "broken": {"paths": "sample/cut.jsonl.gz"},
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run over the sample, every format in it, in a folder of its own."""
    from .jobs import SAMPLE

    folder = tmp_path_factory.mktemp("explain")
    shutil.copytree(SAMPLE, folder / "sample")
    stages = [*STAGES[:3], {"symbols": {"symbol_share": [None, 0.1]}}, *STAGES[3:]]
    run(pipeline(folder, SOURCES, stages, shard_bytes="60KB"))
    return folder


def test_documents_of_the_sample(finished: Path) -> None:
    """Kept, dropped by a measure, and dropped as a duplicate: replay and record agree."""
    out = finished / "out"
    found = verdicts(out)
    measured = {(row["file"], row["row"]): row for row in rows(out, "measures")}
    seen: set[str] = set()
    # Each costs a reading of its file, so every twelfth, and at least 10 of each stage.
    taken: dict[str, int] = {}
    for place, ((file, row), record) in enumerate(sorted(found.items(), key=lambda item: item[0])):
        stage = record.get("stage", "kept")
        if place % 12 and taken.get(stage, 0) >= 10:
            continue
        taken[stage] = taken.get(stage, 0) + 1
        made = explain(str(out), f"{file}:{row}")
        assert made.agrees, (file, row, made.differences)
        assert (made.id, made.file, made.row) == (record["id"], file, row)
        seen.add(stage)
        if stage == "kept":
            assert made.drop is None and made.verdict == "kept"
            assert made.kept_text == record["text"]
            assert made.source == record["cleanpipe"]["source"]
            assert not any(check.failed for check in made.checks)
        else:
            assert made.drop is not None
            for name, value in vars(made.drop).items():
                assert record[name] == value, name
            assert stage in made.verdict
        stored = measured[file, row]
        for name, value in made.measures.items():
            assert stored[name] == value, name
    assert {"kept", "language", "length", "symbols", "exact"} <= seen
    assert any(name.startswith("gopher_quality.") for name in seen)


def test_what_it_says(finished: Path, clean: Cli) -> None:
    out = finished / "out"
    dropped = rows(out, "dropped")
    short = next(row for row in dropped if row["stage"] == "length")
    ended = clean("explain", out, f"{short['file']}:{short['row']}")
    assert ended.code == 0
    assert f"length.tokens = {short['value']:.0f}, must be >= 20 and <= 20000" in ended.out
    assert f"=> dropped by length.tokens = {short['value']:.0f}" in ended.out
    twice = next(row for row in dropped if row["stage"] == "exact")
    said = clean("explain", out, f"{twice['file']}:{twice['row']}").out
    assert f"{twice['survivor_file']}, row {twice['survivor_row']}), which is kept" in said
    edit = rows(out, "edits")[0]
    said = clean("explain", out, f"{edit['file']}:{edit['row']}").out
    assert f"removed bytes {edit['start']}-{edit['end']} by remove.symbols.symbol_share" in said


def test_by_id(finished: Path) -> None:
    row = rows(finished / "out", "kept")[0]
    made = explain(str(finished / "out"), row["id"])
    assert (made.file, made.row) == (row["cleanpipe"]["file"], row["cleanpipe"]["row"])


def test_from_anywhere(finished: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The working directory has moved; then the run was started by a relative path."""
    record = rows(finished / "out", "dropped")[0]
    key = f"{record['file']}:{record['row']}"
    monkeypatch.chdir(tmp_path)
    assert explain(str(finished / "out"), key).agrees
    monkeypatch.chdir(finished)
    shutil.copytree("sample", tmp_path / "sample")
    shutil.copy("pipeline.yaml", tmp_path)
    monkeypatch.chdir(tmp_path)
    run(Path("pipeline.yaml"), Path("here"))
    monkeypatch.chdir("/")
    assert explain(str(tmp_path / "here"), key).agrees


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """A run over ids that repeat, look like keys of others, and documents that are dead."""
    jsonl(
        tmp_path / "a.jsonl",
        [
            {"id": "same", "text": "one two three"},
            {"id": "same", "text": "one"},
            {"id": "a.jsonl:3", "text": "one two three four"},
            {"id": "x", "text": "two words"},
            {"id": "dead", "text": None},
            "{broken",
        ],
    )
    run(pipeline(tmp_path, {"s": {"paths": "a.jsonl"}}, LENGTH))
    return tmp_path


def test_an_id_of_several(odd: Path) -> None:
    with pytest.raises(ConfigError, match='2 documents have the id "same".*a.jsonl:0, a.jsonl:1'):
        explain(str(odd / "out"), "same")
    assert explain(str(odd / "out"), "a.jsonl:1").drop is not None


def test_a_key_goes_before_an_id_of_its_form(odd: Path) -> None:
    assert explain(str(odd / "out"), "a.jsonl:3").id == "x"
    assert explain(str(odd / "out"), "a.jsonl:2").id == "a.jsonl:3"


def test_dead_and_unknown(odd: Path) -> None:
    with pytest.raises(ConfigError, match='"a.jsonl:4" could not be read: no_text: .*null'):
        explain(str(odd / "out"), "a.jsonl:4")
    with pytest.raises(ConfigError, match='"a.jsonl:5" could not be read: bad_json'):
        explain(str(odd / "out"), "a.jsonl:5")
    for name in ("a.jsonl:6", "nobody", "", "a.jsonl:-1", "a.jsonl:²", "a.jsonl:" + "9" * 30):
        with pytest.raises(ConfigError, match="no document has the id"):
            explain(str(odd / "out"), name)
    with pytest.raises(ConfigError, match="holds no run"):
        explain(str(odd), "x")


def test_a_changed_source(odd: Path, clean: Cli) -> None:
    text = (odd / "a.jsonl").read_text()
    (odd / "a.jsonl").write_text(text.replace("two words", "two longer words"))
    made = explain(str(odd / "out"), "x")
    assert not made.agrees
    assert "the source's text has changed" in made.differences
    ended = clean("explain", odd / "out", "x")
    assert ended.code == 1 and "DIFFERS from the stored record: " in ended.out
    (odd / "a.jsonl").write_text("".join(text.splitlines(keepends=True)[:2]))
    with pytest.raises(RunError, match="has no row 3 any more"):
        explain(str(odd / "out"), "x")
    os.unlink(odd / "a.jsonl")
    with pytest.raises(ConfigError, match="matches no file"):
        explain(str(odd / "out"), "x")


def test_what_stands_around_a_match(tmp_path: Path) -> None:
    text = f"{'long before ' * 9}the\n赌场 is {'far behind ' * 9}"
    jsonl(tmp_path / "a.jsonl", [{"id": "1", "text": text}])
    stage = {"blocklist": {"words": ["赌场"]}}
    run(pipeline(tmp_path, {"s": {"paths": "a.jsonl"}}, [stage]))
    verdict = explain(str(tmp_path / "out"), "1").verdict
    assert verdict.endswith(
        "; there: e long before long before the ⟦赌场⟧ is far behind far behind far"
    )


def test_a_changed_list(tmp_path: Path) -> None:
    jsonl(tmp_path / "a.jsonl", [{"id": "1", "text": "a casino is here"}])
    (tmp_path / "bad.txt").write_text("casino\n")
    stage = {"blocklist": {"phrases": "bad.txt", "hits": [None, 0]}}
    run(pipeline(tmp_path, {"s": {"paths": "a.jsonl"}}, [stage]))
    made = explain(str(tmp_path / "out"), "1")
    assert made.agrees and made.drop is not None and made.drop.match == "casino"
    assert 'found "casino" at bytes 2-8, of bad.txt: casino; there: a ⟦casino⟧ is' in made.verdict
    (tmp_path / "bad.txt").write_text("casinos\n")
    with pytest.raises(ConfigError, match="changed since the run: bad.txt"):
        explain(str(tmp_path / "out"), "1")


def test_a_tampered_record(odd: Path) -> None:
    """What was stored is compared, not believed."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = odd / "out" / "measures" / "part-00000.parquet"
    table = pq.read_table(path)
    kept = pa.array([not value for value in table.column("kept").to_pylist()])
    pq.write_table(table.set_column(4, "kept", kept), path)
    made = explain(str(odd / "out"), "x")
    assert made.differences == ["it was kept"]
    assert json.dumps(made.measures) == '{"length.tokens": 2.0}'


def test_a_bound_of_another_language_is_not_shown() -> None:
    stages = [{"language": {"keep": {"en": 0.3, "de": 0.99, "zh": 0.1}}}]
    text = "This is a plain English sentence about the weather of the last few days."
    shown = str(Pipeline.from_dict({"stages": stages}).run([text]).explain(0))
    assert shown.count("language.score = ") == 1 and "passes >= 0.3" in shown


def test_a_label_stage_after_the_barrier_never_met_the_duplicate() -> None:
    text = "This is a plain English sentence about the weather of the last few days."
    result = Pipeline.from_dict({"stages": ["exact", "language"]}).run([text, text])
    assert [str(result.explain(row).agrees) for row in (0, 1)] == ["True", "True"]
    assert "language.language" not in result.explain(1).measures


def test_an_unfinished_run(tmp_path: Path) -> None:
    (tmp_path / "_run").mkdir()
    (tmp_path / "_run" / "plan.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ConfigError, match="not complete: the same command resumes it"):
        explain(str(tmp_path), "any")


def test_control_characters_are_shown_and_not_obeyed() -> None:
    made = Explanation("a\x1b[31m\nb", "f", 0, "s", "text\x07", "text")
    assert str(made).splitlines()[0].startswith("a\ufffd[31m\ufffdb  (s: f, row 0)")
    assert not set(str(made)) & set("\x1b\x07")
