"""Test items found in documents: rows, counts, records, labels, and what explains them."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cleanpipe import ConfigError, Pipeline, RunError, reference
from cleanpipe import run as engine
from cleanpipe.batch import MATCHES
from cleanpipe.explain import explain
from cleanpipe.job import Job
from cleanpipe.leaks import Leaks
from cleanpipe.parameters import LocalPath
from cleanpipe.printing import plan_text
from cleanpipe.runner import InlineRunner
from cleanpipe.tasks import Task
from cleanpipe.units import Units

from ..conftest import Cli
from ..contract.test_contract import check_matches
from ..jobs import FOLDERS, LENGTH, content, jsonl, parts, pipeline, rows, run, summary
from ..stages_for_tests import Finds, FindsCut, FindsDrop, FindsFlag, registered

SETS = {
    "gsm": {"q1": "How many eggs has Ann?", "a1": "She has 18.", "s": "x", "never": "zzz zzz"},
    "数学": {"q": "苹果一共有多少个?", "短": "五"},
    "code": {"f": "return n * fact(n - 1)"},
}
ACTIONS = {"gsm": "drop", "数学": "cut", "code": "flag"}
MEMBERS = {"flag": "code", "cut": "数学", "drop": "gsm"}
"""Members in their order, and the set of each."""
FINDS = {"finds": {"sets": {name: f"{name}.json" for name in SETS}, "action": ACTIONS}}
STAGES: list[Any] = [*LENGTH, FINDS, {"paragraphs": {"min_tokens": 4}}, {"exact": {}}]
"""Filters, a corpus rewriter and a barrier: matches travel through two spools."""


@pytest.fixture(autouse=True)
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    registered(monkeypatch, Finds)


def documents() -> list[dict[str, Any]]:
    """120 documents, made by chance; items stand in some, two or one twice in a few."""
    chance = random.Random(7)
    items = [text for name in SETS for text in SETS[name].values() if len(text) > 1][:-1]
    items.append(SETS["code"]["f"])
    made = []
    for number in range(120):
        lines = [f"Line {chance.randrange(30)} of é 文 and more words." for _ in range(3)]
        for _ in range(chance.choice([0, 0, 1, 2])):
            text = chance.choice([item for item in items if "zzz" not in item])
            lines.insert(chance.randrange(4), f"before {text} behind {number}")
        made.append({"id": f"d{number}", "text": "\n".join(lines), "url": f"http://h/{number}"})
    made.append({"id": "two", "text": "五 x"})
    return made


def write(folder: Path, stages: list[Any] | None = None, **more: Any) -> Path:
    for name, items in SETS.items():
        (folder / f"{name}.json").write_text(json.dumps(items), encoding="utf-8")
    every = documents()
    jsonl(folder / "a.jsonl", every[:70])
    jsonl(folder / "b.jsonl", every[70:])
    sources = {"web": {"paths": "a.jsonl"}, "books": {"paths": "b.jsonl"}}
    return pipeline(folder, sources, STAGES if stages is None else stages, **more)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("matches")
    with pytest.MonkeyPatch.context() as patch:
        registered(patch, Finds)
        run(write(folder, shard_bytes="1KB"))
    yield folder


def expected() -> list[dict[str, Any]]:
    """What must be found, by plain search."""
    found = []
    for number, row in enumerate(documents()):
        text = row["text"]
        if len(text) < 10:
            continue
        for action, name in MEMBERS.items():
            for item, wanted in SETS[name].items():
                start = text.encode().find(wanted.encode())
                while len(wanted) > 1 and start >= 0:
                    end = start + len(wanted.encode())
                    found.append(
                        {
                            "id": row["id"],
                            "file": "a.jsonl" if number < 70 else "b.jsonl",
                            "row": number if number < 70 else number - 70,
                            "source": "web" if number < 70 else "books",
                            "url": row["url"],
                            "stage": f"finds.{action}",
                            "action": action,
                            "test_set": name,
                            "test_item": item,
                            "evidence": "question" if wanted.endswith("?") else "answer",
                            "score": 1.0,
                            "threshold": 0.5,
                            "match": wanted,
                            "match_start": start,
                            "match_end": end,
                        }
                    )
                    start = text.encode().find(wanted.encode(), end)
            if action == "cut":  # the stage after it sees another text
                for wanted in SETS[name].values():
                    text = text.replace(wanted, "") if len(wanted) > 1 else text
    return found


def test_rows(finished: Path) -> None:
    wanted = expected()
    assert rows(finished / "out", "matches") == wanted
    assert {row["action"] for row in wanted} == {"flag", "cut", "drop"}
    for name, table in parts(finished / "out", "matches").items():
        assert table.schema.names == MATCHES.names, name
    assert parts(finished / "out", "matches").keys() == parts(finished / "out", "edits").keys()


def test_summary(finished: Path) -> None:
    wanted = expected()
    made = summary(finished / "out")["test_sets"]
    assert [(each["stage"], each["name"]) for each in made] == [
        (f"finds.{action}", name) for action, name in MEMBERS.items()
    ]
    for each in made:
        mine = [row for row in wanted if row["test_set"] == each["name"]]
        pairs = {(row["test_item"], row["file"], row["row"]): row for row in reversed(mine)}
        short = [item for item, text in SETS[each["name"]].items() if len(text) == 1]
        by_item = Counter(item for item, *_ in pairs)
        leaks = [
            {
                "item": item,
                "documents": number,
                "sources": dict(
                    sorted(Counter(r["source"] for p, r in pairs.items() if p[0] == item).items())
                ),
                "first": next(
                    {name: row[name] for name in ("file", "row", "id")}
                    for row in mine
                    if row["test_item"] == item
                ),
            }
            for item, number in sorted(by_item.items(), key=lambda x: (-x[1], x[0]))
        ]
        assert each == {
            "name": each["name"],
            "stage": each["stage"],
            "action": ACTIONS[each["name"]],
            "items": len(SETS[each["name"]]),
            "too_short": {"number": len(short), "items": short},
            "found": len(by_item),
            "documents": len({key[1:] for key in pairs}),
            "evidence": dict(sorted(Counter(row["evidence"] for row in pairs.values()).items())),
            "by_source": dict(sorted(Counter(row["source"] for row in pairs.values()).items())),
            "leaks": leaks,
        }
        assert len(mine) > len(pairs) or each["name"] != "gsm", "one of them stands twice somewhere"


@pytest.mark.parametrize("shard_bytes", ["4KB", "64MiB"])
def test_same_for_any_shards(tmp_path: Path, finished: Path, shard_bytes: str) -> None:
    run(finished / "pipeline.yaml", tmp_path / "out", f"shard_bytes={shard_bytes}")
    for folder in ("matches", "dropped", "edits", "kept"):
        assert rows(tmp_path / "out", folder) == rows(finished / "out", folder)
    assert summary(tmp_path / "out")["test_sets"] == summary(finished / "out")["test_sets"]


def same(output: Path, finished: Path) -> None:
    folders = [*FOLDERS, "matches"]
    assert content(output, folders) == content(finished / "out", folders)
    assert summary(output) == summary(finished / "out")


def test_same_bytes_for_any_batch(tmp_path: Path, finished: Path) -> None:
    run(finished / "pipeline.yaml", tmp_path / "out", "run.batch_bytes=500")
    same(tmp_path / "out", finished)


def test_in_any_order_of_tasks_and_resumed(
    tmp_path: Path, finished: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Interrupted in each step of the run, amid tasks that are out of order."""
    seen: set[str] = set()

    class Shuffled(InlineRunner):
        def run(self, job: Job, tasks: Any, report: Any) -> Any:
            mixed: list[Task] = list(tasks)
            random.Random(5).shuffle(mixed)
            for number, record in enumerate(super().run(job, mixed, report)):
                yield record
                kind = mixed[0].name.partition("-")[0]
                if number == len(mixed) // 2 and kind not in seen:
                    seen.add(kind)
                    raise KeyboardInterrupt

    monkeypatch.setattr(engine, "make_runner", lambda *_: Shuffled())
    interrupted = 0
    while True:
        try:
            run(finished / "pipeline.yaml", tmp_path / "out")
            break
        except KeyboardInterrupt:
            interrupted += 1
    assert interrupted == len(seen) > 4 and {"phase0", "phase1", "phase2"} <= seen
    same(tmp_path / "out", finished)


