"""The native kernels over Arrow strings (sources in `cleanpipe/native/`).

Most functions take `texts`: whatever exports Arrow strings through `__arrow_c_array__` or
`__arrow_c_stream__` (a `pyarrow.Array` or `pyarrow.ChunkedArray` of `string` or `large_string`,
other libraries' arrays alike), zero-copy, sliced or not; a column of type `null` counts as texts
that are all null. n is the number of texts, nulls included; a null has no tokens and nothing
ill-formed in it. The GIL is released while texts are read; results are new arrays.

Those functions raise
    TypeError: `texts` is not Arrow data, or not strings; the message names the type given.
    ValueError: the Arrow data is invalid (offsets that decrease), or its stream failed.
    MemoryError: an allocation failed.
"""

from typing import Any, Literal, Protocol

import numpy as np
from _typeshed import ReadableBuffer
from numpy.typing import NDArray

class _ArrowArray(Protocol):
    def __arrow_c_array__(self, requested_schema: Any = None) -> Any: ...

class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...

UNICODE_VERSION: str
"""The Unicode version of the token tables, such as `15.0.0`."""

TOKEN_TABLE_VERSION: int
"""Raised whenever any text's tokens or hashes change; stored with signatures and indexes."""

MEASURES: tuple[str, ...]
"""The names of all surface measures, in the order of docs/measures.md."""

MEASURES_VERSION: int
"""Raised whenever any text's measure changes; part of a plan's fingerprint."""

def measures(texts: _ArrowArray | _ArrowStream, names: tuple[str, ...], /) -> NDArray[np.float64]:
    """Surface measures of each text, as docs/measures.md defines them; no others are computed.

    Args:
        names: of the measures, in any order: the keys of `cleanpipe.surface.SURFACE`.

    Returns float64 of shape (len(names), n); a null is an empty text.

    KeyError is raised for an unknown name, MemoryError also for a text of 4 GiB or more.
    """

ISA: str
"""The instruction set of the kernels in use: `scalar`, `avx2` (x86-64) or `neon` (aarch64).

The best one that the machine has; the environment variable CLEANPIPE_ISA, read at the first
import, forces another, and the import fails with ImportError where it is not one of ISAS. All
give the same results.
"""

ISAS: tuple[str, ...]
"""The instruction sets usable on this machine, best first; the last is `scalar`."""

def token_counts(texts: _ArrowArray | _ArrowStream, /) -> NDArray[np.int64]:
    """The number of tokens of each text, as docs/tokens.md defines them.

    Returns int64 of shape (n,).
    """

def tokens(
    texts: _ArrowArray | _ArrowStream, /, code: bool = False
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.uint64]]:
    """The tokens of all texts, with their hashes (docs/tokens.md).

    Args:
        code: code tokens instead, in which every operator is a token too.

    Returns (offsets, starts, ends, hashes), t being the number of all tokens:
        offsets: int64 of shape (n + 1,); text i has the tokens offsets[i] to offsets[i + 1] - 1.
        starts, ends: int64 of shape (t,); half-open byte offsets into the UTF-8 of the token's own
            text, counted from that text's first byte.
        hashes: uint64 of shape (t,); of the case-folded token.

    MemoryError is also raised for a text of 4 GiB or more.
    """

def ngrams(
    texts: _ArrowArray | _ArrowStream, n: int, /, code: bool = False
) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """The hashes of the n-grams of each text (docs/tokens.md).

    A text of fewer than n tokens has one gram, of all its tokens; one without tokens has none.

    Args:
        n: tokens a gram, 1 or more; any n costs the same.
        code: grams of code tokens instead.

    Returns (offsets, hashes), g being the number of all grams:
        offsets: int64 of shape (n + 1,); text i has the grams offsets[i] to offsets[i + 1] - 1,
            in the order of the tokens they begin at.
        hashes: uint64 of shape (g,).

    ValueError is also raised for n < 1.
    """

