"""Runs against earlier ones: the survivors of one joint run, and what is refused."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from cleanpipe import ChangedError, ConfigError, Pipeline, Result
from cleanpipe import run as engine
from cleanpipe.barrier import pairs

from ..jobs import content, jsonl, pipeline, rows, run

EXACT: tuple[str, Any] = ("exact", {})
MINHASH: tuple[str, Any] = ("minhash", {})
LOW = {"threshold": 0.7}
WORDS = ["river", "stone", "market", "letter", "window", "garden", "engine", "silver"]


def edited(text: str, random: random.Random) -> str:
    """The text with up to a twentieth of its words replaced."""
    words = text.split(" ")
    for _ in range(random.randint(0, max(len(words) // 20, 1))):
        words[random.randrange(len(words))] = random.choice(WORDS)
    return " ".join(words)


def snapshots(documents: Sequence[Mapping[str, Any]]) -> list[list[dict[str, Any]]]:
    """Three crawls of pages that change a little, appear, vanish and are found twice."""
    chance = random.Random(4)
    pages = [str(row["text"])[:3000] for row in documents]
    found: list[list[dict[str, Any]]] = []
    for crawl in range(3):
        texts = [
            page if chance.random() < 0.4 else edited(page, chance)
            for page in pages
            if chance.random() < 0.5
        ]
        texts += [edited(text, chance) for text in chance.sample(texts, 40)] + ["", "the end"]
        chance.shuffle(texts)
        rows = [{"id": f"{crawl}/{n}", "text": t, "rank": n % 7} for n, t in enumerate(texts)]
        found.append(rows)
    return found


@pytest.fixture(scope="module")
def crawls(tmp_path_factory: pytest.TempPathFactory, documents: list[dict[str, Any]]) -> Path:
    """A folder with ``s1.jsonl`` to ``s3.jsonl``."""
    folder = tmp_path_factory.mktemp("crawls")
    for number, crawl in enumerate(snapshots(documents), 1):
        jsonl(folder / f"s{number}.jsonl", crawl)
    return folder


def cleaned(
    folder: Path,
    names: Sequence[str],
    stages: Sequence[tuple[str, Mapping[str, Any]]],
    against: Sequence[str] = (),
    output: str | None = None,
    format: str = "parquet",
    **more: Any,
) -> Path:
    """Run crawls together, against earlier runs; the output folder, named like the last."""
    out = folder / (output or names[-1])
    # Paths in the plan's own form, so that nothing depends on where the folder lies.
    path = pipeline(
        folder,
        {name: {"paths": f"{name}.jsonl"} for name in names},
        [{kind: {**given, **({"against": against} if against else {})}} for kind, given in stages],
        shard_bytes="60KB",
        output={"format": format},
    )
    run(path, out, **more)
    return out


def fates(*outputs: Path) -> dict[tuple[str, int], Any]:
    """By key: the survivor of each dropped document, None of a kept one."""
    found: dict[tuple[str, int], Any] = {}
    for output in outputs:
        for row in Result(str(output)).kept.column("cleanpipe").to_pylist():
            found[row["file"], row["row"]] = None
        for row in rows(output, "dropped"):
            found[row["file"], row["row"]] = {
                name: row[name]
                for name in ("stage", "measure", "similarity")
                + ("survivor_id", "survivor_file", "survivor_row")
            }
    return found


@pytest.mark.parametrize(
    ("stages", "format", "runner"),
    [
        ([EXACT, MINHASH], "parquet", "inline"),
        ([MINHASH, EXACT], "jsonl", "ray"),
        ([("minhash", {"verify": "signature"})], "parquet", "inline"),
        ([("minhash", LOW)], "parquet", "inline"),
        ([EXACT], "jsonl", "inline"),
    ],
)
def test_one_joint_run_has_the_same_survivors(
    crawls: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    stages: list[Any],
    format: str,
    runner: str,
) -> None:
    folder = tmp_path / "work"
    shutil.copytree(crawls, folder, ignore=shutil.ignore_patterns("[!s]*"))
    monkeypatch.setattr(engine, "PARTITION_BYTES", 2**17)
    if dict(stages).get("minhash") == LOW:
        # The first 16 of a bucket are others where dropped documents of earlier runs are not
        # there: with low thresholds another survivor of several may be named.
        monkeypatch.setattr(pairs, "COMPARED", 1000)
    joint = cleaned(folder, ["s1", "s2", "s3"], stages, output="joint")
    more: dict[str, Any] = {"runner": runner, **({"workers": 2} if runner == "ray" else {})}
    one = cleaned(folder, ["s1"], stages, format=format, **more)
    two = cleaned(folder, ["s2"], stages, ["s1"], format=format, **more)
    before = [every_file(one), every_file(two)]
    three = cleaned(folder, ["s3"], stages, ["s1", "s2"], format=format, **more)
    assert [every_file(one), every_file(two)] == before

    expected = fates(joint)
    assert fates(one, two, three) == expected
    runs = [row["survivor_run"] for row in rows(three, "dropped")]
    files = [row["survivor_file"] for row in rows(three, "dropped")]
    assert set(zip(files, runs, strict=True)) == {
        ("s1.jsonl", "s1"),
        ("s2.jsonl", "s2"),
        ("s3.jsonl", None),
    }
    assert min(runs.count(name) for name in ("s1", "s2", None)) > 2
    assert all(None in (row["survivor_run"], "s1") for row in rows(one, "dropped"))
    # Its own index has its own survivors alone, so the next run lists all.
    for kind, _ in stages:
        assert {row["file"] for row in rows(three / "index", kind)} == {"s3.jsonl"}
    # Other runners, partitions and batches give the same bytes.
    monkeypatch.setattr(engine, "PARTITION_BYTES", 2**28)
    more = {"output": "again", "format": format}
    again = cleaned(folder, ["s3"], stages, ["s1", "s2"], **more)
    assert content(again) == content(three)
    clusters = json.loads((again / "summary.json").read_text())["clusters"]
    assert {cluster["survivor"].get("run") for cluster in clusters} >= {"s1"}


def every_file(output: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(path.relative_to(output)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in output.rglob("*")
        if path.is_file()
    }


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory, crawls: Path) -> Path:
    """A folder with the crawls, and ``s1``, the output of the first."""
    folder = tmp_path_factory.mktemp("old") / "work"
    shutil.copytree(crawls, folder, ignore=shutil.ignore_patterns("[!s]*"))
    cleaned(folder, ["s1"], [EXACT, MINHASH])
    return folder


def test_they_come_first_whatever_is_preferred(old: Path) -> None:
    prefer = {"prefer": [{"column.rank": "highest"}, "longest"]}
    out = cleaned(old, ["s2"], [("minhash", prefer), EXACT], ["s1"], output="preferred")
    plain = cleaned(old, ["s2"], [MINHASH, EXACT], ["s1"], output="plain")
    first, second = (
        {row["id"] for row in rows(each, "dropped") if row["survivor_run"]} for each in (out, plain)
    )
    assert first == second
    assert len(first) > 10


def test_explain_shows_the_earlier_text(old: Path) -> None:
    out = cleaned(old, ["s2"], [MINHASH, EXACT], ["s1"], output="explained")
    row = next(r for r in rows(out, "dropped") if r["survivor_run"] and r["similarity"] < 1)
    text = {r["id"]: r["text"] for r in rows(old / "s1", "kept")}[row["survivor_id"]]
    shown = Result(str(out)).explain(row["id"])
    assert shown.survivor_text == text
    assert "which is kept in s1" in str(shown.verdict)


def test_every_fault_at_once_and_before_any_shard(old: Path) -> None:
    unfinished = old / "unfinished"
    shutil.copytree(old / "s1", unfinished)
    (unfinished / "summary.json").unlink()
    damaged = old / "damaged"
    shutil.copytree(old / "s1", damaged)
    next((damaged / "index" / "minhash").iterdir()).unlink()
    textless = old / "textless"
    shutil.copytree(old / "s1", textless)
    shutil.rmtree(textless / "kept")
    names = ["s1", "nowhere", "unfinished", "damaged", "textless", "s1", "s2.jsonl"]
    other = {"seed": 2, "num_perm": 64, "ngram": {"default": 5, "zh": 9}, "threshold": 0.9}
    stages: list[Any] = [
        {"language": {"keep": ["en"], "min_score": 0.4}},
        {"minhash": {**other, "against": names}},
        {"exact": {"against": ["textless", "gone"]}},
    ]
    path = pipeline(old, {"s2": {"paths": "s2.jsonl"}}, stages)
    with pytest.raises(ConfigError) as raised:
        Pipeline.from_yaml(path)
    found = {fault.path: fault.message for fault in raised.value.faults}
    place = "stages[1].minhash.against"
    different = (
        "its survivors cannot be compared: ngram was {'default': 5}, now {'default': 5, 'zh': 9}; "
        "num_perm was 128, now 64; seed was 1, now 2"
    )
    assert found == {
        f"{place}[0]": f"s1: {different}",
        f"{place}[1]": "nowhere: expected the output folder of a run",
        f"{place}[2]": "unfinished: its run is not complete: the same command resumes it",
        f"{place}[3]": f"damaged: {different}",
        f"{place}[4]": f"textless: {different}",
        f"{place}[5]": "s1: it stands in the list twice",
        f"{place}[6]": "s2.jsonl: expected the output folder of a run",
        "stages[2].exact.against[1]": "gone: expected the output folder of a run",
    }
    stages = [{"minhash": {"against": ["damaged", "textless"]}}, {"minhash": None, "name": "b"}]
    path = pipeline(old, {"s2": {"paths": "s2.jsonl"}}, stages)
    with pytest.raises(ConfigError) as raised:
        Pipeline.from_yaml(path)
    messages = [fault.message for fault in raised.value.faults]
    assert "is missing" in messages[0] and "index/minhash/part-" in messages[0]
    assert "is missing" in messages[1] and "verify: signature" in messages[1]


def test_other_tables_are_refused(old: Path) -> None:
    other = old / "tables"
    shutil.copytree(old / "s1", other)
    saved = json.loads((other / "_run/plan.json").read_text())
    saved["plan"]["text"]["tokens"] = -1
    (other / "_run/plan.json").write_text(json.dumps(saved))
    with pytest.raises(ConfigError, match="version of tokens was -1, now") as raised:
        cleaned(old, ["s2"], [MINHASH, EXACT], ["tables"], output="refused")
    assert len(raised.value.faults) == 1  # texts that are equal are equal by any table
    assert not (old / "refused").exists()


def test_behind_a_url(old: Path) -> None:
    path = old / "pipeline.yaml"
    cleaned(old, ["s1"], [MINHASH], output="plain-one")
    Pipeline.from_yaml(path).run(output="memory://crawls/s1", runner="inline")
    outputs = [
        cleaned(old, ["s2"], [MINHASH], [folder], output=name)
        for folder, name in (("memory://crawls/s1", "of-url"), ("plain-one", "of-path"))
    ]
    one, other = (rows(output, "dropped") for output in outputs)
    assert [{**row, "survivor_run": row["survivor_run"] and "plain-one"} for row in one] == other
    assert {row["survivor_run"] for row in one} == {None, "memory://crawls/s1"}


def test_which_stage_is_meant(old: Path) -> None:
    several = old / "several"
    shutil.copytree(old / "s1", several)
    saved = json.loads((several / "_run/plan.json").read_text())
    stages = saved["plan"]["stages"]
    stages.append({**stages[-1], "name": "loose"})
    (several / "_run/plan.json").write_text(json.dumps(saved))
    (several / "index" / "loose").symlink_to(several / "index" / "minhash")
    entry = {"minhash": {"against": "several"}}
    for name, message in (("other", "one of minhash, loose"), ("loose", None)):
        path = pipeline(old, {"s2": {"paths": "s2.jsonl"}}, [{**entry, "name": name}])
        if message is None:
            assert Pipeline.from_yaml(path).plan.earlier[0].indexes == {"loose": "loose"}
        else:
            with pytest.raises(ConfigError, match=message):
                Pipeline.from_yaml(path)
    with pytest.raises(ConfigError, match="its run has no stage minhash"):
        cleaned(old, ["s1"], [EXACT], output="exact-alone")
        cleaned(old, ["s2"], [MINHASH], ["exact-alone"], output="refused")


def test_a_changed_earlier_run_is_not_resumed_on(old: Path) -> None:
    shutil.copytree(old / "s1", old / "changing")
    out = cleaned(old, ["s2"], [EXACT], ["changing"], output="resumed")
    (out / "summary.json").unlink()
    cleaned(old, ["s2"], [EXACT], ["changing"], output="resumed")
    (out / "summary.json").unlink()
    part = next((old / "changing" / "index" / "exact").iterdir())
    part.write_bytes(part.read_bytes() + b"x")
    with pytest.raises(ChangedError, match=r"resources\.changing"):
        cleaned(old, ["s2"], [EXACT], ["changing"], output="resumed")


def test_kept_texts_that_have_changed_since(old: Path) -> None:
    copy = old / "emptied"
    shutil.copytree(old / "s1", copy)
    files = sorted((copy / "kept").iterdir())
    for file in files[1:]:
        shutil.copy(files[0], file)
    with pytest.raises(ConfigError, match=r"emptied: kept/ is not what .* verify: signature"):
        cleaned(old, ["s2"], [MINHASH], ["emptied"], output="emptied-out")


def test_not_against_itself(old: Path) -> None:
    shutil.copytree(old / "s1", old / "itself")
    with pytest.raises(ConfigError, match="must not read what it writes"):
        cleaned(old, ["s2"], [EXACT], ["itself"], output="itself", fresh=True)
