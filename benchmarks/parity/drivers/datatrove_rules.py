"""datatrove's verdicts, rule by rule: each of its filters with all rules but one turned off.

    python datatrove_rules.py PAGES

PAGES has one JSON string a line, a text. For each, a line of output: a JSON object of rule to
verdict: true where the document is dropped, null where the filter fails with an error; and
``lines``, for each line that is not blank whether C4's filter drops it. Rules are called as ours.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from datatrove.data import Document
from datatrove.pipeline.filters import (
    C4QualityFilter,
    FineWebQualityFilter,
    GopherQualityFilter,
    GopherRepetitionFilter,
)

QUALITY = (
    "min_doc_words",
    "max_doc_words",
    "min_avg_word_length",
    "max_avg_word_length",
    "max_symbol_word_ratio",
    "max_bullet_lines_ratio",
    "max_ellipsis_lines_ratio",
    "max_non_alpha_words_ratio",
    "min_stop_words",
)


def quality(*names: str) -> Any:
    return GopherQualityFilter(**{name: None for name in QUALITY if name not in names})


def repetition(**wanted: Any) -> Any:
    off: dict[str, Any] = dict.fromkeys(
        ("dup_line_frac", "dup_para_frac", "dup_line_char_frac", "dup_para_char_frac")
    )
    return GopherRepetitionFilter(**{**off, "top_n_grams": (), "dup_n_grams": (), **wanted})


def fineweb(**wanted: Any) -> Any:
    off: dict[str, Any] = {
        "line_punct_thr": -1,
        "short_line_thr": 2,
        "char_duplicates_ratio": 2,
        "new_line_ratio": float("inf"),
    }
    return FineWebQualityFilter(**{**off, **wanted})


def c4(**wanted: Any) -> Any:
    off: dict[str, Any] = {
        "min_num_sentences": -1,
        "filter_lorem_ipsum": False,
        "filter_curly_bracket": False,
    }
    return C4QualityFilter(**{**off, **wanted})


TOP = {2: 0.2, 3: 0.18, 4: 0.16}
DUPLICATE = {5: 0.15, 6: 0.14, 7: 0.13, 8: 0.12, 9: 0.11, 10: 0.10}

RULES = {
    "gopher_quality": GopherQualityFilter(),
    "gopher_quality.whitespace_words": quality("min_doc_words", "max_doc_words"),
    "gopher_quality.mean_word_length": quality("min_avg_word_length", "max_avg_word_length"),
    "gopher_quality.symbol_word_ratio": quality("max_symbol_word_ratio"),
    "gopher_quality.bullet_line_share": quality("max_bullet_lines_ratio"),
    "gopher_quality.ellipsis_line_share": quality("max_ellipsis_lines_ratio"),
    "gopher_quality.alphabetic_word_share": quality("max_non_alpha_words_ratio"),
    "gopher_quality.stop_words": quality("min_stop_words"),
    "gopher_repetition": GopherRepetitionFilter(),
    "gopher_repetition.duplicate_line_share": repetition(dup_line_frac=0.3),
    "gopher_repetition.duplicate_paragraph_share": repetition(dup_para_frac=0.3),
    "gopher_repetition.duplicate_line_character_share": repetition(dup_line_char_frac=0.2),
    "gopher_repetition.duplicate_paragraph_character_share": repetition(dup_para_char_frac=0.2),
    **{
        f"gopher_repetition.top_{n}_gram_share": repetition(top_n_grams=((n, limit),))
        for n, limit in TOP.items()
    },
    **{
        f"gopher_repetition.duplicate_{n}_gram_share": repetition(dup_n_grams=((n, limit),))
        for n, limit in DUPLICATE.items()
    },
    "fineweb": FineWebQualityFilter(),
    "fineweb.terminal_punctuation_line_share": fineweb(line_punct_thr=0.12),
    "fineweb.duplicate_line_character_share": fineweb(char_duplicates_ratio=0.01),
    "fineweb.short_line_share": fineweb(short_line_thr=0.67),
    "fineweb.newline_word_ratio": fineweb(new_line_ratio=0.3),
    "c4": C4QualityFilter(),
    "c4.sentences": c4(min_num_sentences=5),
    "c4.lorem_ipsum": c4(filter_lorem_ipsum=True),
    "c4.curly_brackets": c4(filter_curly_bracket=True),
}
LINE = c4()


def kept(found: bool | tuple[bool, str]) -> bool:
    return found if isinstance(found, bool) else found[0]


def line_goes(line: str) -> bool:
    document = Document(text=line, id="")
    LINE.filter(document)
    return not document.text


def verdicts(text: str) -> Mapping[str, object]:
    found: dict[str, object] = {}
    for name, one in RULES.items():
        try:
            found[name] = not kept(one.filter(Document(text=text, id="")))
        except (ZeroDivisionError, ValueError, AssertionError, IndexError):
            found[name] = None
    found["lines"] = [line_goes(line) for line in text.split("\n") if line.strip()]
    return found


with open(sys.argv[1], encoding="utf-8") as file:
    for text in map(json.loads, file):
        print(json.dumps(verdicts(text)), flush=True)