def segments(
    texts: _ArrowArray | _ArrowStream, unit: Literal["paragraph", "line", "sentence"], /
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The lines, paragraphs or sentences of each text (cleanpipe/text.py defines them).

    Returns (offsets, starts, ends), s being the number of all units:
        offsets: int64 of shape (n + 1,); text i has the units offsets[i] to offsets[i + 1] - 1.
        starts, ends: int64 of shape (s,); half-open byte offsets into the UTF-8 of the unit's own
            text, counted from that text's first byte.

    ValueError is also raised for another unit, MemoryError for a text of 4 GiB or more.
    """

def minhash(
    texts: _ArrowArray | _ArrowStream,
    n: int | NDArray[np.int64],
    a: NDArray[np.uint32],
    b: NDArray[np.uint32],
    /,
) -> NDArray[np.uint32]:
    """The MinHash signature of the n-grams of each text, as datasketch's `affine32` scheme has it.

    Value k is the minimum over the grams of (a[k] * fmix32(h) + b[k]) mod 2**32, where h is the
    low half of the gram's hash, as `ngrams` gives it. A text without tokens has no signature:
    all 0xFFFFFFFF, which matches nothing.

    Args:
        n: tokens a gram, 1 or more; any n costs the same. One for all texts, or int64 of shape
            (n,), contiguous: one for each.
        a, b: uint32 of shape (num_perm,), C-contiguous, num_perm 1 or more; a is odd.

    Returns uint32 of shape (n, num_perm), a row a text.

    TypeError is also raised where a or b is not uint32 or n neither an int nor int64, ValueError
    for n < 1 and for other shapes, MemoryError for a text of 4 GiB or more.
    """

def sketches(
    texts: _ArrowArray | _ArrowStream,
    n: int | NDArray[np.int64],
    a: NDArray[np.uint32],
    b: NDArray[np.uint32],
    /,
) -> tuple[NDArray[np.uint32], NDArray[np.uint64], NDArray[np.int64]]:
    """What near-duplicates are grouped by, in one pass over each text.

    Args:
        n, a, b: as `minhash` takes them.

    Returns (signatures, digests, tokens):
        signatures: uint32 of shape (n, num_perm), those of `minhash`; but a text of fewer than 2n
            tokens has none, all 0xFFFFFFFF: its set of n-grams is too small to compare.
        digests: uint64 of shape (n, 2); the 128-bit digest of each text's set of n-grams and n
            (cleanpipe/native/sets.h), of short texts too. Equal for equal sets; by chance, among
            10 billion different sets any two are equal with 1.5e-19.
        tokens: int64 of shape (n,); the number of tokens.

    Raises what `minhash` does.
    """

def ngram_sets(
    texts: _ArrowArray | _ArrowStream, n: int | NDArray[np.int64], /
) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """The set of the n-grams of each text: the hashes that `ngrams` gives, each once, ascending.

    Args:
        n: as `minhash` takes it.

    Returns (offsets, hashes), s being the sum of the sets' sizes:
        offsets: int64 of shape (n + 1,); text i has the set offsets[i] to offsets[i + 1] - 1.
        hashes: uint64 of shape (s,).

    TypeError is also raised where n is neither an int nor int64, ValueError for n < 1 and for
    another shape, MemoryError for a text of 4 GiB or more.
    """

def jaccard(
    offsets: NDArray[np.int64],
    hashes: NDArray[np.uint64],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    /,
) -> NDArray[np.float64]:
    """The Jaccard similarity |A & B| / |A | B| of pairs of sets, exact but for one rounding.

    An empty set is similar to nothing: 0.0, with another empty one too.

    Args:
        offsets, hashes: of s sets, as `ngram_sets` gives them; all arrays are contiguous, and not
            to be written to meanwhile.
        left, right: int64 of shape (p,); the sets of each pair, 0 to s - 1.

    Returns float64 of shape (p,), 0.0 to 1.0.

    TypeError is raised for arrays of another type, ValueError for other shapes, a set that is not
    strictly ascending or not within `hashes`, and a pair of sets that are not there.
    """

def agreement(
    signatures: NDArray[np.uint32], left: NDArray[np.int64], right: NDArray[np.int64], /
) -> NDArray[np.float64]:
    """The share of values in which the signatures of pairs of texts agree.

    It estimates the Jaccard similarity of their sets of n-grams (Broder 1997, "On the resemblance
    and containment of documents"), with a standard error of at most 0.5 / sqrt(num_perm). A text
    without a signature agrees with nothing: 0.0, with another such too.

    Args:
        signatures: uint32 of shape (n, num_perm), num_perm 1 or more; all arrays are contiguous,
            and not to be written to meanwhile.
        left, right: int64 of shape (p,); the rows of each pair, 0 to n - 1.

    Returns float64 of shape (p,), 0.0 to 1.0.

    TypeError is raised for arrays of another type, ValueError for other shapes and a pair of rows
    that are not there.
    """

def band_keys(signatures: NDArray[np.uint32], bands: int, rows: int, /) -> NDArray[np.uint64]:
    """The keys of each signature's bands, as cleanpipe/native/minhash.h defines them.

    Band i has the values [i * rows, (i + 1) * rows); values behind the last band count for
    nothing. Equal values in a band give equal keys there; different ones, and different bands,
    do with the chance of random 64-bit numbers. The mark of a text without a signature gets keys
    like any other: leave those rows out.

    Args:
        signatures: uint32 of shape (n, num_perm), C-contiguous.
        bands, rows: 1 or more, bands * rows <= num_perm.

    Returns uint64 of shape (n, bands).

    TypeError is raised where signatures is not uint32, ValueError for other shapes and numbers.
    """

def index_build(
    hashes: NDArray[np.uint64], values: NDArray[np.uint32] | None, n: int, /, code: bool = False
) -> NDArray[np.uint8]:
    """The bytes of an n-gram index (cleanpipe/native/index.h), its checksum left zero.

    Args:
        hashes: uint64 of shape (count,), contiguous and strictly ascending.
        values: uint32 of shape (count,), or None for an index without values.
        n: tokens a gram, 1 to 2**32 - 1.
        code: whether texts are to be read as code tokens, as the hashes were.

    Returns uint8: 11 bytes a gram, 15 with values, and under 100 more.

    ValueError is also raised for hashes that do not ascend or are 2**32 or more, for another
    number of values, and for another n; TypeError for arrays of another type.
    """

def index_header(index: ReadableBuffer, /) -> tuple[int, int, int, int, bool]:
    """(n, count, byte offset of the hashes, that of the values or -1, code) of an index.

    In constant time: the content is not looked at.

    ValueError is raised where the bytes are no index, are too few or too many, or are of another
    format, token table or Unicode version.
    """

def index_query(
    indexes: tuple[ReadableBuffer, ...], texts: _ArrowArray | _ArrowStream, /
) -> tuple[
    tuple[
        NDArray[np.int64],
        NDArray[np.int64],
        NDArray[np.int64],
        NDArray[np.int64],
        NDArray[np.uint32],
    ],
    ...,
]:
    """The n-grams of each text that are in each of some indexes; n is that of the index.

    The texts are read once, as the kind of tokens that all of the indexes have. A text of fewer
    than n tokens has one gram, of all its tokens; one without tokens has none.

    Args:
        indexes: the bytes of each: bytes, a memory map, any contiguous buffer. Any content is
            safe; that of an index that was tampered with may give wrong hits.

    Returns for each index (offsets, positions, starts, ends, ordinals), h being the number of its
    hits:
        offsets: int64 of shape (n + 1,); text i has the hits offsets[i] to offsets[i + 1] - 1, in
            the order of the tokens they begin at.
        positions: int64 of shape (h,); the number of the gram's first token in its text, from 0.
        starts, ends: int64 of shape (h,); half-open byte offsets of the gram in its text.
        ordinals: uint32 of shape (h,); the gram's place among the index's hashes.

    ValueError is also raised as by index_header, for an index found to be damaged, and where some
    are of code tokens and others not; TypeError where one is no buffer.
    """

def ccnet_lines(
    texts: _ArrowArray | _ArrowStream, /
) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Each text as one line, as CCNet prepares it (cleanpipe/native/ccnet.h).

    Returns (offsets, bytes): int64 of shape (n + 1,), line i is bytes[offsets[i]:offsets[i + 1]],
    UTF-8. A null has none.
    """

def model_parts(
    texts: _ArrowArray | _ArrowStream,
    /,
    characters: int,
    stretch: int = 0,
    *,
    spaced: bool = False,
    lowered: bool = False,
) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """The part of each text that a fastText model is given (cleanpipe/native/parts.h).

    Args:
        characters: how many code points that is, at most; 0 for all.
        stretch: code points of one of the stretches across the text. Default 0: its beginning.
        spaced: put a space on either side of Han and kana. Default False.
        lowered: lower case where more than half of the cased letters are capitals. Default False.

    Returns (offsets, bytes): int64 of shape (n + 1,), part i is bytes[offsets[i]:offsets[i + 1]],
    UTF-8, with one line feed, its last byte; empty where the part has no letter.

    Errors: ValueError for negative numbers.
    """

def prepared(
    texts: _ArrowArray | _ArrowStream, profile: str, vocabulary: NDArray[np.uint64], /
) -> tuple[
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int64],
    bytes,
]:
    """The sentences of texts as a language model's training text was prepared
    (cleanpipe/native/profiles.h).

    Args:
        profile: ``words`` or ``characters``.
        vocabulary: words and whether the model knows them, as :func:`vocabulary_with` gives it.

    Returns int64 arrays (lines, tokens, known, starts, stops, unseen, offsets) and bytes. The
    sentences of text i are the lines of bytes[lines[i]:lines[i + 1]], each with its line feed; it
    has tokens[i] tokens, of which known[i] are in the vocabulary as known. The words it lacks stand
    in bytes[starts:stops], each once; unseen[offsets[i]:offsets[i + 1]] are the tokens of text i
    that are one of these, by their number.

    Errors: ValueError for another profile, or what is no vocabulary.
    """

def vocabulary_with(
    vocabulary: NDArray[np.uint64],
    bytes: ReadableBuffer | NDArray[np.uint8],
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    known: NDArray[np.uint8],
    /,
) -> NDArray[np.uint64]:
    """The vocabulary and the words bytes[starts:stops], known where ``known`` is not 0.

    A vocabulary is uint64, its first number that of its words; 17 zeros are one of none. It means
    nothing in another process.

    Errors: ValueError where it is no vocabulary, or the words are not in the bytes.
    """

def passages(
    texts: _ArrowArray | _ArrowStream,
    documents: NDArray[np.int64],
    parts: NDArray[np.int64],
    seed_offsets: NDArray[np.int64],
    seeds: NDArray[np.int64],
    n: int,
    part_offsets: NDArray[np.int64],
    part_tokens: NDArray[np.uint64],
    part_weights: NDArray[np.uint32],
    gram_offsets: NDArray[np.int64],
    grams: NDArray[np.uint64],
    gram_positions: NDArray[np.uint32],
    gram_lengths: NDArray[np.uint8],
    need: NDArray[np.uint64],
    span: NDArray[np.uint32],
    /,
    code: bool = False,
) -> tuple[
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.uint64],
]:
    """Where parts of test items stand in texts, by coverage (docs/contamination.md).

    cleanpipe/native/passages.h says exactly what a passage is. There are c candidates, each a
    text and a part that are looked at together, and P parts.
    Arrays are of one dimension and contiguous; they may be read-only and at any address, as in a
    mapped file, and are not to be written to meanwhile.

    Args:
        documents: int64 of shape (c,), ascending; which text, 0 to n - 1.
        parts: int64 of shape (c,); which part, 0 to P - 1.
        seed_offsets: int64 of shape (c + 1,); candidate i has the seeds seed_offsets[i] to
            seed_offsets[i + 1] - 1.
        seeds: int64; tokens of the text at which an indexed n-gram of the part was found,
            ascending within a candidate.
        n: tokens an indexed n-gram, 1 or more.
        part_offsets: int64 of shape (P + 1,), into the next two.
        part_tokens, part_weights: uint64 and uint32; the hashes of a part's tokens and the
            weight of each.
        gram_offsets: int64 of shape (P + 1,), into the next three.
        grams, gram_positions, gram_lengths: uint64, uint32 and uint8; the hashes of a part's grams
            of 1 to 3 tokens, as `ngrams` gives them for n of their lengths, the token each begins
            at, and its length, ascending by (gram, position).
        need: uint64 of shape (P,); the least weight that a passage covers, 0 for no passage.
        span: uint32 of shape (P,); the most tokens in which that weight is to be found.
        code: the texts are read as code tokens.

    Returns (candidates, firsts, lasts, starts, ends, covered), p being the number of passages,
    in order of candidate and window (cleanpipe/native/passages.h):
        candidates: int64 of shape (p,); 0 to c - 1.
        firsts, lasts: int64 of shape (p,); the tokens of the text, both inclusive. Passages of
            one candidate mostly ascend, and may have a few tokens at their ends in common.
        starts, ends: int64 of shape (p,); half-open byte offsets in the text.
        covered: uint64 of shape (p,); the weight of the part's tokens that are covered.

    TypeError is also raised for arrays of another type; ValueError for n < 1 and for arrays that
    do not fit each other: other lengths, offsets, documents, parts, seeds or positions out of
    range, as far as a candidate uses them; MemoryError for a text of 4 GiB or more that has
    candidates.
    """

