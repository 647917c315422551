"""``minhash``: parameters, sketches and similarities, against slow references."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import datasketch
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st

import cleanpipe as cp
from cleanpipe import _native
from cleanpipe.dedup.exact import Exact
from cleanpipe.dedup.minhash import MinHash, signature_rows
from cleanpipe.stage import Sketch
from cleanpipe.units import Units
from tests.filters.table import faults, made

PROSE = "the quick brown fox jumps over a lazy dog and then it runs through wet grass home"
WORDS = PROSE.split()
CHINESE = "今天天气很好我们去公园散步明天会下雨所以留在家里看书"
SHORT = " ".join(WORDS[:9])
TEXTS = [
    PROSE,
    PROSE.upper() + "!",  # the same tokens
    PROSE + " again",
    SHORT,
    SHORT.upper(),  # the same tokens, but too few: another text
    SHORT,
    "",
    "...",
    "",
    CHINESE,
    CHINESE,
    CHINESE + "吧",
    " ".join(WORDS[:10]),
]


def large(texts: Sequence[str]) -> pa.Array:
    return pa.array(texts, pa.large_string())


def units(texts: Sequence[str], languages: Sequence[str | None] | None = None) -> Units:
    known = {} if languages is None else {"language": pa.array(languages, pa.large_string())}
    return Units(large(texts), known)


def grams(text: str, n: int) -> set[tuple[int, ...]]:
    """The n-grams, one after another, of the hashes of tokens."""
    tokens = _native.tokens(large([text]))[3].tolist()
    if len(tokens) < n:
        return {tuple(tokens)} if tokens else set()
    return {tuple(tokens[place : place + n]) for place in range(len(tokens) - n + 1)}


def token_count(text: str) -> int:
    return int(_native.token_counts(large([text]))[0])


def jaccard(one: str, two: str, n: int) -> float:
    left, right = grams(one, n), grams(two, n)
    return len(left & right) / len(left | right)


def rows_of(sketch: Sketch, compare: bool) -> list[set[tuple[int, int]]]:
    """(bucket, fingerprint) of each document's rows."""
    rows: list[set[tuple[int, int]]] = [set() for _ in range(sketch.documents.num_rows)]
    for row in sketch.buckets.to_pylist():
        if row["compare"] is compare:
            rows[row["unit"]].add((row["bucket"], row["fingerprint"]))
    return rows


@pytest.mark.parametrize(
    ("parameters", "fault"),
    [
        ({"threshold": 0}, "threshold: expected more than 0 and at most 1, got 0.0"),
        ({"threshold": 1.01}, "threshold: expected more than 0 and at most 1, got 1.01"),
        ({"threshold": float("nan")}, "threshold: expected more than 0 and at most 1, got nan"),
        ({"threshold": "high"}, 'threshold: expected a number, got "high"'),
        (
            {"threshold": 0.01},
            "threshold: 128 values have no bands that find 94% of the pairs at 0.01 and 99.9% of "
            "those 0.1 above: write num_perm: 280 or more, or a higher threshold",
        ),
        (
            {"num_perm": 2},
            "num_perm: 2 values have no bands that find 94% of the pairs at 0.8 and 99.9% of "
            "those 0.1 above: write num_perm: 3 or more, or a higher threshold",
        ),
        ({"num_perm": 0}, "num_perm: expected 1 to 4096, got 0"),
        ({"num_perm": 1.5}, "num_perm: expected a whole number, got 1.5"),
        (
            {"verify": "signature", "num_perm": 255},
            "num_perm: 255 values tell too little to drop a document by: write num_perm: 256 or "
            "more, or verify: exact",
        ),
        ({"verify": "never"}, "verify: expected 'exact' or 'signature', got \"never\""),
        ({"ngram": 0}, "ngram: expected 1 to 255 tokens, got 0"),
        ({"ngram": 256}, "ngram: expected 1 to 255 tokens, got 256"),
        ({"ngram": {"default": 5, "zh": 0}}, "ngram: zh: expected 1 to 255 tokens, got 0"),
        ({"ngram": {"zh": 9}}, "ngram: expected a number for default, too: {default: 5, zh: 9}"),
        ({"ngram": {}}, "ngram: expected a number for default, too: {default: 5, zh: 9}"),
        ({"ngram": "five"}, 'ngram: expected a whole number or a map, got "five"'),
        ({"seed": -1}, "seed: expected 0 to 4294967295, got -1"),
        ({"seed": 2**32}, "seed: expected 0 to 4294967295, got 4294967296"),
    ],
)
def test_faults(parameters: Mapping[str, Any], fault: str) -> None:
    assert faults(MinHash, parameters) == [fault]