def test_drop_records(finished: Path) -> None:
    found = {
        (row["file"], row["row"]): row for row in reversed(expected()) if row["action"] == "drop"
    }
    dropped = [row for row in rows(finished / "out", "dropped") if row["stage"] == "finds.drop"]
    assert {(row["file"], row["row"]) for row in dropped} == found.keys() and len(found) > 10
    for row in dropped:
        first = found[row["file"], row["row"]]
        for name in ("test_set", "test_item", "match", "match_start", "match_end"):
            assert row[name] == first[name]
        assert (row["bound"], row["test_score"], row["test_evidence"]) == ("< 0.6", 0.93, "answer")
        assert row["value"] >= 1 and row["measure"] == "finds.drop.found"
    others = [row for row in rows(finished / "out", "dropped") if row["stage"] != "finds.drop"]
    assert others and all(row["test_score"] is row["test_evidence"] is None for row in others)


def test_kept_documents_are_labelled(finished: Path) -> None:
    flagged = {(row["file"], row["row"]) for row in expected() if row["action"] == "flag"}
    kept = [row["cleanpipe"] for row in rows(finished / "out", "kept")]
    assert list(kept[0]) == ["source", "file", "row", "language", "test_set"]
    labels = {(row["file"], row["row"]): row["test_set"] for row in kept}
    assert labels == {key: "code" if key in flagged else None for key in labels}
    assert set(labels.values()) == {"code", None}


