# ruff: noqa: E501 (rows of tables)
"""What the contracts promise (cleanpipe/stage.py), tried on every registered stage.

Stages are found by themselves, and tried with the parameters of their tables in tests/filters.
Only one whose parameters name files, or whose table is of another form, is in :data:`EXAMPLES`.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pickle
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeAlias, get_args

import numpy as np
import pyarrow as pa
import pytest

from cleanpipe import registry
from cleanpipe.bounds import Bounds, Numbers
from cleanpipe.edits import apply_edits
from cleanpipe.parse import document_of, parse_spec
from cleanpipe.stage import (
    MATCHED_BY,
    Barrier,
    CorpusRewriter,
    Edits,
    Evidence,
    Filter,
    Measures,
    NamedSet,
    Repeats,
    Resource,
    Rewriter,
    Rule,
    Sketch,
    Stage,
    Unit,
)
from cleanpipe.text import segments
from cleanpipe.units import Units
from tests.filters.table import TABLES

EXAMPLES: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "blocklist": [
        {"phrases": "phrases.txt", "except": "allowed.txt"},
        {"phrases": ["*.txt"], "hits": [None, 1], "per_1000_tokens": {"below": 500}},
        {"words": ["word"], "lists": ["ldnoobw.en", "ldnoobw.zh"], "separators": True},
        {"patterns": ["[0-9]+ [0-9]+"], "table": "sites.jsonl", "min_length": 3},
    ],
    "contamination": [
        {"tests": "items.jsonl", "action": "drop"},
        {"tests": {"a": "items.jsonl", "b": "codes.jsonl"}, "action": {"a": "cut", "b": "flag"}},
    ],
    "c4": [
        {"variant": "older"},
        {"variant": "datatrove", "whitespace_words": None, "tokens": [5, None]},
        {"bad_words": "phrases.txt", "citations": None},
    ],
    "fineweb": [{"variant": "datatrove", "short_line_share": None}],
    "gopher_repetition": [
        {"variant": "datatrove"},
        {"variant": "dolma", "top_2_gram_share": None},
    ],
    "domains": [{"lists": "domains"}, {"lists": ["domains"], "except": "ok", "listed": [1, None]}],
    "gopher_quality": [{"stop_words": None, "mean_word_length": [None, 8]}],
    "language": [{"keep": ["en", "zh", "und"], "min_score": 0.4}, {"keep": {"th": 0.5}}],
    "minhash": [
        {
            "ngram": {"default": 2, "zh": 3},
            "threshold": 0.5,
            "prefer": ["longest", {"language": ["zh"]}],
        },
        {"verify": "signature"},
    ],
    "olmo2_repetition": [{"span_repeats": {"below": 3}}],
    "normalize": [
        {"unicode": "NFKC", "spaces": True},
        {"unicode": "NFD", "width": True, "line_ends": False, "mojibake": True},
    ],
    "paragraphs": [{"unit": "line", "min_tokens": 3}],
    "perplexity": [
        {"model": "tiny.arpa", "profile": "words", "bounds": [None, 50], "min_tokens": 1},
        {"model": "stated.arpa", "bounds": [5, None], "min_tokens": 2},
    ],
    "pii": [{"email": "", "ipv6": None, "keep": ["a@b.co", "c.de", "8.8.8.0/24"]}],
    "remove": [
        {"unit": unit, "failing": [{"length": {"chars": [3, 400]}}, {"symbols": symbols}]}
        for unit in ("paragraph", "line", "sentence")
        for symbols in [{"symbol_share": [None, 0.4], "upper_share": [None, 0.6]}]
    ]
    + [{"unit": "line", "failing": [{"blocklist": {"phrases": "phrases.txt"}}, "gopher_quality"]}]
    + [
        {
            "unit": unit,
            "failing": [
                {"repetition": {"against": "document", "share": [None, 0.2], "ngram": 2}},
                {"links": {"share": [None, 0.3]}},
            ],
        }
        for unit in ("paragraph", "sentence")
    ],
    "rule": [
        {"measure": "tokens", "above": 3},
        {"measure": "earlier.measure", "bounds": [0, 5]},
        {"measure": "column.year", "max": 3},
    ],
}
"""Parameters to try a kind with, as in a pipeline file; paths are those of :func:`folder`."""

TEXTS: Mapping[str, str] = {
    "empty": "",
    "blank": " \t ",
    "line breaks": "\n\n\r\n\n",
    "one token": "word",
    "one mark": "!",
    "prose": "The house is at the river. It has a red door, and we have been there with them.",
    "lines": "A first line of words.\nFUCK THIS !!! $$$ ###\n\nAnother paragraph; 12 34 56.\n- item",
    "capitals": "BUY NOW! ONLY TODAY! 100% FREE!!!",
    "combining": "e\u0301\u0301\u0301 a\u0308 \u0301",
    "right to left": "שלום עולם \u202eabc\u202c مرحبا بالعالم، كيف الحال؟",
    "emoji": "👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪🇫🇷 1️⃣",
    "NUL": "before\0after \0",
    "replaced": "\ufffd\ufffd broken \ufffd",
    "end of text": "</s>",
    "model words": "<s> word </s> <unk> __label__en",
    "Chinese": "今天天气很好，我们去公园散步。你好！性别不限。",
    "Thai": "วันนี้อากาศดีมาก เราไปเดินเล่นกันเถอะ",
    "Japanese": "今日は天気がいい。散歩に行きましょう。「はい。」",
    "Korean": "오늘은 날씨가 좋습니다.",
    "separators": "a\u2028b\u2029c\x0bd\x0ce\x85f\u3000g\u200bh",
    "byte order mark": "\ufeffword",
    "unassigned": "\U000e0001\U0010ffff\ue000\ufffe\u0378",
    "folds to more": "ﬁ ﷺ ﬀ İ ẞ ½ ① Ａｄｕｌｔ",
    "controls": "\x01\x02\x1b[31mred\x7f",
    "many marks": "." * 500,
    "one long token": "a" * 3000,
}
NAMES = list(TEXTS)
Known: TypeAlias = Mapping[str, Numbers | pa.Array]

ARPA = """\\data\\
ngram 1=6
ngram 2=1

