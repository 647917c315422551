"""The token kernels against their document, their reference and the Arrow interface."""

from __future__ import annotations

import ast
import gc
import os
import re
import subprocess
import sys
import threading
import unicodedata
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cleanpipe import _native

from . import reference_tokens as reference

ROOT = Path(__file__).resolve().parent.parent.parent
SANITIZED = "asan" in os.environ.get("LD_PRELOAD", "")


def strings(texts: Sequence[bytes | str | None], large: bool = False) -> Any:
    """An Arrow array of strings whose bytes nobody has checked."""
    data = [text.encode() if isinstance(text, str) else text for text in texts]
    binary = pa.array(data, pa.large_binary() if large else pa.binary())
    return binary.view(pa.large_string() if large else pa.string())


def spans(texts: Any) -> list[list[tuple[int, int, int]]]:
    """(start, end, hash) of the tokens of each text."""
    offsets, starts, ends, hashes = (column.tolist() for column in _native.tokens(texts))
    found = list(zip(starts, ends, hashes, strict=True))
    return [found[a:b] for a, b in pairwise(offsets)]


def expected(texts: Sequence[bytes | str | None]) -> list[list[tuple[int, int, int]]]:
    return [
        [(t.start, t.end, t.hash) for t in reference.tokens(b"" if text is None else text)]
        for text in texts
    ]


# ---- the document ----

DOCUMENT = (ROOT / "docs" / "tokens.md").read_text(encoding="utf-8")


def rows_below(heading: str) -> list[list[str]]:
    table = DOCUMENT.split(heading, 1)[1].split("|---|", 1)[1].split("\n\n", 1)[0]
    return [[c.strip() for c in row.strip("|").split("|")] for row in table.split("\n")[1:]]


def code_spans(cell: str) -> list[str]:
    escape = re.compile(r"\\u([0-9A-F]{4})|\\U([0-9A-F]{8})")
    return [
        escape.sub(lambda m: chr(int(m[1] or m[2], 16)), code)
        for code in re.findall("`([^`]*)`", cell)
    ]


@pytest.mark.parametrize("row", rows_below("## Examples"), ids=lambda row: row[0])
def test_examples_of_the_document(row: list[str]) -> None:
    [text], shown = code_spans(row[1]), code_spans(row[2])
    data = text.encode()
    [found] = spans(strings([text]))
    assert [reference.fold(data[a:b].decode()) for a, b, _ in found] == shown
    assert [hash_ for _, _, hash_ in found] == [reference.token_hash(token) for token in shown]
    assert [token.folded for token in reference.tokens(text)] == shown


def test_hashes_of_the_document() -> None:
    rows = rows_below("## Hash")
    assert len(rows) > 10
    for token, shown in ((code_spans(a)[0], code_spans(b)[0]) for a, b in rows):
        assert [f"{hash_:016x}" for [(_, _, hash_)] in spans(strings([token]))] == [shown]


# Written down once more, so that no edit of document and code together changes them unnoticed.
@pytest.mark.parametrize(
    ("token", "hash_"),
    [
        ("a", 0x405337E338614E91),
        ("token", 0x6E54E36B856DC43B),
        ("abcdefgh", 0x4BF16D8CD59CD7BE),
        ("abcdefghi", 0x7022B4B63B84B033),
        ("internationalization", 0x40906DFDED5B2618),
        ("привет", 0x08CC4892C3DA72C7),
        ("我", 0x7DD380B890A7AB61),
        ("ที่", 0x46B2F1129AD549E9),
        ("𠮷", 0x632E1A4308022F26),
        ("2024", 0x4F79D7052B76A8E8),
    ],
)
def test_golden_hashes(token: str, hash_: int) -> None:
    assert _native.TOKEN_TABLE_VERSION == 2
    assert spans(strings([token])) == [[(0, len(token.encode()), hash_)]]
    assert spans(strings([token.upper()]))[0][0][2] == hash_


# ---- the tables ----

CODES = [*range(0xD800), *range(0xE000, 0x110000)]
CLASS = {code: reference.token_class(code) for code in CODES}