def test_other_plans_have_nothing_of_it(tmp_path: Path) -> None:
    result = run(write(tmp_path, LENGTH))
    assert not (tmp_path / "out" / "matches").exists() and "test_sets" not in result.summary
    assert list(rows(tmp_path / "out", "kept")[0]["cleanpipe"])[-1] == "language"
    assert result.matches.schema == MATCHES and len(result.matches) == 0


def in_memory(folder: Path, texts: list[str], action: Any, **more: Any) -> Any:
    write(folder)
    sets = {name: str(folder / f"{name}.json") for name in SETS}
    return Pipeline.from_dict(
        {"stages": [{"finds": {"sets": sets, "action": action}}], **more}
    ).run(texts)


def test_ids_of_data_in_memory_are_positions(tmp_path: Path) -> None:
    result = in_memory(tmp_path, ["nothing", f"so: {SETS['gsm']['a1']}", ""], "drop")
    assert result.matches.column("id").to_pylist() == [1]
    assert result.matches.column("stage").to_pylist() == ["finds"]
    assert result.dropped.column("id").to_pylist() == [1]


def test_explain(finished: Path, clean: Cli) -> None:
    """Every document with matches agrees; each action shows the item beside the text judged."""
    seen = set()
    for row in {(row["file"], row["row"]): row for row in expected()}.values():
        made = explain(str(finished / "out"), f"{row['file']}:{row['row']}")
        assert made.agrees, made.differences
        assert [match.row for match in made.matches] == [
            each for each in expected() if (each["file"], each["row"]) == (row["file"], row["row"])
        ]
        said = str(made)
        for match in made.matches:
            data = match.text.encode()[match.row["match_start"] : match.row["match_end"]]
            assert data.decode() == match.row["match"] == match.item_text
            assert (
                f"{match.row['stage']} ({match.row['action']}): item {match.row['test_item']} of "
                f"{match.row['test_set']} ({match.row['evidence']}), score 1, found from 0.5, "
                f"bytes {match.row['match_start']}-{match.row['match_end']}"
            ) in said
            seen.add((match.row["action"], made.drop is None))
        if made.drop is not None and made.drop.stage == "finds.drop":
            start = "dropped by finds.drop: score 0.93 (must be < 0.6) for item "
            assert made.verdict.startswith(f"{start}{made.drop.test_item} of gsm (answer); found")
    assert {("flag", True), ("cut", True), ("drop", False)} <= seen


