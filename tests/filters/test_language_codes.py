"""From a model's labels to codes."""

from __future__ import annotations

import pytest

from cleanpipe.filters.fasttext_models import inspected
from cleanpipe.filters.language import SHIPPED
from cleanpipe.filters.language_codes import LabelScheme, Named, code_of, reading, scheme_of

LID = inspected(str(SHIPPED)).labels


@pytest.mark.parametrize(
    ("scheme", "label", "language", "script"),
    [
        ("wikipedia", "en", "en", None),
        ("wikipedia", "zh", "zh", None),
        ("wikipedia", "als", "gsw", None),  # Alemannic; ISO's als is Tosk Albanian
        ("wikipedia", "bh", "bho", None),
        ("wikipedia", "eml", "egl", None),
        ("wikipedia", "no", "no", None),
        ("wikipedia", "sh", "sh", None),
        ("wikipedia", "nah", "nah", None),
        ("iso", "eng_Latn", "en", "Latn"),
        ("iso", "cmn_Hani", "zh", "Hani"),
        ("iso", "zho_Hans", "zh", "Hans"),
        ("iso", "zho_Hant", "zh", "Hant"),
        ("iso", "yue_Hant", "yue", "Hant"),
        ("iso", "arb_Arab", "ar", "Arab"),
        ("iso", "arz_Arab", "arz", "Arab"),  # a language of its own, not what "ar" means
        ("iso", "als_Latn", "sq", "Latn"),
        ("iso", "nob_Latn", "no", "Latn"),
        ("iso", "nno_Latn", "nn", "Latn"),
        ("iso", "swh_Latn", "sw", "Latn"),
        ("iso", "pes_Arab", "fa", "Arab"),
        ("iso", "und_Grek", "und", "Grek"),
        ("iso", "zxx_Zyyy", "und", "Zyyy"),
        ("iso", "zh-Hant-TW", "zh", "Hant"),
        ("iso", "zh-yue", "yue", None),
        ("iso", "zh-min-nan", "nan", None),
        ("iso", "zh-yue-Hant-HK", "yue", "Hant"),
        ("iso", "eng", "en", None),
        ("iso", "chi", "zh", None),
        ("iso", "iw", "he", None),
        ("iso", "high quality", "high quality", None),
        ("as_is", "eng_Latn", "eng_Latn", None),
    ],
)
def test_what_a_label_says(
    scheme: LabelScheme, label: str, language: str, script: str | None
) -> None:
    assert reading(scheme)(label) == Named(language, script)


@pytest.mark.parametrize(
    ("labels", "scheme"),
    [
        (LID, "wikipedia"),
        (["eng_Latn", "zho_Hans", "und_Grek"], "iso"),
        (["en", "zh-Hant", "deu"], "iso"),
        (["hq", "cc"], "as_is"),
        (["Chinese", "English"], "as_is"),
        (["__eng", "fra", "english"], "as_is"),
    ],
)
def test_schemes_are_told_from_the_labels(labels: list[str], scheme: str) -> None:
    assert scheme_of(labels) == scheme


def test_a_code_is_its_own_code() -> None:
    """Nothing is renamed twice."""
    read = reading("iso")
    for code in {reading("wikipedia")(label).language for label in LID}:
        assert code_of(code) == code
        assert read(read(code).language) == read(code)


def test_the_shipped_model_has_three_names_of_its_own() -> None:
    read = reading("wikipedia")
    renamed = {label: read(label).language for label in LID if read(label).language != label}
    assert renamed == {"als": "gsw", "bh": "bho", "eml": "egl"}