\\1-grams:
-2.0\t<unk>
0\t<s>\t-0.25
-1.0\t</s>
-0.5\tthe\t-0.125
-0.75\tword\t-0.0625
-1.5\t.\t0

\\2-grams:
-0.25\t<s> the

\\end\\
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that :data:`EXAMPLES` names."""
    made = tmp_path_factory.mktemp("contract")
    (made / "phrases.txt").write_text("fuck\nred door\n性别\nadult\nbroken\n", encoding="utf-8")
    (made / "allowed.txt").write_text("性别不限\n", encoding="utf-8")
    table = '{"host": "www.a.com", "lines": ["word"], "phrases": ["the house"]}\n'
    (made / "sites.jsonl").write_text(table, encoding="utf-8")
    (made / "domains").write_text("a.com\n1.2.3.4/d\n", encoding="utf-8")
    (made / "ok").write_text("www.a.com/b\n", encoding="utf-8")
    (made / "tiny.arpa").write_text(ARPA, encoding="utf-8")
    (made / "stated.arpa").write_text(ARPA, encoding="utf-8")
    items = '{"q": "The house is at the river."}\n{"q": "今天天气很好", "a": "word"}\n'
    (made / "items.jsonl").write_text(items, encoding="utf-8")
    code = '{"text": "It has a red door, and"}\n'
    (made / "codes.jsonl").write_text(code, encoding="utf-8")
    (made / "stated.arpa.json").write_text('{"profile": "characters"}', encoding="utf-8")
    return made


def needs_no_parameters(kind: str) -> bool:
    return not parse_spec(document_of({"stages": [kind]}), ".").faults


def parameters_of(kind: str) -> Sequence[Mapping[str, Any]]:
    """Of EXAMPLES, else some of the kind's table, spread over it."""
    if kind in EXAMPLES:
        return EXAMPLES[kind]
    for module in sorted((Path(__file__).parents[1] / "filters").glob("test_*.py")):
        importlib.import_module(f"tests.filters.{module.stem}")
    found = TABLES.get(kind, [])
    return found[:: 1 + len(found) // 4]


def examples() -> Iterator[Any]:
    for kind in registry.stages():
        none: list[Mapping[str, Any]] = [{}] if needs_no_parameters(kind) else []
        for number, parameters in enumerate([*none, *parameters_of(kind)]):
            yield pytest.param(kind, parameters, id=f"{kind}-{number}")


@pytest.fixture(scope="module")
def members(request: pytest.FixtureRequest, folder: Path) -> list[Stage]:
    """The stages that a pipeline file with these parameters makes."""
    kind, parameters = request.param
    spec = parse_spec(document_of({"stages": [{kind: parameters}]}), str(folder))
    assert not spec.faults
    return [stage for step in spec.steps for stage in step.stages]


EXAMPLE = pytest.mark.parametrize(
    "members",
    [pytest.param(p.values, id=p.id) for p in examples()],
    indirect=True,
)
KIND = pytest.mark.parametrize("kind", list(registry.stages()))


@KIND
def test_there_is_an_example(kind: str) -> None:
    if not needs_no_parameters(kind) and not parameters_of(kind):
        pytest.fail(f'"{kind}" needs parameters: give it a table in tests/filters/test_{kind}.py')


def test_no_example_of_nothing() -> None:
    assert EXAMPLES.keys() <= registry.stages().keys()


@KIND
def test_what_a_kind_says_of_itself(kind: str) -> None:
    cls = registry.stages()[kind]
    assert re.fullmatch(r"[a-z][a-z0-9_]*", kind)
    assert isinstance(cls.version, int) and cls.version >= 1
    assert dataclasses.is_dataclass(cls)
    with pytest.raises(dataclasses.FrozenInstanceError):
        object.__new__(cls).anything = 1
    doc = (
        inspect.getdoc(cls)
        if cls.__doc__ and not cls.__doc__.startswith(f"{cls.__name__}(")
        else ""
    )
    assert doc, f"{cls.__name__} has no docstring"
    assert doc.split("\n")[0].endswith("."), "the first line is the summary: one sentence"
    shared = {field.name for base in (Filter, NamedSet) for field in dataclasses.fields(base)}
    names = [field.name for field in dataclasses.fields(cls) if field.name not in shared]
    missing = [name for name in names if not re.search(rf"\b{name}\b", doc)]
    assert not missing, f"the docstring of {cls.__name__} says nothing of {', '.join(missing)}"
    assert set(cls.aliases.values()) <= set(names)
    assert not cls.aliases.keys() & set(names)
    families = [base for base in (Filter, Rewriter, Barrier, NamedSet) if issubclass(cls, base)]
    assert len(families) == 1
    if issubclass(cls, Filter):
        assert isinstance(cls.labels, tuple)


@EXAMPLE
def test_members(members: list[Stage], folder: Path) -> None:
    assert members, "nothing is tried"
    for stage in members:
        assert all(isinstance(resource, Resource) for resource in stage.resources())
        assert all(Path(resource.path).is_file() for resource in stage.resources())
        assert not list(stage.check())
        if isinstance(stage, (Filter, Rewriter)):
            rules, takes = stage.rules(), stage.takes()
            assert all(isinstance(rule, Rule) for rule in rules)
            assert len({rule.name for rule in rules}) == len(rules)
            assert len(set(takes)) == len(takes)
            assert not any("." in name for name in takes), "the stage's name is put before it"
        if isinstance(stage, Filter):
            assert set(stage.label_values()) <= set(stage.labels) & set(stage.takes())
            wanted = {rule.measure for rule in stage.rules()}
            assert wanted <= {*stage.takes(), *stage.needs()}


# Trying them


def large(texts: Sequence[str | None]) -> pa.Array:
    return pa.array(texts, pa.large_string())


def known_of(stage: Stage, size: int) -> Known:
    """Something for whatever it needs of earlier stages, and the address."""
    languages = large([("en", "zh", "und")[place % 3] for place in range(size)])
    numbers = np.array([np.nan if place % 5 == 4 else place % 7 for place in range(size)])
    urls = large(
        [(None, "http://www.a.com/b", "c.com", "//1.2.3.4/d?e")[n % 4] for n in range(size)]
    )
    labels = {"language": languages, "url": urls}
    return {name: labels.get(name.rpartition(".")[2], numbers) for name in stage.needs()}


def units_of(stage: Stage, texts: Sequence[str]) -> Units:
    return Units(large(texts), known_of(stage, len(texts)))


def picked(value: Any, rows: Sequence[int]) -> Any:
    index = np.array(rows, np.int64)
    return (
        value[index] if isinstance(value, np.ndarray) else value.take(pa.array(index, pa.int64()))
    )


def plain(value: Any) -> Any:
    """Something ``==`` can compare: NaN is None."""
    if isinstance(value, np.ndarray):
        return [None if number != number else number for number in value.tolist()]
    if isinstance(value, (pa.Array, pa.ChunkedArray, pa.Table)):
        return value.to_pylist()
    if isinstance(value, Mapping):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, (Edits, Sketch)):
        return plain(vars(value))
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    return value