@pytest.mark.parametrize(
    ("action", "item", "lines"),
    [
        (
            "drop",
            ("gsm", "q1"),
            ["  this      é ⟦How many eggs has Ann⟧ ?", "  item      ⟦How many eggs has Ann⟧ ?"],
        ),
        (
            "cut",
            ("数学", "q"),
            ["  this      é ⟦苹果一共有多少个⟧ ?", "  item      ⟦苹果一共有多少个⟧ ?"],
        ),
        (
            "flag",
            ("code", "f"),
            ["  this      é ⟦return n * fact(n - 1⟧ )", "  item      ⟦return n * fact(n - 1⟧ )"],
        ),
    ],
)
def test_both_texts_aligned(
    tmp_path: Path, action: str, item: tuple[str, str], lines: list[str]
) -> None:
    text = f"{'long ' * 50}{'é' * 60} {SETS[item[0]][item[1]]}"
    made = in_memory(tmp_path, [text], action).explain(0)
    said = str(made).split("\n")
    assert made.agrees and "  test items found" in said
    (this,) = [line for line in said if line.startswith("  this")]
    assert this.replace("é" * 49, "é") == lines[0] and lines[1] in said


def test_matches_are_compared_with_those_stored(finished: Path, tmp_path: Path) -> None:
    row = next(row for row in expected() if row["action"] == "flag")
    for path in (finished / "out" / "matches").iterdir():
        table = pq.read_table(path)
        if row["id"] in table.column("id").to_pylist():
            break
    before = path.read_bytes()
    scores = pa.array([0.75] * len(table), pa.float64())
    pq.write_table(table.set_column(table.schema.names.index("score"), "score", scores), path)
    try:
        made = explain(str(finished / "out"), row["id"])
    finally:
        path.write_bytes(before)
    (said,) = made.differences
    assert f"test items found were {row['test_item']} of code (answer, score 0.75, byte" in said
    assert f"now {row['test_item']} of code (answer, score 1.0, byte" in said


@pytest.mark.parametrize("runner", ["inline", "ray"])
def test_format_none_writes_all_but_the_kept(
    tmp_path: Path, finished: Path, runner: str, clean: Cli
) -> None:
    """All else has the bytes it has beside kept documents, under either runner."""
    path = write(tmp_path, output={"path": "out", "format": "none"}, shard_bytes="1KB")
    result = run(path, runner=runner)
    out = tmp_path / "out"
    assert not (out / "kept").exists()
    folders = ["dropped", "dead", "measures", "edits", "matches", "index"]
    assert content(out, folders) == content(finished / "out", folders)
    assert {**summary(out), "plan": None} == {**summary(finished / "out"), "plan": None}
    counts = result.summary["documents"]
    assert counts["in"] == counts["kept"] + counts["dropped"] + counts["dead"]
    assert sum(result.measures.column("kept").to_pylist()) == counts["kept"] > 0
    with pytest.raises(RunError, match="output.format is none: run the pipeline with format"):
        result.kept  # noqa: B018
    assert "is complete: nothing to do" in clean("run", path).err
    assert explain(str(out), "d3").agrees
    assert 'output: {"format": "none"' in plan_text(Pipeline.from_yaml(path).plan, None)


def test_against_a_run_of_format_none(tmp_path: Path) -> None:
    stages: list[Any] = [{"exact": {}}, {"minhash": {"verify": "signature", "num_perm": 256}}]
    (tmp_path / "old").mkdir()
    old = write(tmp_path / "old", stages, output={"path": "out", "format": "none"})
    kept = run(old).summary["documents"]["kept"]
    against = [str(tmp_path / "old" / "out")]
    for stage in stages:
        ((kind, parameters),) = stage.items()
        new = write(tmp_path, [{kind: {**parameters, "against": against}}])
        counts = run(new, tmp_path / kind).summary["documents"]
        assert counts["dropped"] > counts["in"] * 0.95 > kept * 0.5 > 0, kind
    texts = {"minhash": {"num_perm": 256, "against": against}}
    with pytest.raises(ConfigError, match="no kept/, for its output.format is none.*signature"):
        Pipeline.from_yaml(write(tmp_path, [texts]))