def replaced(texts: _ArrowArray | _ArrowStream, /) -> NDArray[np.int64]:
    """The number of ill-formed UTF-8 sequences in each text.

    That is how many U+FFFD a decoder would put in their place, one per maximal subpart, as
    Unicode recommends and `bytes.decode(errors="replace")` does. A U+FFFD that is in the text
    already does not count.

    Returns int64 of shape (n,).
    """

def plain_texts(
    texts: _ArrowArray | _ArrowStream, /
) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """The texts as they are shown (cleanpipe/native/plain.h): HTML tags blank, entities and \\uXXXX
    their characters, each byte in its place. What is left is not looked at again.

    Returns (offsets, bytes): int64 of shape (n + 1,), text i is bytes[offsets[i]:offsets[i + 1]],
    as long as it was; a null has none. All else stays in its place, ill-formed bytes too.
    """

def email_spans(
    texts: _ArrowArray | _ArrowStream, /
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The e-mail addresses in each text, as docs/measures.md has them, but in tags and URLs too,
    and without the stops and hyphens that one would begin with.

    Returns (offsets, starts, ends), e being the number of all addresses:
        offsets: int64 of shape (n + 1,); text i has those from offsets[i] to offsets[i + 1] - 1.
        starts, ends: int64 of shape (e,); half-open byte offsets into the UTF-8 of the address's
            own text, ascending, not overlapping.
    """