def outcome(stage: Stage, units: Units) -> Any:
    """All that a stage makes of units, comparable."""
    if isinstance(stage, Filter):
        measures = stage.measure(units)
        codes = stage.judge(measures)
        rejected = np.flatnonzero(codes)
        theirs = {name: picked(value, rejected.tolist()) for name, value in measures.items()}
        evidence = (
            list(stage.evidence(units.take(rejected), codes[rejected], theirs))
            if len(rejected)
            else []
        )
        taken = {name: measures[name] for name in stage.takes()}
        return plain((taken, codes)), evidence
    if isinstance(stage, CorpusRewriter):
        return plain(stage.rewrite(units, all_repeat(stage, units)))
    if isinstance(stage, Rewriter):
        return plain(stage.rewrite(units))
    assert isinstance(stage, Barrier)
    return plain(stage.sketch(units))


def all_repeat(stage: CorpusRewriter, units: Units) -> Repeats:
    """Every passage occurred before; which occurrence it is says its hash."""
    sketch = stage.sketch(units)
    unit, start, number = (sketch[name].to_numpy() for name in ("unit", "start", "hash"))
    return Repeats(unit, start, (number % 1000 + 2).astype(np.int64))


def each(members: list[Stage], check: Callable[[Stage, Sequence[str], Known], None]) -> None:
    """Try every member on the texts as whole documents and as each kind of unit."""
    whole = list(TEXTS.values())
    for stage in members:
        for unit in get_args(Unit):
            if isinstance(stage, (Rewriter, Barrier)) and unit != "document":
                continue  # these are for documents alone
            texts = whole if unit == "document" else segments(large(whole), unit).texts.to_pylist()
            check(stage, texts, known_of(stage, len(texts)))