def test_every_code_point_has_its_class() -> None:
    assert _native.UNICODE_VERSION == reference.UNICODE_VERSION
    alone = {"other": 0, "run": 1, "cluster": 1, "mark": 0, "silent": 0}
    between = {"other": 2, "run": 1, "cluster": 3, "mark": 1, "silent": 1}
    for pattern, counts in (("{}", alone), ("a{}b", between)):
        texts = strings([pattern.format(chr(code)) for code in CODES])
        want = np.array([counts[CLASS[code]] for code in CODES])
        for found in (_native.token_counts(texts), np.diff(_native.tokens(texts)[0])):
            assert [hex(CODES[i]) for i in np.flatnonzero(found != want)] == []


def test_every_code_point_folds() -> None:
    for pattern, classes in (("{}", ("run", "cluster")), ("a{}", ("mark", "silent"))):
        codes = [code for code in CODES if CLASS[code] in classes]
        texts = [pattern.format(chr(code)) for code in codes]
        want = [reference.token_hash(reference.fold(text)) for text in texts]
        found = _native.tokens(strings(texts))[3].tolist()
        wrong = [hex(c) for c, a, b in zip(codes, found, want, strict=True) if a != b]
        assert wrong == []


def test_surrogates_are_ill_formed() -> None:
    data = [chr(code).encode(errors="surrogatepass") for code in range(0xD800, 0xE000)]
    texts = strings([b"a" + item + b"b" for item in data])
    assert set(_native.replaced(texts).tolist()) == {3}
    assert set(_native.token_counts(texts).tolist()) == {2}


def version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


@pytest.mark.skipif(
    version(unicodedata.unidata_version) > version(reference.UNICODE_VERSION),
    reason="this Python's Unicode is newer than the tables'",
)
def test_the_data_file_agrees_with_pythons_unicode() -> None:
    same = unicodedata.unidata_version == reference.UNICODE_VERSION
    for code in CODES:
        category = unicodedata.category(chr(code))
        if same or category != "Cn":
            for name in ("L", "M", "N", "Nd"):
                assert (code in reference.SETS[name]) == category.startswith(name), hex(code)
            folded = chr(code).casefold()
            if len(folded) == 1:
                assert reference.MAPS["fold"].get(code, chr(code)) == folded, hex(code)


UCD = Path("/usr/share/unicode")


@pytest.mark.skipif(not (UCD / "Scripts.txt").exists(), reason="Debian's unicode-data is missing")
def test_the_generator_gives_the_committed_files() -> None:
    head = (UCD / "Scripts.txt").read_text(encoding="utf-8")[:40]
    if f"Scripts-{reference.UNICODE_VERSION}.txt" not in head:
        pytest.skip("another version of unicode-data")
    script = [sys.executable, str(ROOT / "scripts" / "unicode_tables.py"), "--check"]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


# ---- any text, as the reference has it ----

CHARACTERS = st.one_of(
    st.sampled_from("aZ09 .'-_\n\x00ßẞİıςΣǅⅧ²½①é\u0301\u0345\u200c\u200d\u200b\u00ad\ufe0f\ufffd"),
    st.sampled_from("中々〇〆㈠ーｰﾞガがゝ𠮷\U000e0100한가大〱🙂👍🏽\u20e3Ａ１"),
    st.sampled_from("กำเที่ๆ๑ລໆ໑ខ្មែ៣ကြ၁བོ༣༪حِ٢क्षि२שָ"),
    st.characters(exclude_categories=["Cs"]),
)
TEXTS = st.text(CHARACTERS, max_size=40)
FRAGMENTS = st.sampled_from([b"\xc3", b"\xe4\xb8", b"\xf0\x9f\x98", b"\xed\xa0\x80", b"\xc0\x80"])
BYTES = st.lists(
    st.one_of(FRAGMENTS, TEXTS.map(str.encode), st.binary(max_size=6)), max_size=8
).map(b"".join)


