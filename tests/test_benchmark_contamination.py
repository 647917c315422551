"""The benchmark of contamination: disguises keep what they should, items stand where it says."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from benchmarks.contamination import planting
from benchmarks.contamination.__main__ import compare
from benchmarks.contamination.corpus import Document, batches, hosts
from benchmarks.contamination.detector import Hit, Key, ours
from benchmarks.contamination.disguises import CODE, TEXT, listed, words_replaced
from benchmarks.contamination.items import SETS, Item, read_items
from benchmarks.contamination.planting import DISGUISES, Planted, planted, sample
from benchmarks.contamination.rivals import AnyTwelveGram, ThirteenGram
from benchmarks.measuring.texts import SAMPLE
from cleanpipe import _native

ENGLISH = Item(
    "sums",
    "0",
    "en",
    'Ann’s 3 hens lay 12 eggs a day, "mostly" brown. She sells them for $1.50 each; how much is'
    " that a week?\nShe gets 12 * 1.50 = $18 a day.\nThat's 7 * 18 = $126 a week.",
    'Ann’s 3 hens lay 12 eggs a day, "mostly" brown. She sells them for $1.50 each; how much is'
    " that a week?",
    "She gets 12 * 1.50 = $18 a day.\nThat's 7 * 18 = $126 a week.",
)
CHINESE = Item(
    "算术",
    "0",
    "zh",
    "小红的iPhone盒里有 12 张碟，她说“再买”8张，又送给小明3张。请问她现在一共有多少张碟？\n17",
    "小红的iPhone盒里有 12 张碟，她说“再买”8张，又送给小明3张。请问她现在一共有多少张碟？",
    "17",
)
CHOICES = Item(
    "facts",
    "f/0",
    "en",
    "Question: Which of these keeps one's house warm in a cold winter?\n A. glass wool\n B. a thin"
    " sheet of steel\n C. paint\nAnswer:",
    "Which of these keeps one's house warm in a cold winter?",
    "glass wool",
    ("glass wool", "a thin sheet of steel", "paint"),
)
PROGRAM = Item(
    "programs",
    "0",
    "code",
    'def least(of):\n    """ The least of a list.\n    >>> least([2, 1])\n    1\n    """\n'
    + "    low = of[0]\n    for one in of:\n        if one < low:\n            low = one\n" * 3
    + "    return low\n",
    'def least(of):\n    """ The least of a list.\n    >>> least([2, 1])\n    1\n    """\n',
    "    low = of[0]\n    return low\n",
)
ITEMS = (ENGLISH, CHINESE, CHOICES, PROGRAM)

# Of prose, these add or join tokens; all others keep each token as it is.
CHANGED = {
    "punctuation: deleted in words too": {"anns", "150", "thats", "ones"},
    "markdown: numbered list": {"1", "2", "3", "4", "5"},
    "markdown: links": {"https", "example", "org", "page", "7"},
    "html: paragraphs": {"p"},
    "html: spans": {"div", "id", "content", "span", "class", "term", "hl", "style", "color", "333"},
    "html: breaks": {"br"},
    "html: entities": {"quot", "39", "nbsp"},
}


def tokens(text: str) -> list[int]:
    of: list[int] = _native.tokens(pa.array([text]))[3].tolist()
    return of


@pytest.fixture(scope="module")
def host() -> str:
    """A text of the sample, long enough for question and answer to stand far apart."""
    text = (SAMPLE / "licences" / "artistic-1.0-cl8.txt").read_text("utf-8") + "天地玄黄"
    assert _native.token_counts(pa.array([text]))[0] > 800
    return text


@pytest.mark.parametrize("name", [*TEXT])
@pytest.mark.parametrize("item", [ENGLISH, CHINESE, CHOICES], ids=lambda item: item.language)
def test_tokens_of_disguised_prose(name: str, item: Item) -> None:
    text = item.text
    for seed in range(10):
        changed = TEXT[name](text, random.Random(seed))
        assert changed == TEXT[name](text, random.Random(seed))
        if name not in CHANGED:
            assert tokens(changed) == tokens(text)
            continue
        added = {tokens(token)[0] for token in CHANGED[name]}
        if name.startswith("punctuation"):
            assert len(tokens(changed)) <= len(tokens(text))
            assert set(tokens(changed)) - set(tokens(text)) <= added
        else:
            # What is added stands between the item's own tokens, all of them in their order.
            rest = iter(tokens(changed))
            assert all(token in rest for token in tokens(text))
            assert set(tokens(changed)) - set(tokens(text)) <= added


@pytest.mark.parametrize("name", [*TEXT])
def test_every_disguise_changes_something(name: str) -> None:
    only_chinese = name == "whitespace: between characters"
    item = CHINESE if only_chinese else ENGLISH
    assert any(TEXT[name](item.text, random.Random(seed)) != item.text for seed in range(3))


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("case: title", "don't do it", "Don'T Do It"),
        ("punctuation: dropped", 'It\'s "3.14", no?', "It's 3.14 no"),
        ("punctuation: deleted in words too", 'It\'s "3.14", no?', "Its 314 no"),
        ("punctuation: doubled", "a, b.", "a,, b.."),
        ("punctuation: wide or narrow", "a, b (c)?", "a， b （c）？"),
        ("punctuation: wide or narrow", "甲，乙。", "甲,乙."),
        ("whitespace: collapsed", "a  b\n\nc", "a b c"),
        ("whitespace: doubled", "a b\nc", "a  b\n\nc"),
        ("whitespace: no-break", "a b", "a\u00a0b"),
        ("whitespace: tabs", "a b", "a\tb"),
        ("whitespace: between characters", "共有12张碟", "共 有 12张 碟"),
        ("width: full", "aZ 09!", "ａＺ ０９!"),
        ("markdown: numbered list", "a\n\nb", "1. a\n2. b"),
        ("html: paragraphs", "a\n\nb", "<p>a</p>\n\n<p>b</p>"),
        ("html: breaks", "a\nb", "a<br/>\nb"),
        ("html: entities", "“a” & b's", "&quot;a&quot; &amp; b&#39;s"),
    ],
)
def test_disguises(name: str, text: str, expected: str) -> None:
    class NoChance(random.Random):
        def random(self) -> float:
            return 0.99

    assert TEXT[name](text, NoChance(0)) == expected


def test_lines_of_40() -> None:
    for item in (ENGLISH, CHINESE):
        once = item.text.replace("\n", " ")
        wrapped = TEXT["whitespace: lines of 40"](once * 4, random.Random(1))
        assert all(20 <= len(line) <= 60 for line in wrapped.splitlines()[:-1])
        assert wrapped.count("\n") >= 4


@pytest.mark.parametrize(("item", "share"), [(ENGLISH, 0.1), (CHINESE, 0.1), (ENGLISH, 0.3)])
def test_words_of_the_host_are_put_in(item: Item, share: float) -> None:
    other = "neue Wörter stehen hier 天地玄黄宇宙洪荒"
    for seed in range(20):
        changed = words_replaced(other, share)(item.text, random.Random(seed))
        if item is ENGLISH:
            old, new = item.text.split(), changed.split()
            wordy = [word for word in old if any(map(str.isalnum, word))]
        else:
            old, new = list(item.text), list(changed)
            wordy = [letter for letter in old if "一" <= letter <= "龥"]
        assert len(old) == len(new)
        put = [b for a, b in zip(old, new, strict=True) if a != b]
        assert len(put) == round(share * len(wordy))
        assert all(one in other for one in put)
    assert words_replaced("天地玄", 0.01)("一", random.Random(1)) in "天地玄"


@pytest.mark.parametrize("name", [*CODE])
def test_programs_still_run(name: str) -> None:
    for seed in range(10):
        changed = CODE[name](PROGRAM.text, random.Random(seed))
        if name == "code: fenced":
            changed = changed.removeprefix("```python\n").removesuffix("\n```")
        space: dict[str, Any] = {}
        exec(compile(changed, name, "exec"), space)
        assert space["least"]([3, 1, 2]) == 1
        kept = tokens("\n".join(line.split("#")[0] for line in changed.splitlines()))
        assert kept == tokens(PROGRAM.text)
    texts = {CODE[name](PROGRAM.text, random.Random(seed)) for seed in range(10)}
    assert texts - {PROGRAM.text}


def test_choices_are_numbered() -> None:
    assert listed("xy", "(1) ") == "(1) x\n(2) y"
    assert listed("xy", "A) ") == "A) x\nB) y"


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: f"{item.test_set}")
@pytest.mark.parametrize("disguise", DISGUISES)
def test_planted(item: Item, disguise: str, host: str) -> None:
    for seed in range(5):
        one = planted(item, disguise, host, random.Random(seed))
        assert one == planted(item, disguise, host, random.Random(seed))
        if one is None:
            assert not applies(item, disguise)
            continue
        assert applies(item, disguise)
        # Without what was planted, and the space around it, the host is as it was.
        data, rest, at = one.text.encode(), b"", 0
        for start, end in one.spans:
            assert data[start - 1 : start] == data[end : end + 1]
            assert data[end : end + 1] in (b"\n", b" ")
            rest += data[at : start - 1]
            at = end + 1
        assert (rest + data[at:]).decode() == host
        texts = [data[start:end].decode() for start, end in one.spans]
        check_planted(one, texts, data)


def applies(item: Item, disguise: str) -> bool:
    if disguise == planting.VERBATIM:
        return True
    if disguise in CODE:
        return item is PROGRAM
    if disguise in (planting.CHOICES, planting.STEM):
        return item is CHOICES
    if disguise in (planting.QUESTION, planting.APART):
        return item is not CHOICES
    if item is PROGRAM:
        return False
    return disguise != "whitespace: between characters" or item is CHINESE


def check_planted(one: Planted, texts: list[str], data: bytes) -> None:
    item = one.item
    source = item.text
    if one.disguise in (planting.QUESTION, planting.STEM):
        source = item.question
        assert texts == [source]
    if one.disguise == planting.VERBATIM:
        assert texts == [source]
    if one.disguise == planting.CHOICES:
        assert texts[0].splitlines()[0] == item.question
        lines = texts[0].splitlines()[1:]
        assert sorted(line.split(" ", 1)[1] for line in lines) == sorted(item.choices)
    if one.disguise == planting.APART:
        assert texts == [item.question, item.answer]
        between = data[one.spans[0][1] : one.spans[1][0]].decode()
        assert len(tokens(between)) >= planting.FAR
    if one.disguise in planting.TEMPLATES:
        marks = ("问", "答") if item is CHINESE else ("Q", "A")
        assert texts[0].startswith(marks[0])
        assert f"\n{marks[1]}" in texts[0]
        assert texts[0].endswith(item.answer)
    assert one.tokens == len(tokens(source))


def test_places() -> None:
    of = planting.places("One. Two! Three\nfour?\n\n二。三")
    assert of == [
        (0, False),
        (15, False),
        (21, False),
        (26, False),
        (4, True),
        (9, True),
        (25, True),
    ]


def test_the_sample_of_a_set_depends_on_nothing_else(host: str) -> None:
    sets = {item.test_set: [item] for item in ITEMS}

    def of(names: list[str]) -> list[Planted]:
        return list(sample({name: sets[name] for name in names}, lambda _: [host, host], 2, 7))

    everything = of([*sets])
    assert of(["facts"]) == [one for one in everything if one.item.test_set == "facts"]
    assert {one.disguise for one in everything} == set(DISGUISES)


EVALS: dict[str, list[dict[str, Any]]] = {
    "HumanEval.jsonl.gz": [{"prompt": "def f():\n", "canonical_solution": "    return 1\n"}],
    "mbpp.jsonl": [{"text": "Write f.", "code": "def f():\r\n  return 1"}],
    "gsm8k_test.jsonl": [{"question": "1+1?", "answer": "2\n#### 2"}],
    "arc_challenge_test.jsonl.gz": [
        {"id": "c/7", "query": "Question: Which\none?\n A. this\n B. that\nAnswer:", "gold": 1}
    ],
    "truthfulqa_en.json": [{"id": 3, "question": "Is it?", "best_answer": "No"}],
    "mgsm_zh.jsonl": [{"id": "5", "messages": [{"content": "多少？"}], "answer": "18"}],
}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("humaneval", ("0", "def f():\n    return 1\n", "def f():\n", ())),
        ("mbpp", ("0", "Write f.\ndef f():\r\n  return 1", "Write f.", ())),
        ("gsm8k", ("0", "1+1?\n2\n#### 2", "1+1?", ())),
        (
            "arc_challenge",
            (
                "c/7",
                "Question: Which\none?\n A. this\n B. that\nAnswer:",
                "Which\none?",
                ("this", "that"),
            ),
        ),
        ("truthfulqa", ("3", "Is it?\nNo", "Is it?", ())),
        ("mgsm_zh", ("5", "多少？\n18", "多少？", ())),
    ],
)
def test_items_are_read(
    name: str, expected: tuple[str, str, str, tuple[str, ...]], tmp_path: Path
) -> None:
    (of,) = (of for of in SETS if of.name == name)
    rows = EVALS[of.file]
    data = json.dumps(rows) if of.file.endswith(".json") else "\n".join(map(json.dumps, rows))
    packed = gzip.compress(data.encode()) if of.file.endswith(".gz") else data.encode()
    (tmp_path / of.file).write_bytes(packed)
    (item,) = read_items(tmp_path, of)
    assert (item.test_item, item.text, item.question, item.choices) == expected
    assert item.answer == ("that" if item.choices else rows[0][list(rows[0])[-1]])


def words(first: int, last: int) -> str:
    return " ".join(f"W{at}" for at in range(first, last))


FIRST, SECOND = ("s", "0"), ("s", "1")


@pytest.mark.parametrize(
    ("text", "twelve", "thirteen"),
    [
        (words(0, 11), [], []),
        (words(0, 12), [FIRST], []),
        (f"x {words(0, 13)} y", [FIRST], [FIRST]),
        (words(0, 13).lower(), [FIRST], [FIRST]),
        (words(0, 13).replace("W6 ", "“W6”, "), [], [FIRST]),
        (words(0, 13).replace("W6 ", "W6 x "), [], []),
        (words(28, 41), [FIRST, SECOND], [FIRST, SECOND]),
        (words(100, 112), [], []),
        ("", [], []),
    ],
)
def test_rules(text: str, twelve: list[Key], thirteen: list[Key]) -> None:
    texts = [words(0, 50), words(25, 50), words(100, 111)]
    items = [Item("s", str(at), "en", of, of, "") for at, of in enumerate(texts)]
    assert [*AnyTwelveGram(items)([text])[0]] == twelve
    assert [*ThirteenGram(items)([text])[0]] == thirteen


@pytest.mark.parametrize(("times", "found"), [(10, True), (11, False)])
def test_what_is_common_in_the_corpus_is_ignored(times: int, found: bool) -> None:
    rule = ThirteenGram([Item("s", "0", "en", words(0, 13), "", "")])
    rule.count([f"{words(0, 13)} {words(0, 13)}"] * times)
    assert bool(rule([words(0, 13)])[0]) is found


def test_ours_is_told_of_the_files_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def contamination(texts: list[str], tests: dict[str, Any]) -> pa.Table:
        asked.append(tests)
        return pa.table(
            {
                "id": [1],
                "test_set": ["arc_easy"],
                "test_item": [7],
                "score": [0.5],
                "match": ["x"],
                "evidence": ["query"],
            }
        )

    monkeypatch.setattr("cleanpipe.contamination", contamination, raising=False)
    found = ours(SETS, Path("evals"))(["a", "b"])
    assert found == [{}, {("arc_easy", "7"): Hit("query", 0.5, "x")}]
    assert asked[0]["mgsm_zh"] == {
        "paths": "evals/mgsm_zh.jsonl",
        "fields": ["messages[0].content", "answer"],
        "id": "id",
        "tokens": "words",
    }
    assert asked[0]["mbpp"]["tokens"] == {"code": "code"}


def test_hosts_and_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.contamination.corpus.BATCH_CHARACTERS", 4)
    assert [*batches(["abc", "d", "", "efghi", "j"])] == [["abc", "d"], ["", "efghi"], ["j"]]
    of = {"web": None, "english": "en-us", "chinese": "zh-cn", "german": "de"}
    documents = [Document(name, name * 100, lang) for name, lang in of.items()]
    documents.append(Document("short", "short", "en"))
    found = hosts(documents)
    assert found["en"] == found["code"] == ["web" * 100, "english" * 100]
    assert found["zh"] == ["chinese" * 100]


def test_the_tables(host: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A judge that knows the items, one that never finds any, and one that always does."""
    sets = {item.test_set: [item] for item in ITEMS}
    documents = [Document("page", host, None, "web/a"), Document("seite", host, "zh", "zh/b")]

    def says(answer: Callable[[str], dict[Key, Hit]]) -> str:
        compare(
            lambda texts: [answer(text) for text in texts],
            sets,
            documents,
            number=1,
            one_in=1,
            seed=1,
            misses=True,
        )
        return capsys.readouterr().out

    never = says(lambda text: {})
    assert "Not found by ours" in never
    assert "width: full: sums 0, 39 tokens" in never
    found = {(item.test_set, item.test_item): Hit("question", 0.5, "x") for item in ITEMS}
    always = says(lambda text: found)
    assert "web/a page: facts f/0, question 0.500" in always
    for out, share, alarms in ((never, "0.0%", "0"), (always, "100.0%", "2")):
        rows = [line.split() for line in out.splitlines()]
        assert ["width:", "full", share, "0.0%", "0.0%", "2", share, "0.0%", "0.0%", "1"] in rows
        assert any(row[:2] == ["ours", alarms] for row in rows)
