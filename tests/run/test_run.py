"""The main job: what is on disk after a run, and that nothing but the plan decides it."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from cleanpipe import ChangedError, Pipeline
from cleanpipe import run as engine
from cleanpipe.job import Job
from cleanpipe.progress import Progress
from cleanpipe.runner import InlineRunner
from cleanpipe.spec import run_options
from cleanpipe.tasks import Task

from ..conftest import Cli
from ..jobs import (
    FOLDERS,
    LENGTH,
    SAMPLE,
    STAGES,
    content,
    jsonl,
    parts,
    pipeline,
    rows,
    run,
    summary,
    temporary_files,
    verdicts,
)

TEXT = pa.large_string()


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, corpus: Path) -> Path:
    """A finished run over byte ranges of 100 kB, every sort of stage in it."""
    folder = tmp_path_factory.mktemp("finished")
    path = pipeline(folder, {"docs": {"paths": str(corpus)}}, shard_bytes="100KB")
    run(path)
    return folder


def test_what_is_on_disk(finished: Path) -> None:
    out = finished / "out"
    shards = len(list((out / "measures").iterdir()))
    assert shards > 15
    names = [f"part-{number:05d}.parquet" for number in range(shards)]
    for folder in ("dropped", "dead", "measures", "edits", "index/exact"):
        assert sorted(path.name for path in (out / folder).iterdir()) == names
    kept = [f"part-{number:05d}-000.parquet" for number in range(shards)]
    assert sorted(path.name for path in (out / "kept").iterdir()) == kept
    assert sorted(path.name for path in out.iterdir()) == [
        "_run",
        "dead",
        "dropped",
        "edits",
        "index",
        "kept",
        "measures",
        "summary.json",
    ]
    assert sorted(path.name for path in (out / "_run").iterdir()) == ["lock", "plan.json", "tasks"]
    assert not temporary_files(out)


def test_schemas(finished: Path) -> None:
    out = finished / "out"
    lineage = pa.struct([("source", TEXT), ("file", TEXT), ("row", pa.int64()), ("language", TEXT)])
    wanted = {
        "kept": [
            ("id", TEXT),
            ("text", TEXT),
            ("from", TEXT),
            ("extra", TEXT),
            ("cleanpipe", lineage),
        ],
        "dropped": [
            *((name, TEXT) for name in ("id", "file")),
            ("row", pa.int64()),
            *((name, TEXT) for name in ("source", "language", "url", "stage", "rule", "measure")),
            ("value", pa.float64()),
            ("bound", TEXT),
            ("also_failed", pa.list_(TEXT)),
            *((name, TEXT) for name in ("survivor_id", "survivor_file")),
            ("survivor_row", pa.int64()),
            ("survivor_run", TEXT),
            ("similarity", pa.float64()),
            *((name, TEXT) for name in ("test_set", "test_item", "match")),
            ("match_start", pa.int64()),
            ("match_end", pa.int64()),
            ("test_score", pa.float64()),
            ("test_evidence", TEXT),
            ("match_entry", TEXT),
        ],
        "dead": [
            *((name, TEXT) for name in ("reason", "message", "source", "file")),
            ("row", pa.int64()),
            ("offset", pa.int64()),
            ("raw", pa.large_binary()),
        ],
    }
    for folder, columns in wanted.items():
        for name, table in parts(out, folder).items():
            found = [
                (field.name, pa.list_(TEXT) if field.name == "also_failed" else field.type)
                for field in table.schema
            ]
            assert found == columns, (folder, name)
    for table in parts(out, "measures").values():
        names = table.schema.names
        assert names[:6] == ["id", "file", "row", "source", "kept", "text_hash"]
        assert {"language.language", "remove.removed_share", "length.tokens"} < set(names)
    assert all("start" in table.schema.names for table in parts(out, "edits").values())


def test_in_is_kept_and_dropped_and_dead(finished: Path, corpus: Path) -> None:
    """By shard and in total; the lines of the file say how many there must be."""
    out = finished / "out"
    kept, dropped, dead, measured = (
        parts(out, folder) for folder in ("kept", "dropped", "dead", "measures")
    )
    for name, table in measured.items():
        assert len(table) == len(kept[name.replace(".", "-000.")]) + len(dropped[name])
        record = json.loads((out / f"_run/tasks/phase0-{name[5:10]}.json").read_text())
        assert record["stats"]["total"]["documents_in"] == len(table) + len(dead[name])
    documents = summary(out)["documents"]
    lines = [line for line in corpus.read_text().split("\n") if line.strip()]
    assert documents["in"] == len(lines)
    assert documents["in"] == documents["kept"] + documents["dropped"] + documents["dead"]
    assert documents["kept"] > 300 and documents["dropped"] > 150 and documents["dead"] == 2
    assert documents["kept"] == sum(map(len, kept.values()))
    assert documents["dropped"] == sum(map(len, dropped.values()))


def test_rows_are_physical_lines(finished: Path, corpus: Path) -> None:
    """Over many byte ranges; blank lines count but are no documents."""
    lines = corpus.read_text().split("\n")
    found = [(row["row"], row["id"]) for row in rows(finished / "out", "measures")]
    assert found == sorted(found) and len({row for row, _ in found}) == len(found)
    for number, id in found:
        assert json.loads(lines[number])["id"] == id
    dead = rows(finished / "out", "dead")
    assert [(row["reason"], lines[row["row"]][:20]) for row in dead] == [
        ("no_text", '{"id": "null", "text'),
        ("bad_json", '{"id": "broken", "te'),
    ]
    text = corpus.read_bytes()
    for row in dead:
        assert text[row["offset"] :].startswith(row["raw"]) and row["raw"].startswith(b'{"id"')


def test_survivors_are_in_the_output(finished: Path) -> None:
    found = verdicts(finished / "out")
    duplicates = [row for row in found.values() if row.get("stage") == "exact"]
    assert len(duplicates) > 20
    for row in duplicates:
        survivor = found[row["survivor_file"], row["survivor_row"]]
        assert "stage" not in survivor and survivor["id"] == row["survivor_id"]
        assert row["similarity"] == 1.0 and row["survivor_row"] < row["row"]


def test_summary(finished: Path) -> None:
    made = json.loads((finished / "out" / "summary.json").read_text())
    documents = made["documents"]
    assert {"documents", "bytes", "tokens", "stages", "by", "seconds", "plan"} <= set(made)
    assert set(documents) == {"in", "kept", "dropped", "dead"}
    for stage in made["stages"]:
        assert {"name", "in", "dropped", "units_removed", "seconds"} <= set(stage)
    assert sum(stage["dropped"] for stage in made["stages"]) == documents["dropped"]
    reached = documents["in"] - documents["dead"]
    for stage in made["stages"]:
        assert stage["in"] == reached, stage["name"]
        reached -= stage["dropped"]
    assert reached == documents["kept"]
    assert set(made["by"]) == {"source", "language"}
    assert made["by"]["source"] == {"docs": documents}
    languages = made["by"]["language"].values()
    assert sum(part["kept"] for part in languages) == documents["kept"]
    kept = rows(finished / "out", "kept")
    assert made["bytes"]["kept"] == sum(len(row["text"].encode()) for row in kept)
    for sizes in (made["bytes"], made["tokens"]):
        assert sizes["in"] == sizes["kept"] + sizes["dropped"] + sizes["removed"]
    removed = next(stage for stage in made["stages"] if stage["name"] == "remove")["units_removed"]
    assert removed == len(rows(finished / "out", "edits")) > 0
    assert made["seconds"] > 0


def test_empty_folders_still_have_files(tmp_path: Path) -> None:
    """One document that is kept, one that is dropped, none at all."""
    for text, kept in (("one two three", 1), ("one", 0), (None, 0)):
        folder = tmp_path / str(text)
        folder.mkdir()
        jsonl(folder / "a.jsonl", [] if text is None else [{"id": "1", "text": text}])
        out = Path(
            run(pipeline(folder, {"s": {"paths": "a.jsonl"}}, [*LENGTH, {"exact": {}}])).folder
        )
        for name in FOLDERS:
            folders = list((out / name).rglob("*.parquet"))
            assert len(folders) == 1, (text, name)
        assert len(rows(out, "kept")) == kept
        assert summary(out)["documents"]["in"] == (text is not None)


@pytest.mark.parametrize("batch_bytes", ["500", "5000", "1MB"])
def test_same_bytes_for_any_batch(tmp_path: Path, finished: Path, batch_bytes: str) -> None:
    run(finished / "pipeline.yaml", tmp_path / "out", f"run.batch_bytes={batch_bytes}")
    assert content(tmp_path / "out") == content(finished / "out")
    assert summary(tmp_path / "out") == summary(finished / "out")


def test_same_bytes_for_any_order_of_tasks(
    tmp_path: Path, finished: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Shuffled(InlineRunner):
        def run(self, job: Job, tasks: Any, report: Any) -> Any:
            mixed: list[Task] = list(tasks)
            random.Random(5).shuffle(mixed)
            return super().run(job, mixed, report)

    monkeypatch.setattr(engine, "make_runner", lambda *_: Shuffled())
    run(finished / "pipeline.yaml", tmp_path / "out")
    assert content(tmp_path / "out") == content(finished / "out")
    assert summary(tmp_path / "out") == summary(finished / "out")


@pytest.mark.parametrize("shard_bytes", ["30KB", "64MiB"])
def test_same_verdicts_for_any_shards(tmp_path: Path, finished: Path, shard_bytes: str) -> None:
    run(finished / "pipeline.yaml", tmp_path / "out", f"shard_bytes={shard_bytes}")
    assert verdicts(tmp_path / "out") == verdicts(finished / "out")
    for folder in ("dead", "measures", "edits"):
        assert rows(tmp_path / "out", folder) == rows(finished / "out", folder)
    wanted, found = summary(finished / "out"), summary(tmp_path / "out")
    assert {**wanted, "plan": None} == {**found, "plan": None}


def test_partitions_change_nothing(
    tmp_path: Path, finished: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "PARTITION_BYTES", 300_000)
    run(finished / "pipeline.yaml", tmp_path / "out")
    assert content(tmp_path / "out") == content(finished / "out")


def test_small_files_share_a_shard_and_nothing_moves(tmp_path: Path) -> None:
    sources = {
        "licences": {"paths": str(SAMPLE / "licences" / "*.txt")},
        "world": {"paths": str(SAMPLE / "world.parquet"), "text": "body", "id": "page"},
        "articles": {"paths": str(SAMPLE / "articles.arrow")},
        "broken": {"paths": str(SAMPLE / "cut.jsonl.gz")},
    }
    outs = []
    for size in ("2KB", "64MiB"):
        path = pipeline(tmp_path, sources, STAGES, shard_bytes=size)
        outs.append(Path(run(path, tmp_path / size).folder))
    assert len(parts(outs[1], "measures")) == 4 < len(parts(outs[0], "measures"))
    assert verdicts(outs[0]) == verdicts(outs[1])
    assert [row["reason"] for row in rows(outs[0], "dead")] == ["truncated"]


def test_kept_files_are_cut_at_a_size(tmp_path: Path, finished: Path) -> None:
    path = finished / "pipeline.yaml"
    run(path, tmp_path / "out", "shard_bytes=64MiB", "output.file_size=100KB")
    names = sorted(path.name for path in (tmp_path / "out" / "kept").iterdir())
    assert names == [f"part-00000-{number:03d}.parquet" for number in range(len(names))]
    assert len(names) > 2
    assert rows(tmp_path / "out", "kept") == rows(finished / "out", "kept")


def test_json_lines_output(tmp_path: Path, finished: Path) -> None:
    result = run(finished / "pipeline.yaml", tmp_path / "out", "output.format=jsonl")
    found = [
        json.loads(line)
        for file in sorted((tmp_path / "out" / "kept").glob("*.jsonl"))
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    assert found == rows(finished / "out", "kept")
    assert result.kept.to_pylist() == found


def test_running_again_changes_nothing(finished: Path, clean: Cli) -> None:
    def state() -> dict[str, tuple[int, int]]:
        found = [*(finished / "out").rglob("*"), finished / "out"]
        return {str(p): (p.stat().st_mtime_ns, p.stat().st_size) for p in found}

    before = state()
    ended = clean("run", finished / "pipeline.yaml")
    assert ended.code == 0 and "complete: nothing to do" in ended.err
    assert state() == before


def test_run_options_are_not_part_of_the_plan(finished: Path) -> None:
    before = content(finished / "out")
    run(finished / "pipeline.yaml", None, "run.batch_bytes=1MB", "run.memory_per_worker=2GiB")
    assert content(finished / "out") == before
    with pytest.raises(ChangedError, match="shard_bytes"):
        run(finished / "pipeline.yaml", None, "shard_bytes=1MB")


def test_plan_of_a_dictionary_is_the_plan_of_the_file(finished: Path) -> None:
    path = finished / "pipeline.yaml"
    tree = json.loads(path.read_text())
    assert Pipeline.from_dict(tree).plan.described == Pipeline.from_yaml(path).plan.described


def test_scratch_elsewhere(tmp_path: Path, finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Intermediates go where they are told to, apart from those of other outputs; none stays."""
    plan = Pipeline.from_yaml(finished / "pipeline.yaml").plan
    options = run_options(plan.run, runner="inline", scratch=str(tmp_path / "scratch"))
    folders = []

    class Looking(InlineRunner):
        def run(self, job: Job, tasks: Any, report: Any) -> Any:
            folders.append(Path(job.scratch.root))
            return super().run(job, tasks, report)

    monkeypatch.setattr(engine, "make_runner", lambda *_: Looking())
    for name in ("out", "other"):
        engine.run_plan(plan, str(tmp_path / name), options, Progress(quiet=True))
        assert content(tmp_path / name) == content(finished / "out")
    assert not list((tmp_path / "scratch").rglob("*"))
    assert len(set(folders)) == 2 and {path.parent for path in folders} == {tmp_path / "scratch"}
    folders[0].mkdir()
    (folders[0] / "left.arrow").write_bytes(b"killed just before the end")
    engine.run_plan(plan, str(tmp_path / "out"), options, Progress(quiet=True))
    assert not list((tmp_path / "scratch").rglob("*"))