@EXAMPLE
def test_shapes_and_types(members: list[Stage]) -> None:
    def check(stage: Stage, texts: Sequence[str], known: Known) -> None:
        units = Units(large(texts), known)
        if isinstance(stage, Filter):
            check_filter(stage, units)
        elif isinstance(stage, Rewriter):
            check_rewriter(stage, units)
        elif isinstance(stage, Barrier):
            check_barrier(stage, units)

    each(members, check)
    for stage in members:
        check(stage, [], known_of(stage, 0))


def check_filter(stage: Filter, units: Units) -> None:
    measures = stage.measure(units)
    rules = stage.rules()
    check_measures(measures, stage.takes(), stage.labels, len(units))
    check_matches(stage, units, measures)
    if not rules:
        return
    failures = stage.failures(measures)
    codes = stage.judge(measures)
    assert codes.dtype == np.uint16 and codes.shape == (len(units),)
    assert len(failures) == len(rules)
    for place, code in enumerate(codes.tolist()):
        assert 0 <= code <= len(rules)
        failed = [number for number, flags in enumerate(failures, 1) if flags[place]]
        assert code == (failed[0] if failed else 0), "the first failing rule is the reason"
        if code and isinstance(rules[code - 1].bounds, Bounds):
            assert rules[code - 1].broken_by(float(measures[rules[code - 1].measure][place]))
    rejected = np.flatnonzero(codes)
    if not len(rejected):
        return
    theirs = {name: picked(value, rejected.tolist()) for name, value in measures.items()}
    some = units.take(rejected)
    evidence = stage.evidence(some, codes[rejected], theirs)
    assert len(evidence) == len(rejected)
    for text, shown in zip(some.strings, evidence, strict=True):
        if shown is None:
            continue
        assert isinstance(shown.match, str)
        assert (shown.start is None) == (shown.end is None)
        if shown.start is not None and shown.end is not None:
            data = text.encode()
            assert 0 <= shown.start <= shown.end <= len(data)
            assert data[shown.start : shown.end].decode() == shown.match