@settings(max_examples=400, deadline=None)
@given(st.lists(st.none() | TEXTS | BYTES, max_size=6), st.booleans(), st.data())
def test_equals_the_reference(texts: list[str | bytes | None], large: bool, data: Any) -> None:
    first = data.draw(st.integers(0, len(texts)))
    array, part = strings(texts, large).slice(first), texts[first:]
    want = expected(part)
    assert spans(array) == want
    assert _native.token_counts(array).tolist() == [len(tokens) for tokens in want]
    raw = [text.encode() if isinstance(text, str) else text or b"" for text in part]
    ill_formed = [reference.characters(text)[1] for text in raw]
    assert _native.replaced(array).tolist() == ill_formed

    cut = data.draw(st.integers(0, len(part)))
    chunks = pa.chunked_array([array.slice(0, cut), array.slice(cut)])
    assert spans(chunks) == want
    assert _native.replaced(chunks).tolist() == ill_formed


@settings(deadline=None)
@given(TEXTS, TEXTS)
@example("a", "\u0301b")
def test_a_space_separates(left: str, right: str) -> None:
    joined = spans(strings([left + " " + right]))[0]
    [a, b] = spans(strings([left, right]))
    shift = len(left.encode()) + 1
    assert joined == a + [(start + shift, end + shift, hash_) for start, end, hash_ in b]


def test_tokens_never_share_a_hash_below_nine_bytes() -> None:
    texts = strings([f"{number:x}" for number in range(300_000)])
    assert len(np.unique(_native.tokens(texts)[3])) == 300_000


def test_every_bit_of_the_hash_is_used() -> None:
    hashes = _native.tokens(strings([f"{number}" for number in range(20_000)]))[3]
    ones = [int(np.count_nonzero(hashes >> np.uint64(bit) & np.uint64(1))) for bit in range(64)]
    assert min(ones) > 9_600
    assert max(ones) < 10_400


# ---- ill-formed UTF-8: text, sequences, tokens; Unicode 3.9, tables 3-8 to 3-11, and ends ----

ILL_FORMED: list[tuple[bytes, int, list[bytes]]] = [
    (b"a\xc0\xaf\xe0\x80\xbf\xf0\x81\x82Ab", 8, [b"a", b"Ab"]),
    (b"\xed\xa0\x80\xed\xbf\xbf\xed\xafA", 8, [b"A"]),
    (b"\xf4\x91\x92\x93\xffA\x80\xbfB", 7, [b"A", b"B"]),
    (b"\xe1\x80\xe2\xf0\x91\x92\xf1\xbfA", 4, [b"A"]),
    (b"a\x80b", 1, [b"a", b"b"]),
    (b"a\xc3", 1, [b"a"]),
    (b"a\xe4\xb8", 1, [b"a"]),
    (b"a\xf0\x9f\x98", 1, [b"a"]),
    (b"\xf5\x80\x80\x80", 4, []),
    (b"\xe4\xb8\xad\xe4\xb8", 1, [b"\xe4\xb8\xad"]),
    ("a\ufffdb".encode(), 0, [b"a", b"b"]),
    (b"\xff" * 20, 20, []),
    (b"plain ascii, long enough for whole words \xff" + b" and on " * 3, 1,
     b"plain ascii long enough for whole words and on and on and on".split()),
]  # fmt: skip


@pytest.mark.parametrize(("text", "sequences", "tokens"), ILL_FORMED)
def test_ill_formed(text: bytes, sequences: int, tokens: list[bytes]) -> None:
    assert _native.replaced(strings([text])).tolist() == [sequences]
    already = text.decode(errors="ignore").count("\ufffd")
    assert text.decode(errors="replace").count("\ufffd") - already == sequences
    assert [text[start:end] for start, end, _ in spans(strings([text]))[0]] == tokens


def test_nothing_is_read_behind_a_text() -> None:
    """Each text ends where the next one would complete a character or a word."""
    texts = [b"a\xe4", b"\xb8\xad", b"wor", b"ds", b"\xf0\x9f", b"\x98\x80", b"", b"1"]
    assert spans(strings(texts)) == expected(texts)
    assert _native.replaced(strings(texts)).tolist() == [1, 2, 0, 0, 1, 2, 0, 0]


# ---- the Arrow interface ----

FUNCTIONS: list[Callable[[Any], Any]] = [
    _native.token_counts,
    _native.tokens,
    _native.replaced,
]


