"""The surface measures: numbers that the text alone gives, without any model.

docs/measures.md defines each, with its source. The kernels take them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from cleanpipe import _native
from cleanpipe.bounds import Numbers
from cleanpipe.texts import slices, text_column


class SurfaceMeasure(NamedTuple):
    """What one measure says, and its unit."""

    description: str
    unit: str


def take(text: pa.LargeStringArray, names: Collection[str]) -> dict[str, Numbers]:
    """Take some of :data:`SURFACE` in one go, and no others.

    Args:
        text: n texts; a null is an empty text.
        names: of the measures.

    Returns:
        For each name float64 of shape (n,).

    Errors: KeyError where there is none such; MemoryError, also for a text of 4 GiB or more.
    """
    return dict(zip(names, _native.measures(text, tuple(names)), strict=True))


def measures(texts: Any) -> pa.Table:
    """Every surface measure of each text.

    Args:
        texts: n texts: a list or tuple of ``str`` and None, an Arrow array or chunked
            array of strings, a pandas Series, or what else exports an Arrow stream.

    Returns:
        Table of n rows with a float64 column for each of :data:`SURFACE`, in its order;
        null where the text is None.

    Errors: TypeError where these are not texts; ValueError for a ``str`` with a lone
    surrogate, which is no text.
    """
    column = text_column(texts)
    tables = [_EMPTY]
    for begin, end in slices(column):
        part = column.slice(begin, end - begin)
        missing = np.asarray(part.is_null())
        taken = take(part, SURFACE)
        tables.append(
            pa.table({name: pa.array(values, mask=missing) for name, values in taken.items()})
        )
    return pa.concat_tables(tables).combine_chunks()


def _grams(prefix: str, reading: str) -> dict[str, SurfaceMeasure]:
    top = {
        f"{prefix}top_{n}_gram_share": SurfaceMeasure(
            f"characters in the most frequent {n}-gram{reading}", "share"
        )
        for n in (2, 3, 4)
    }
    duplicate = {
        f"{prefix}duplicate_{n}_gram_share": SurfaceMeasure(
            f"characters in {n}-grams that occur more than once{reading}", "share"
        )
        for n in range(5, 11)
    }
    return top | duplicate


SURFACE: Mapping[str, SurfaceMeasure] = {
    "characters": SurfaceMeasure("code points, whitespace too", "count"),
    "tokens": SurfaceMeasure("tokens as docs/tokens.md defines them", "count"),
    "lines": SurfaceMeasure("lines that are not blank", "count"),
    "sentences": SurfaceMeasure("sentences", "count"),
    "paragraphs": SurfaceMeasure("blocks between blank lines; lines where there is none", "count"),
    "whitespace_words": SurfaceMeasure("runs of what is not whitespace", "count"),
    "mean_word_length": SurfaceMeasure("characters a whitespace word", "characters"),
    "symbol_share": SurfaceMeasure(
        "punctuation and symbols (P*, S*; full-width too) of visible characters", "share"
    ),
    "punctuation_share": SurfaceMeasure("punctuation (P*) of visible characters", "share"),
    "digit_share": SurfaceMeasure(
        "decimal digits of any script (Nd) of visible characters", "share"
    ),
    "upper_share": SurfaceMeasure(
        "capitals (Lu) of letters, caseless ones too: ABC in a Chinese text is no shouting",
        "share",
    ),
    "letter_share": SurfaceMeasure(
        "letters and the marks that are written on them (L*, Mn, Mc) of visible characters",
        "share",
    ),
    "hash_word_ratio": SurfaceMeasure("# a whitespace word (Gopher)", "ratio"),
    "ellipsis_word_ratio": SurfaceMeasure("... and … a whitespace word (Gopher)", "ratio"),
    "bullet_line_share": SurfaceMeasure("lines that begin with a bullet point (Gopher)", "share"),
    "ellipsis_line_share": SurfaceMeasure("lines that end with ... or … (Gopher)", "share"),
    "alphabetic_word_share": SurfaceMeasure("whitespace words with a letter (Gopher)", "share"),
    "stop_words": SurfaceMeasure("different ones of eight English stop words (Gopher)", "count"),
    "terminal_punctuation_line_share": SurfaceMeasure(
        "lines that end with terminal punctuation (C4, FineWeb)", "share"
    ),
    "short_line_share": SurfaceMeasure("lines of fewer than 30 characters (FineWeb)", "share"),
    "newline_word_ratio": SurfaceMeasure("newlines a whitespace word (FineWeb)", "ratio"),
    "duplicate_line_share": SurfaceMeasure("lines equal to an earlier one (Gopher)", "share"),
    "duplicate_line_character_share": SurfaceMeasure(
        "characters in lines equal to an earlier one (Gopher, FineWeb)", "share"
    ),
    "duplicate_paragraph_share": SurfaceMeasure(
        "paragraphs equal to an earlier one (Gopher)", "share"
    ),
    "duplicate_paragraph_character_share": SurfaceMeasure(
        "characters in paragraphs equal to an earlier one (Gopher)", "share"
    ),
    "datatrove_words": SurfaceMeasure(
        "words as datatrove cuts English, without those of punctuation alone", "count"
    ),
    "datatrove_mean_word_length": SurfaceMeasure("characters in these words", "characters"),
    "datatrove_hash_word_ratio": SurfaceMeasure("# a word of datatrove's", "ratio"),
    "datatrove_ellipsis_word_ratio": SurfaceMeasure("... and … a word of datatrove's", "ratio"),
    "datatrove_alphabetic_word_share": SurfaceMeasure(
        "words of datatrove's that have a letter", "share"
    ),
    "datatrove_stop_words": SurfaceMeasure(
        "different ones of the same stop words, in small letters, among datatrove's words", "count"
    ),
    **_grams("", ", each once (Gopher)"),
    **_grams("datatrove_", ", as datatrove counts them"),
    **_grams("dolma_", ", as dolma counts them"),
    "span_repeats": SurfaceMeasure(
        "most times in a row that a span of 1 to 13 tokens occurs (OLMo 2)", "count"
    ),
    "html_tags": SurfaceMeasure("left-over HTML tags", "count"),
    "html_entities": SurfaceMeasure("left-over HTML entities", "count"),
    "curly_brackets": SurfaceMeasure("{ and } (C4)", "count"),
    "urls": SurfaceMeasure("URLs", "count"),
    "email_addresses": SurfaceMeasure("e-mail addresses", "count"),
    "links": SurfaceMeasure("URLs and e-mail addresses", "count"),
    "markup_share": SurfaceMeasure("characters in tags and entities, of all", "share"),
    "link_share": SurfaceMeasure("characters in URLs and e-mail addresses, of all", "share"),
    "markup_token_share": SurfaceMeasure("tokens in tags and entities, of all", "share"),
    "link_token_share": SurfaceMeasure("tokens in URLs and e-mail addresses, of all", "share"),
    "residue_lines": SurfaceMeasure("lines that are left-over script or CSS", "count"),
    "residue_line_share": SurfaceMeasure("such lines, of all", "share"),
}
"""Every surface measure by name: the columns of :func:`measures`, in docs/measures.md's order."""

_EMPTY = pa.table({name: pa.array([], pa.float64()) for name in SURFACE})