def check_measures(
    measures: Measures, takes: Sequence[str], labels: Sequence[str], size: int
) -> None:
    assert set(takes) <= measures.keys()
    for name in takes:
        value = measures[name]
        assert len(value) == size
        if name in labels:
            assert value.type == pa.large_string()  # type: ignore[union-attr]
        else:
            assert isinstance(value, np.ndarray)
            assert value.dtype == np.float64 and value.shape == (size,)
            assert not np.isinf(value).any(), name


def check_matches(stage: Stage, units: Units, measures: Measures) -> None:
    if stage.matched is None:
        return
    value = measures[stage.matched]
    assert isinstance(value, np.ndarray)
    those = np.flatnonzero(value > 0)
    if not len(those):
        return
    some = units.take(those)
    found = stage.matches(some)
    assert found.schema.names == ["unit", *MATCHED_BY.names]
    places = found["unit"].to_pylist()
    assert places == sorted(places) and set(places) == set(range(len(some)))
    actions = {info.name: info.action for info in stage.test_sets()}
    for row in found.to_pylist():
        assert actions[row["test_set"]] == row["action"]
        data = some.strings[row["unit"]].encode()
        assert data[row["match_start"] : row["match_end"]].decode() == row["match"]


def check_rewriter(stage: Rewriter, units: Units) -> None:
    check_edits(stage, units, *stage.rewrite(units))
    check_matches(stage, units, stage.rewrite(units)[1])
    if isinstance(stage, CorpusRewriter):
        check_corpus_rewriter(stage, units)


def check_corpus_rewriter(stage: CorpusRewriter, units: Units) -> None:
    sketch = stage.sketch(units)
    kinds = {"unit": pa.int64(), "start": pa.int64(), "hash": pa.uint64()}
    assert {field.name: field.type for field in sketch.schema} == kinds
    assert not any(column.null_count for column in sketch.columns)
    places = [(row["unit"], row["start"]) for row in sketch.to_pylist()]
    assert places == sorted(set(places))
    texts = [text.encode() for text in units.strings]
    for unit, start in places:
        assert 0 <= start < len(texts[unit])
        texts[unit][:start].decode()  # at a character border
    assert not len(stage.rewrite(units)[0]), "nothing repeats where nothing is known"
    # Each passage may be told of alone, and has its edit then, with the occurrence.
    repeats = all_repeat(stage, units)
    for chosen in (slice(None), slice(0, None, 2), slice(1, None, 2), slice(0, 0)):
        told = Repeats(repeats.unit[chosen], repeats.start[chosen], repeats.occurrence[chosen])
        edits, measures = stage.rewrite(units, told)
        check_edits(stage, units, edits, measures)
        assert edits.unit.tolist() == told.unit.tolist()
        assert edits.value.tolist() == told.occurrence.tolist()
        rows = zip(edits.unit.tolist(), edits.start.tolist(), edits.end.tolist(), strict=True)
        covered = [
            [place for place in places if place[0] == unit and start <= place[1] < end]
            for unit, start, end in rows
        ]
        assert covered == [
            [place] for place in zip(told.unit.tolist(), told.start.tolist(), strict=True)
        ]


def check_edits(stage: Rewriter, units: Units, edits: Edits, measures: Measures) -> None:
    check_measures(measures, stage.takes(), (), len(units))
    assert all(np.asarray(part).dtype == np.int64 for part in (edits.unit, edits.start, edits.end))
    assert edits.rule.dtype == np.uint16 and edits.value.dtype == np.float64
    parts = (edits.start, edits.end, edits.rule, edits.value)
    assert all(part.shape == (len(edits),) for part in parts)
    assert edits.replacement is None or len(edits.replacement) == len(edits)
    assert ((edits.rule >= 1) & (edits.rule <= len(stage.rules()))).all()
    last = (-1, 0)
    texts = [text.encode() for text in units.strings]
    rows = zip(edits.unit.tolist(), edits.start.tolist(), edits.end.tolist(), strict=True)
    for unit, start, end in rows:
        assert 0 <= unit < len(units)
        assert (unit, start) >= last, "sorted, not overlapping"
        assert 0 <= start <= end <= len(texts[unit])
        texts[unit][:start].decode(), texts[unit][start:end].decode()  # at character borders
        last = (unit, end)
    changed, new = apply_edits(units.text, edits)
    assert changed.tolist() == sorted(set(edits.unit.tolist()))
    for unit, text in zip(changed.tolist(), new, strict=True):
        assert text != units.strings[unit] or edits.replacement is not None