class Exports:
    """Only the protocol, as another library's array has it."""

    def __init__(self, result: Any, stream: bool = False) -> None:
        self._result = result
        if stream:
            self.__arrow_c_stream__ = self._export
        else:
            self.__arrow_c_array__ = self._export

    def _export(self, requested_schema: object = None) -> Any:
        if isinstance(self._result, Exception):
            raise self._result
        return self._result


def test_shapes_and_dtypes() -> None:
    offsets, starts, ends, hashes = _native.tokens(pa.array(["a b", None, ""]))
    assert [offsets.dtype, starts.dtype, ends.dtype, hashes.dtype] == ["i8", "i8", "i8", "u8"]
    assert [offsets.shape, starts.shape, ends.shape, hashes.shape] == [(4,), (2,), (2,), (2,)]
    for function in (_native.token_counts, _native.replaced):
        counts = function(pa.array(["a b", None, ""]))
        assert (counts.dtype, counts.shape) == (np.dtype("i8"), (3,))


@pytest.mark.parametrize(
    "texts",
    [
        pa.array([], pa.string()),
        pa.array([], pa.large_string()),
        pa.array([]),
        pa.chunked_array([], pa.string()),
        pa.chunked_array([pa.array([], pa.large_string())]),
        pa.array(["a"]).slice(1),
    ],
)
def test_no_texts(texts: Any) -> None:
    assert [column.tolist() for column in _native.tokens(texts)] == [[0], [], [], []]
    assert _native.token_counts(texts).tolist() == _native.replaced(texts).tolist() == []


def test_nulls_have_no_tokens() -> None:
    for texts in (pa.array([None, None]), pa.array([None, None], pa.string())):
        assert _native.tokens(texts)[0].tolist() == [0, 0, 0]
    whole = pa.array(["a", None, "b c", None] * 5)
    assert _native.token_counts(whole.slice(3, 12)).tolist() == [0, 1, 0, 2] * 3
    hidden = pa.Array.from_buffers(
        pa.string(), 2, [pa.py_buffer(b"\x02"), pa.array([0, 1, 2], pa.int32()).buffers()[1],
                         pa.py_buffer(b"ab")]
    )  # fmt: skip
    assert spans(hidden) == [[], *expected(["b"])]


