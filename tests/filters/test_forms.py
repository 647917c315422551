"""Unicode's forms are Python's, however many marks stand in a row."""

from __future__ import annotations

import unicodedata
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cleanpipe.filters.forms import _SHORT, LONG, Form, normalized

from ..times import within

FORM = pytest.mark.parametrize("form", get_args(Form))
MARKS = st.lists(
    st.sampled_from("\u0301\u0327\u0344\u0345\u0f73\u0f71\u0f74\uff9e\u3099\u05b0\u0338aé각ｶ\n"),
    min_size=LONG,
    max_size=3 * LONG,
).map("".join)


@FORM
@given(MARKS)
@settings(max_examples=40)
def test_as_python_does(form: Form, text: str) -> None:
    # Long enough to be searched, and short enough for Python's way.
    long = "é" * _SHORT + text + "\u0327\u0301" * LONG
    assert normalized(form, long) == unicodedata.normalize(form, long)


@FORM
def test_many_marks(form: Form) -> None:
    text = "a" + "\u0301\u0327" * 150_000
    assert len(normalized(form, text)) in (300_000, 300_001)
    assert within(lambda: normalized(form, text), 5), "Python takes a minute"