@pytest.mark.parametrize(
    ("parameters", "size", "bands", "measure", "reads_text"),
    [
        ({}, 128, (16, 8), "jaccard", True),
        ({"verify": "signature"}, 256, (25, 10), "minhash_estimate", False),
        ({"verify": "signature", "num_perm": 512}, 512, (40, 12), "minhash_estimate", False),
        ({"threshold": 0.9, "num_perm": 64}, 64, (6, 9), "jaccard", True),
        ({"threshold": 1, "seed": 7}, 128, (1, 128), "jaccard", True),
    ],
)
def test_what_follows_from_parameters(
    parameters: Mapping[str, Any],
    size: int,
    bands: tuple[int, int],
    measure: str,
    reads_text: bool,
) -> None:
    stage = made(MinHash, parameters)
    assert (stage.size, stage.bands) == (size, bands)
    assert (stage.measure_name, stage.reads_text) == (measure, reads_text)
    assert stage.payload.field("signature").type == pa.binary(4 * size)
    assert not stage.identity
    stage.sketch(units(TEXTS))
    again = pickle.loads(pickle.dumps(stage))
    assert again == stage and len(vars(again)) == len(vars(made(MinHash, parameters)))


@pytest.mark.parametrize(
    ("parameters", "names"),
    [
        ({}, ()),
        ({"ngram": {"default": 5}}, ("language",)),
        ({"prefer": ["longest", {"language": ["en"]}]}, ("tokens", "language")),
        ({"ngram": {"default": 5}, "prefer": ["longest"]}, ("language", "tokens")),
        ({"ngram": {"default": 5}, "prefer": [{"language": ["en"]}]}, ("language",)),
    ],
)
def test_what_it_needs(parameters: Mapping[str, Any], names: tuple[str, ...]) -> None:
    assert made(MinHash, parameters).needs() == names


# Sketches


@pytest.mark.parametrize("n", [1, 5, 8])
def test_documents(n: int) -> None:
    sketch = made(MinHash, {"ngram": n, "seed": 3}).sketch(units(TEXTS))
    documents = sketch.documents.to_pydict()
    assert documents["unit"] == list(range(len(TEXTS)))
    assert documents["ngram"] == [n] * len(TEXTS)
    signatures = cp.minhash(TEXTS, ngram=n, seed=3)
    for text, signature, row in zip(TEXTS, documents["signature"], signatures, strict=True):
        if token_count(text) < 2 * n:
            assert signature is None
        else:
            assert signature == row.astype("<u4").tobytes()


@pytest.mark.parametrize("n", [1, 5, 8])
def test_who_is_the_same(n: int) -> None:
    """Equal sets, or equal texts where there are too few tokens."""
    sketch = made(MinHash, {"ngram": n}).sketch(units(TEXTS))
    digest, same = sketch.documents["digest"].to_pylist(), rows_of(sketch, compare=False)
    assert all(len(rows) == 1 for rows in same)

    def essence(text: str) -> object:
        return text if token_count(text) < 2 * n else frozenset(grams(text, n))

    for one, two in combinations(range(len(TEXTS)), 2):
        equal = essence(TEXTS[one]) == essence(TEXTS[two])
        assert (same[one] == same[two]) == (digest[one] == digest[two]) == equal
    for place, ((bucket, fingerprint),) in enumerate(same):
        assert digest[place] == fingerprint.to_bytes(8) + bucket.to_bytes(8)


def test_the_digest_of_a_short_text_is_no_other_digest() -> None:
    sketch = MinHash().sketch(units(["", "one two", "..."]))
    sets = _native.sketches(large(["", "one two", "..."]), 5, *MinHash()._permutations)[1]
    for text, digest, of_set in zip(
        ["", "one two", "..."], sketch.documents["digest"].to_pylist(), sets.tolist(), strict=True
    ):
        assert digest != xxhash.xxh3_128_digest(text.encode())
        assert digest not in {
            b"".join(half.to_bytes(8) for half in halves) for halves in (of_set, of_set[::-1])
        }