def check_barrier(stage: Barrier, units: Units) -> None:
    sketch = stage.sketch(units)
    assert sketch.documents.schema.names == ["unit", *stage.payload.names]
    for column in stage.payload:
        assert sketch.documents.schema.field(column.name).type == column.type
    assert not set(stage.payload.names) & {"file", "row", "id", "number", "document"}
    documents = sketch.documents["unit"].to_pylist()
    assert documents == sorted(set(documents))
    assert set(documents) <= set(range(len(units)))
    kinds = {"unit": pa.int64(), "bucket": pa.uint64(), "fingerprint": pa.uint64()}
    kinds["compare"] = pa.bool_()
    assert {field.name: field.type for field in sketch.buckets.schema} == kinds
    assert not any(column.null_count for column in sketch.buckets.columns)
    # A document is the same as its copy.
    rows = sketch.buckets.to_pylist()
    assert {row["unit"] for row in rows if not row["compare"]} == set(documents)
    assert {row["unit"] for row in rows} <= set(documents)
    keys = stage.order(units)
    assert len(keys) == len(stage.ordering())
    assert all(key.dtype == np.uint64 and key.shape == (len(units),) for key in keys)
    assert list(stage.resolve(iter(()), len(units), [stage])) == []
    compared = sorted({row["unit"] for row in rows if row["compare"]})
    if stage.identity:
        assert not compared
    else:
        check_pairs(stage, units, sketch.documents, compared)


def check_pairs(stage: Barrier, units: Units, documents: pa.Table, compared: list[int]) -> None:
    place = {unit: at for at, unit in enumerate(documents["unit"].to_pylist())}
    rows = np.array([place[unit] for unit in compared], dtype=np.int64)
    payload = documents.select(stage.payload.names).take(rows).combine_chunks()
    text = units.text.take(pa.array(compared, pa.int64())) if stage.reads_text else None
    details = stage.detail(payload, text)
    assert len(details) == len(compared)
    left = np.repeat(np.arange(len(compared)), len(compared))
    right = np.tile(np.arange(len(compared)), len(compared))
    similarity = stage.verify(details, left, right)
    assert similarity.dtype == np.float64 and similarity.shape == left.shape
    assert (similarity[left == right] == 1).all(), "each is like itself"
    found = similarity[~np.isnan(similarity)]
    assert ((found >= 0) & (found <= 1)).all()
    turned = stage.verify(details, right, left)
    assert np.array_equal(similarity, turned, equal_nan=True)


@EXAMPLE
def test_the_input_stays_as_it_is(members: list[Stage]) -> None:
    def check(stage: Stage, texts: Sequence[str], known: Known) -> None:
        before = {name: plain(value) for name, value in known.items()}
        text = large(texts)
        outcome(stage, Units(text, known))
        assert text.to_pylist() == list(texts)
        text.validate(full=True)
        assert {name: plain(value) for name, value in known.items()} == before

    each(members, check)


@EXAMPLE
def test_the_same_again_and_after_a_journey(members: list[Stage]) -> None:
    def check(stage: Stage, texts: Sequence[str], known: Known) -> None:
        fresh = pickle.dumps(stage)
        first = outcome(stage, Units(large(texts), known))
        assert outcome(stage, Units(large(texts), known)) == first
        used = pickle.dumps(stage)
        assert used == fresh, "only parameters are pickled"
        assert len(used) < 5000
        for pickled in (fresh, used):
            again = pickle.loads(pickled)
            assert again == stage
            assert outcome(again, Units(large(texts), known)) == first

    each(members, check)