def test_other_libraries_arrays() -> None:
    array = pa.array(["a b", None])
    chunked = pa.chunked_array([array, array])
    assert _native.token_counts(Exports(array.__arrow_c_array__())).tolist() == [2, 0]
    stream = Exports(chunked.__arrow_c_stream__(), stream=True)
    assert _native.token_counts(stream).tolist() == [2, 0, 2, 0]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    ("texts", "named"),
    [
        ("a text", "got str"),
        (["a", "list"], "got list"),
        (None, "got NoneType"),
        (np.array(["a"]), "got numpy.ndarray"),
        (pa.array([1]), "pyarrow.lib.Int64Array of Arrow format 'l'"),
        (pa.array([b"a"]), "pyarrow.lib.BinaryArray of Arrow format 'z'"),
        (pa.array(["a"], pa.string_view()), "of Arrow format 'vu'"),
        (pa.array(["a"]).dictionary_encode(), "of dictionary-encoded Arrow format 'i'"),
        (pa.chunked_array([[1.5]]), "pyarrow.lib.ChunkedArray of Arrow format 'g'"),
        (pa.table({"text": ["a"]}), "pyarrow.lib.Table of Arrow format '+s'"),
        (Exports("no capsules"), "two capsules"),
        (Exports(TypeError("their own")), "their own"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_wrong_types(function: Callable[[Any], Any], texts: Any, named: str) -> None:
    with pytest.raises(TypeError, match=re.escape(named)):
        function(texts)


def test_capsules_of_another_kind() -> None:
    schema, array = pa.array(["a"]).__arrow_c_array__()
    with pytest.raises(ValueError, match="PyCapsule"):
        _native.token_counts(Exports((array, schema)))
    with pytest.raises(ValueError, match="PyCapsule"):
        _native.token_counts(Exports(schema, stream=True))


def with_offsets(offsets: list[int]) -> Any:
    buffers = [None, pa.array(offsets, pa.int64()).buffers()[1], pa.py_buffer(b"abc")]
    return pa.Array.from_buffers(pa.large_string(), len(offsets) - 1, buffers)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_impossible_offsets(function: Callable[[Any], Any]) -> None:
    with pytest.raises(ValueError, match="text 1 has impossible offsets"):
        function(with_offsets([0, 3, 1, 3]))
    with pytest.raises(ValueError, match="text 0 has impossible offsets"):
        function(with_offsets([0, -1, 3]))


def test_a_text_of_four_gibibytes() -> None:
    with pytest.raises(MemoryError, match="text 0 is longer than"):
        _native.tokens(with_offsets([0, 2**32, 3]))


def test_a_stream_that_fails() -> None:
    def batches() -> Any:
        yield pa.record_batch({"a": ["a"]})
        raise RuntimeError("the disk is gone")

    schema = pa.schema({"a": pa.string()})
    reader = pa.RecordBatchReader.from_batches(schema, batches())
    with pytest.raises(TypeError, match=r"RecordBatchReader of Arrow format '\+s'"):
        _native.tokens(reader)


# ---- threads and memory ----


def test_the_gil_is_released() -> None:
    texts = strings(["some words " * 3_000_000])
    interval = sys.getswitchinterval()
    sys.setswitchinterval(60)  # so that only a release lets another thread run
    try:
        for function in FUNCTIONS:
            for _ in range(20):
                begun, ended = threading.Event(), threading.Event()
                # Exported beforehand, for pyarrow's own export releases the GIL too.
                exported = Exports(texts.__arrow_c_array__())

                def work(
                    call: Callable[[Any], Any] = function,
                    argument: Exports = exported,
                    begun: threading.Event = begun,
                    ended: threading.Event = ended,
                ) -> None:
                    begun.set()
                    call(argument)
                    ended.set()

                thread = threading.Thread(target=work)
                thread.start()
                begun.wait()
                ran_beside = not ended.is_set()
                thread.join()
                if ran_beside:
                    break
            else:
                pytest.fail(f"{function.__name__} kept the GIL")
    finally:
        sys.setswitchinterval(interval)


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(SANITIZED or not Path("/proc/self/statm").exists(), reason="needs true RSS")
def test_nothing_leaks() -> None:
    array = pa.array(["some words, 中文" * 40, None, ""])
    chunked = pa.chunked_array([array, array])
    wrong = pa.chunked_array([[1], [2]])
    broken = with_offsets([0, 3, 1, 3])

    def calls(times: int) -> None:
        for _ in range(times):
            for function in FUNCTIONS:
                function(array)
                function(chunked)
            for bad in (wrong, broken, 1):
                with pytest.raises((TypeError, ValueError)):
                    _native.tokens(bad)  # type: ignore[arg-type]

    calls(2_000)
    gc.collect()
    before, arrow = resident(), pa.total_allocated_bytes()
    calls(15_000)  # 100,000 good calls in all
    gc.collect()
    assert pa.total_allocated_bytes() == arrow
    assert resident() - before < 4 << 20


@pytest.mark.skipif(SANITIZED or sys.platform != "linux", reason="limits the address space")
def test_out_of_memory_is_an_exception() -> None:
    program = """
import re, resource
import pyarrow as pa
from cleanpipe import _native
texts = pa.array(["a " * 30_000_000])
used = int(re.search(r"VmSize:\\s+(\\d+) kB", open("/proc/self/status").read())[1]) << 10
resource.setrlimit(resource.RLIMIT_AS, (used + (200 << 20), used + (200 << 20)))
try:
    _native.tokens(texts)
except MemoryError:
    print("MemoryError", _native.tokens(pa.array(["a b"]))[0].tolist())
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout == "MemoryError [0, 2]\n"


# ---- the stub ----


def test_the_stub_names_what_there_is() -> None:
    stub = ast.parse((ROOT / "cleanpipe" / "_native.pyi").read_text(encoding="utf-8"))
    names = {node.name for node in stub.body if isinstance(node, ast.FunctionDef)}
    for node in stub.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    assert names == {name for name in dir(_native) if not name.startswith("_")}
    for node in stub.body:
        if isinstance(node, ast.FunctionDef):
            assert ast.get_docstring(node)
            assert getattr(_native, node.name).__doc__