def test_bands() -> None:
    """Rows to be compared meet where a band of the signatures agrees, and nowhere else."""
    stage = made(MinHash, {"threshold": 0.5})
    texts = [PROSE, PROSE + " again and again", PROSE + " " + CHINESE, CHINESE, SHORT]
    sketch = stage.sketch(units(texts))
    rows = rows_of(sketch, compare=True)
    assert [len(each) for each in rows] == [29, 29, 29, 29, 0]
    signatures = cp.minhash(texts).reshape(len(texts), -1)[:, : 29 * 3].reshape(-1, 29, 3)
    for one, two in combinations(range(4), 2):
        shared = {bucket for bucket, _ in rows[one]} & {bucket for bucket, _ in rows[two]}
        assert len(shared) == (signatures[one] == signatures[two]).all(axis=1).sum()
    for place, each in enumerate(rows):
        low = int.from_bytes(sketch.documents["digest"][place].as_py()[8:])
        assert {fingerprint for _, fingerprint in each} <= {low}


def test_documents_of_different_n_never_meet() -> None:
    stage = made(MinHash, {"ngram": {"default": 1, "zh": 2, "ja": 1}})
    text = "a a a a a a"
    sketch = stage.sketch(units([text] * 6, ["en", "zh", None, "ja", "und", "zh"]))
    assert sketch.documents["ngram"].to_pylist() == [1, 2, 1, 1, 1, 2]
    for compare in (True, False):
        rows = rows_of(sketch, compare)
        assert rows[0] == rows[2] == rows[3] == rows[4]
        assert rows[1] == rows[5]
        assert not {bucket for bucket, _ in rows[0]} & {bucket for bucket, _ in rows[1]}


def test_n_by_language_is_that_n() -> None:
    languages = ["zh" if text.startswith("今") else "en" for text in TEXTS]
    mixed = made(MinHash, {"ngram": {"default": 5, "zh": 9}}).sketch(units(TEXTS, languages))
    for n, language in ((5, "en"), (9, "zh")):
        alone = made(MinHash, {"ngram": n}).sketch(units(TEXTS))
        of_alone, of_mixed = alone.documents.to_pylist(), mixed.documents.to_pylist()
        for place, found in enumerate(languages):
            if found == language:
                assert of_mixed[place] == of_alone[place]
                for compare in (True, False):
                    assert rows_of(mixed, compare)[place] == rows_of(alone, compare)[place]


@given(st.integers(0, len(TEXTS)), st.integers(0, len(TEXTS)))
@settings(max_examples=30, deadline=None)
def test_parts_of_a_batch_have_parts_of_its_sketch(one: int, two: int) -> None:
    low, high = sorted((one, two))
    languages = (["zh", "en", None] * 5)[: len(TEXTS)]
    stage = made(MinHash, {"ngram": {"default": 2, "zh": 3}, "threshold": 0.6})
    whole = stage.sketch(units(TEXTS, languages))
    label = pa.array(languages, pa.large_string())
    cut = Units(large(TEXTS).slice(low, high - low), {"language": label.slice(low, high - low)})
    part = stage.sketch(cut)
    for found, every in ((part.documents, whole.documents), (part.buckets, whole.buckets)):
        assert found.schema == every.schema
        rows = [row for row in every.to_pylist() if low <= row["unit"] < high]
        assert found.to_pylist() == [{**row, "unit": row["unit"] - low} for row in rows]


@pytest.mark.parametrize("stage", [MinHash(), MinHash(ngram=2), Exact()])
def test_buckets_of_a_stored_payload(stage: MinHash | Exact, tmp_path: Path) -> None:
    sketch = stage.sketch(Units(large(TEXTS)))
    pq.write_table(sketch.documents.select(stage.payload.names), tmp_path / "payload")
    payload = pq.read_table(tmp_path / "payload")
    assert stage.buckets(payload).equals(sketch.buckets)
    rows = [row for row in sketch.buckets.to_pylist() if row["unit"] >= 2]
    assert stage.buckets(payload.slice(2)).to_pylist() == [
        {**row, "unit": row["unit"] - 2} for row in rows
    ]
    assert stage.buckets(payload.slice(0, 0)).num_rows == 0


# Similarities