@EXAMPLE
def test_no_unit_looks_at_its_neighbours(members: list[Stage]) -> None:
    """Texts one by one, in parts, backwards, and as a slice of an array: the same of each."""

    def check(stage: Stage, texts: Sequence[str], known: Known) -> None:
        whole = outcome(stage, Units(large(texts), known))
        size = len(texts)

        def part(rows: Sequence[int]) -> Any:
            some = {name: picked(value, rows) for name, value in known.items()}
            return outcome(stage, Units(large([texts[row] for row in rows]), some))

        splits = [[range(place, place + 1) for place in range(size)], [range(3), range(3, size)]]
        for parts in splits:
            assert joined(stage, [(part(rows), len(rows)) for rows in parts]) == whole
        assert part(range(size)) == whole
        offset = large(["before", *texts, "after"]).slice(1, size)
        assert outcome(stage, Units(offset, known)) == whole
        spread = Units(
            large(["x", *texts]), {n: picked(v, [0, *range(size)]) for n, v in known.items()}
        )
        assert outcome(stage, spread.take(np.arange(1, size + 1))) == whole
        if isinstance(stage, Filter):
            (measures, codes), _ = part(range(size - 1, -1, -1))
            assert codes[::-1] == whole[0][1]
            assert {name: values[::-1] for name, values in measures.items()} == whole[0][0]

    each(members, check)


def joined(stage: Stage, parts: Sequence[tuple[Any, int]]) -> Any:
    """The outcome of the whole from those of its parts."""
    if isinstance(stage, Filter):
        measures = {
            name: [value for ((taken, _), _), _ in parts for value in taken[name]]
            for name in stage.takes()
        }
        codes = [code for ((_, codes), _), _ in parts for code in codes]
        return [measures, codes], [shown for (_, evidence), _ in parts for shown in evidence]
    first = 0
    if isinstance(stage, Rewriter):
        edits: dict[str, Any] = {}
        taken: dict[str, list[Any]] = {name: [] for name in stage.takes()}
        for (found, measures), size in parts:
            moved = {**found, "unit": [unit + first for unit in found["unit"]]}
            for name, values in moved.items():
                if values is None:
                    edits.setdefault(name, None)
                else:
                    edits[name] = [*(edits.get(name) or ()), *values]
            for name in taken:
                taken[name] += measures[name]
            first += size
        return [edits, taken]
    sketch: dict[str, list[dict[str, Any]]] = {"documents": [], "buckets": []}
    for found, size in parts:
        for name, rows in found.items():
            sketch[name] += [{**row, "unit": row["unit"] + first} for row in rows]
        first += size
    return sketch


@EXAMPLE
def test_judging_looks_at_measures_alone(members: list[Stage]) -> None:
    for stage in members:
        if not isinstance(stage, Filter) or not stage.rules():
            continue
        measures = stage.measure(units_of(stage, list(TEXTS.values())))
        codes = stage.judge(measures)
        # As from measures/: a stage that never saw the texts, numbers from a file.
        stored = {
            name: np.array(value) if isinstance(value, np.ndarray) else large(value.to_pylist())
            for name, value in measures.items()
            if name in {rule.measure for rule in stage.rules()} | set(stage.takes())
        }
        before = plain(stored)
        again = pickle.loads(pickle.dumps(stage))
        assert again.judge(stored).tolist() == codes.tolist()
        assert plain(stored) == before
        # What was not taken is not judged.
        nothing = {
            name: np.full(3, np.nan) if isinstance(value, np.ndarray) else pa.nulls(3, value.type)
            for name, value in stored.items()
        }
        assert again.judge(nothing).tolist() == [0, 0, 0]