def test_the_table_at_the_end(finished: Path, tmp_path: Path, clean: Cli) -> None:
    said = clean("run", finished / "pipeline.yaml").out
    (head,) = [line for line in said.split("\n") if line.startswith("test set")]
    assert head.split() == ["test", "set", "items", "found", "documents", "too", "short"]
    for each in summary(finished / "out")["test_sets"]:
        (line,) = [x for x in said.split("\n") if x.startswith(f"{each['stage']}: {each['name']}")]
        numbers = (each["items"], each["found"], each["documents"], each["too_short"]["number"])
        assert line.split()[2:] == [str(number) for number in numbers]
    assert "test set" not in clean("run", write(tmp_path, LENGTH)).out


def test_members_that_bear_the_name_of_their_set(tmp_path: Path) -> None:
    one = {"finds": {"sets": {"gsm": "gsm.json"}, "action": "drop"}}
    renamed = {"finds": {"sets": {"code": "code.json"}, "action": "flag"}, "name": "mine"}
    plan = Pipeline.from_yaml(write(tmp_path, [FINDS, {**one, "name": "other"}, renamed])).plan
    assert [(stage["name"], stage["kind"]) for stage in plan.described["stages"]] == [
        *((f"finds.{action}", "finds") for action in MEMBERS),
        ("other", "finds"),
        ("mine", "finds"),
    ]
    assert plan.described["stages"][3]["parameters"]["sets"] == {"gsm": "gsm.json"}
    assert list(plan.resources) == ["code.json", "数学.json", "gsm.json"]
    assert "  other  [finds, filter, version 1]" in plan_text(plan, None)
    page = reference.page("finds")
    assert page.startswith("finds: a named set") and "action: required" in page
    assert "its rules" not in page  # they depend on what is given


def test_faults_of_members_have_places(tmp_path: Path) -> None:
    path = write(tmp_path)
    path.write_text(
        """\
sources: {web: {paths: "*.jsonl"}}
stages:
  - finds:
      sets:
        gsm: gsm.json
        gone: lost.json
      action: {gsm: drop, gone: cut}
  - rule: {measure: finds.cut.found, max: 0}
  - finds: {sets: {gsm: gsm.json}, action: burn}
    name: broken
  - length: {tokens: [1, null]}
    when: {test_set: gsm}
""",
        encoding="utf-8",
    )
    with pytest.raises(ConfigError) as caught:
        Pipeline.from_yaml(path)
    assert [(f.line, f.path, f.message.split(": ")[-1][:22]) for f in caught.value.faults] == [
        (6, "stages[0].finds.sets.gone", "No such file or direct"),
        (9, "stages[2].finds.action", caught.value.faults[1].message[:22]),
    ]


@pytest.mark.parametrize("cuts", [(), (1,), (30, 31, 60), tuple(range(1, 100))])
def test_counts_add_up(cuts: tuple[int, ...]) -> None:
    """However the documents are divided; by way of JSON, as commit records are."""
    table = pa.Table.from_pylist(expected(), MATCHES)
    keys = [(row["file"], row["row"]) for row in expected()]
    borders = [0, *(cut for cut in cuts if cut < len(keys)), len(keys)]
    whole, merged = Leaks(), Leaks()
    whole.add(table)
    for start, end in zip(borders, borders[1:], strict=False):
        while 0 < start < len(keys) and keys[start] == keys[start - 1]:
            start -= 1  # a document is never divided
        while 0 < end < len(keys) and keys[end] == keys[end - 1]:
            end -= 1
        part = Leaks()
        part.add(table.slice(start, max(0, end - start)))
        merged.add_json(json.loads(json.dumps(part.to_json())))
    assert merged.to_json() == whole.to_json() and len(whole.items) == 4


@pytest.mark.parametrize("member", [FindsDrop, FindsFlag, FindsCut])
def test_the_contract_of_matches_can_be_kept(tmp_path: Path, member: type[FindsDrop]) -> None:
    """What is asked of every registered stage holds for the toys."""
    write(tmp_path)
    stage = member({name: LocalPath(str(tmp_path / f"{name}.json")) for name in SETS})
    units = Units(pa.array([row["text"] for row in documents()], pa.large_string()))
    measures = {"found": stage.counted(units)}
    check_matches(stage, units, measures)
    with pytest.raises(AssertionError):
        check_matches(stage, units, {"found": measures["found"] + 1})