def verified(stage: Any, texts: Sequence[str], pairs: Sequence[tuple[int, int]]) -> list[float]:
    column = large(texts)
    payload = stage.sketch(Units(column)).documents.drop_columns(["unit"])
    details = stage.detail(payload, column if stage.reads_text else None)
    assert len(details) == len(texts)
    left, right = (np.array(ends, dtype=np.int64) for ends in zip(*pairs, strict=True))
    found = stage.verify(details, left, right)
    # As a part of a longer array, too.
    longer = pa.concat_arrays([details, details]).slice(len(texts) - 1)
    np.testing.assert_array_equal(stage.verify(longer, left + 1, right + 1), found)
    assert found.dtype == np.float64 and found.shape == (len(pairs),)
    return [float(value) for value in found]


LONG = st.lists(st.sampled_from(WORDS[:3] + ["长", "城"]), min_size=6, max_size=14).map(" ".join)


@given(st.lists(LONG, min_size=2, max_size=5), st.integers(1, 3), st.sampled_from([0.1, 0.5, 1.0]))
@settings(max_examples=100, deadline=None)
def test_exact_similarity(texts: list[str], n: int, threshold: float) -> None:
    stage = made(MinHash, {"ngram": n, "threshold": threshold})
    pairs = list(combinations(range(len(texts)), 2))
    for (one, two), found in zip(pairs, verified(stage, texts, pairs), strict=True):
        expected = jaccard(texts[one], texts[two], n)
        assert found == expected if expected >= threshold else np.isnan(found)


def test_a_pair_just_at_the_threshold_counts() -> None:
    # 4 of 5 unigrams in common: 0.8.
    texts = ["a b c d e a b c d e", "a b c d a b c d"]
    stage = made(MinHash, {"ngram": 1, "threshold": 0.8})
    assert verified(stage, texts, [(0, 1)]) == [0.8]
    over = made(MinHash, {"ngram": 1, "threshold": 0.8000000000000002})
    assert np.isnan(verified(over, texts, [(0, 1)])[0])


def test_estimated_similarity_is_that_of_datasketch() -> None:
    texts = [PROSE, PROSE + " again", PROSE + " so it seems", CHINESE]
    stage = made(MinHash, {"ngram": 2, "threshold": 0.5, "verify": "signature", "seed": 9})
    pairs = list(combinations(range(4), 2))
    rows = signature_rows(stage.sketch(units(texts)).documents["signature"].combine_chunks())
    theirs = [datasketch.MinHash(seed=9, hashvalues=row, scheme="affine32") for row in rows]
    for (one, two), found in zip(pairs, verified(stage, texts, pairs), strict=True):
        expected = theirs[one].jaccard(theirs[two])
        assert found == expected if expected >= 0.5 else np.isnan(found)
    assert not np.isnan(verified(stage, texts, [(0, 1), (0, 2)])).any()


def test_pairs_at_the_threshold_are_candidates() -> None:
    """As often as the bands promise: 0.947 at 0.8, nearly all at 0.9."""
    rng = np.random.default_rng(2)
    stage = made(MinHash, {"ngram": 1})
    for common, recall in ((8, 0.947), (9, 0.9999)):
        texts = []
        for _ in range(400):  # pairs of sets of n-grams that share common / 10 of their union
            words = [f"w{number}" for number in rng.integers(0, 2**40, 100)]
            shared = words[: common * 10]
            texts.append(" ".join(shared + words[common * 10 : 100 - (10 - common) * 5]))
            texts.append(" ".join(shared + words[100 - (10 - common) * 5 :]))
        rows = rows_of(stage.sketch(units(texts)), compare=True)
        buckets = [{bucket for bucket, _ in each} for each in rows]
        met = [bool(buckets[place] & buckets[place + 1]) for place in range(0, len(texts), 2)]
        assert np.mean(met) == pytest.approx(recall, abs=0.035)


def test_nothing_in_nothing_out() -> None:
    for verify in ("exact", "signature"):
        stage = made(MinHash, {"verify": verify})
        sketch = stage.sketch(units([]))
        assert sketch.documents.num_rows == sketch.buckets.num_rows == 0
        none = np.zeros(0, dtype=np.int64)
        details = stage.detail(
            sketch.documents.drop_columns(["unit"]), large([]) if stage.reads_text else None
        )
        assert stage.verify(details, none, none).shape == (0,)