@EXAMPLE
@pytest.mark.parametrize("line", ["some words here, ", "长城很长", "x"])
def test_a_line_of_a_megabyte(members: list[Stage], line: str) -> None:
    text = line * (2**20 // len(line.encode()))
    for stage in members:
        units = units_of(stage, [text, "short one"])
        if isinstance(stage, Filter):
            check_filter(stage, units)
        elif isinstance(stage, Rewriter):
            check_rewriter(stage, units)
        elif isinstance(stage, Barrier):
            check_barrier(stage, units)


# That it would notice


@dataclasses.dataclass(frozen=True)
class _Forgets(CorpusRewriter):
    """Edits every document, told or not, and says of nothing which occurrence it is."""

    kind: ClassVar[str] = "forgets"

    def rules(self) -> tuple[Rule, ...]:
        return (Rule("n", "n", "none"),)

    def sketch(self, units: Units) -> pa.Table:
        unit = np.array([row for row, text in enumerate(units.strings) if text], np.int64)
        columns = (unit, np.zeros_like(unit), np.ones(len(unit), np.uint64))
        return pa.table([pa.array(c) for c in columns], names=["unit", "start", "hash"])

    def rewrite(self, units: Units, repeats: Repeats | None = None) -> tuple[Edits, Measures]:
        unit = np.array([row for row, text in enumerate(units.strings) if text], np.int64)
        end = np.array([len(units.strings[row].encode()) for row in unit], np.int64)
        ones = np.ones(len(unit), np.uint16)
        return Edits(unit, np.zeros_like(unit), end, ones, np.full(len(unit), np.nan)), {}


@dataclasses.dataclass(frozen=True)
class _Neighbour(Filter):
    """Judges each unit by the one before it."""

    kind: ClassVar[str] = "neighbour"

    def rules(self) -> tuple[Rule, ...]:
        return (Rule("n", "n", Bounds(1, None)),)

    def measure(self, units: Units) -> Measures:
        sizes = np.array([len(text) for text in units.strings], np.float64)
        return {"n": np.roll(sizes, 1)}


@dataclasses.dataclass(frozen=True)
class _Remembers(Filter):
    """Carries what it saw along when it is pickled."""

    kind: ClassVar[str] = "remembers"

    def rules(self) -> tuple[Rule, ...]:
        return (Rule("n", "n", Bounds(1, None)),)

    def measure(self, units: Units) -> Measures:
        vars(self).setdefault("seen", []).extend(units.strings)
        return {"n": np.full(len(units), float(len(vars(self)["seen"])))}

    def __getstate__(self) -> dict[str, Any]:
        return dict(vars(self))


@dataclasses.dataclass(frozen=True)
class _Spoils(Filter):
    """Overwrites what it is given."""

    kind: ClassVar[str] = "spoils"

    def rules(self) -> tuple[Rule, ...]:
        return (Rule("n", "x.n", Bounds(1, None)),)

    def takes(self) -> tuple[str, ...]:
        return ()

    def needs(self) -> tuple[str, ...]:
        return ("x.n",)

    def measure(self, units: Units) -> Measures:
        value = units.number("x.n")
        value += 1
        return {"x.n": value}


@dataclasses.dataclass(frozen=True)
class _Counts(Filter):
    """Takes whole numbers, or says nothing of why."""

    kind: ClassVar[str] = "counts"

    def rules(self) -> tuple[Rule, ...]:
        return (Rule("n", "n", Bounds(1, None)),)

    def measure(self, units: Units) -> Measures:
        return {"n": np.zeros(len(units), np.int64)}


@dataclasses.dataclass(frozen=True)
class _Misplaces(Filter):
    """Shows another passage than it says."""

    kind: ClassVar[str] = "misplaces"

    def rules(self) -> tuple[Rule, ...]:
        return (Rule("n", "characters", Bounds(None, 3)),)

    def evidence(self, units: Units, codes: Any, measures: Measures) -> Sequence[Evidence | None]:
        return [Evidence(text[1:3], 0, 2) for text in units.strings]


@dataclasses.dataclass(frozen=True)
class _Halves(Rewriter):
    """Cuts a byte out, wherever it is."""

    kind: ClassVar[str] = "halves"

    def rules(self) -> tuple[Rule, ...]:
        return (Rule("n", "n", "none"),)

    def rewrite(self, units: Units) -> tuple[Edits, Measures]:
        unit = np.array([row for row, text in enumerate(units.strings) if text], np.int64)
        zeros = np.zeros(len(unit), np.int64)
        ones = np.ones(len(unit), np.uint16)
        return Edits(unit, zeros, zeros + 1, ones, np.full(len(unit), np.nan)), {}


@pytest.mark.parametrize(
    ("stage", "test"),
    [
        (_Neighbour(), test_no_unit_looks_at_its_neighbours),
        (_Remembers(), test_the_same_again_and_after_a_journey),
        (_Spoils(), test_the_input_stays_as_it_is),
        (_Counts(), test_shapes_and_types),
        (_Misplaces(), test_shapes_and_types),
        (_Halves(), test_shapes_and_types),
        (_Forgets(), test_shapes_and_types),
    ],
)
def test_what_breaks_the_contract_is_noticed(
    stage: Stage, test: Callable[[list[Stage]], None]
) -> None:
    with pytest.raises((AssertionError, UnicodeDecodeError)):
        test([stage])
