"""The measures of docs/measures.md once more, slow and obvious, sharing nothing with the kernels.

Tokens come from `reference_tokens`, units from `reference_segments`, Unicode's properties from
`ucd.txt`. A text is a `str` without surrogates; ill-formed UTF-8 is U+FFFD in it already.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import cache, lru_cache, partial
from itertools import pairwise
from typing import NamedTuple

from . import reference_segments as segments
from . import reference_tokens
from .reference_segments import WHITESPACE
from .reference_tokens import SETS


def ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


# ---- words used there ----


def words(text: str) -> list[str]:
    """Whitespace words."""
    return re.findall(f"[^{WHITESPACE}]+", text)


def lines(text: str) -> list[str]:
    return [line.strip(WHITESPACE) for line in segments.lines(text)]


def paragraphs(text: str) -> list[str]:
    return [paragraph.strip(WHITESPACE) for paragraph in segments.paragraphs(text)]


@cache
def kinds(character: str) -> set[str]:
    """The sets of `ucd.txt` that a character is in."""
    return {name for name, codes in SETS.items() if ord(character) in codes}


def visible(text: str) -> int:
    hidden = {"whitespace", "Cf", "variation_selector"}
    return sum(not kinds(character) & hidden for character in text)


def letters(text: str) -> int:
    return sum("L" in kinds(character) for character in text)


def capitals(text: str) -> int:
    return sum("Lu" in kinds(character) for character in text)


def digits(text: str) -> int:
    return sum("Nd" in kinds(character) for character in text)


def punctuation(text: str) -> int:
    return sum("P" in kinds(character) for character in text)


def symbols(text: str) -> int:
    return sum("S" in kinds(character) for character in text)


def marks(text: str) -> int:
    found = [kinds(character) for character in text]
    return sum(bool(sets & {"Mn", "Mc"}) and "variation_selector" not in sets for sets in found)


class Token(NamedTuple):
    hash: int
    folded: str
    length: int  # characters


@lru_cache(maxsize=1)
def tokens(text: str) -> list[Token]:
    data = text.encode()
    return [
        Token(token.hash, token.folded, len(data[token.start : token.end].decode()))
        for token in reference_tokens.tokens(text)
    ]


# ---- counts and characters ----


def mean_word_length(text: str) -> float:
    return ratio(sum(len(word) for word in words(text)), len(words(text)))


def symbol_share(text: str) -> float:
    return ratio(punctuation(text) + symbols(text), visible(text))


def punctuation_share(text: str) -> float:
    return ratio(punctuation(text), visible(text))


def digit_share(text: str) -> float:
    return ratio(digits(text), visible(text))


def upper_share(text: str) -> float:
    return ratio(capitals(text), letters(text))


def letter_share(text: str) -> float:
    return ratio(letters(text) + marks(text), visible(text))


# ---- words and lines ----

STOP_WORDS = ("the", "be", "to", "of", "and", "that", "have", "with")
BULLETS = tuple("•‣⁃◦∙▪▫■□●○▶◀・")
SPACED_BULLETS = tuple("-*–")
TERMINAL = tuple(".!?" + "。！？…｡‼⁇⁈⁉।॥؟۔։።၊။។៕" + "\"'”’»›」』〞＂＇")


def hash_word_ratio(text: str) -> float:
    return ratio(text.count("#"), len(words(text)))


def ellipsis_word_ratio(text: str) -> float:
    return ratio(text.count("...") + text.count("…"), len(words(text)))


def is_bullet(line: str) -> bool:
    if line.startswith(BULLETS):
        return True
    return line.startswith(SPACED_BULLETS) and (len(line) == 1 or line[1] in WHITESPACE)


def bullet_line_share(text: str) -> float:
    return ratio(sum(is_bullet(line) for line in lines(text)), len(lines(text)))


def ellipsis_line_share(text: str) -> float:
    return ratio(sum(line.endswith(("...", "…")) for line in lines(text)), len(lines(text)))


def alphabetic_word_share(text: str) -> float:
    return ratio(sum(letters(word) > 0 for word in words(text)), len(words(text)))


def stop_words(text: str) -> float:
    folded = {token.folded for token in tokens(text)}
    return sum(word in folded for word in STOP_WORDS)


def terminal_punctuation_line_share(text: str) -> float:
    return ratio(sum(line.endswith(TERMINAL) for line in lines(text)), len(lines(text)))


def short_line_share(text: str) -> float:
    return ratio(sum(len(line) < 30 for line in lines(text)), len(lines(text)))


def newline_word_ratio(text: str) -> float:
    return ratio(text.count("\n"), len(words(text)))


def repeats(units: list[str]) -> list[str]:
    """Those that are equal to an earlier one."""
    met: set[str] = set()
    found = []
    for unit in units:
        if unit in met:
            found.append(unit)
        met.add(unit)
    return found


def duplicate_share(units: Callable[[str], list[str]], text: str) -> float:
    return ratio(len(repeats(units(text))), len(units(text)))


def duplicate_character_share(units: Callable[[str], list[str]], text: str) -> float:
    return ratio(sum(map(len, repeats(units(text)))), sum(map(len, units(text))))


# ---- datatrove's words ----


def sign(character: str) -> str:
    """What a character is to datatrove's words: itself, if in ASCII or one of a few others."""
    if character.isascii() and not kinds(character) & {"whitespace"}:
        return character if character.isprintable() else "\0"
    if character in "…–—’":
        return character
    for name, found in (("whitespace", " "), ("L", "é"), ("Nd", "１"), ("P", "§"), ("S", "§")):
        if name in kinds(character):
            return found
    return "\0"


LETTER, LETTER_OR_DIGIT = "[A-Za-zé]", "[A-Za-zé0-9１]"
MARK = r"[!-/:-@\[-`{-~…–—’§]"
FRONT = re.compile(rf"\.\.+|\.$|(?![-/@~|^\\+.]){MARK}")
BEHIND = re.compile(rf"(?:(?<!\.)\.\.+|(?<!(?<![A-Z])[A-Z])(?<!\.)\.|(?![-/@~|^\\+=$.]){MARK})$")
ADDRESS = re.compile(
    r"(?:[A-Za-z][A-Za-z0-9]*://)?(?:[A-Za-z0-9._%+-]+@)?"
    r"(?:[A-Za-z0-9-]+\.)+[a-z][a-z]+(?:[:/?#].*)?"
)
DIVIDER = re.compile(
    r"\.\.+|…|(?<=[0-9])[-+*^](?=[0-9])|(?<=[a-z])\.(?=[A-Z])"
    rf"|(?<={LETTER}),(?={LETTER})"
    rf"|(?<={LETTER_OR_DIGIT})[-–—~]+(?={LETTER})|(?<={LETTER_OR_DIGIT})[:<>=/](?={LETTER})"
)
CONTRACTION = re.compile(r"(?<=.)(?:n['’]t|['’](?:s|m|re|ve|ll|d))$", re.IGNORECASE | re.ASCII)


def cuts(signs: str) -> list[int]:
    """Where the words of a whitespace word end, by the signs of its characters."""
    front = [0]
    while found := FRONT.match(signs[front[-1] :]):
        front.append(front[-1] + found.end())
    begin, behind = front[-1], [len(signs)]
    while found := BEHIND.search(signs[begin : behind[-1]]):
        behind.append(begin + found.start())
    inside = signs[begin : behind[-1]]
    between: list[int] = []
    if not ADDRESS.fullmatch(inside):
        for divider in DIVIDER.finditer(inside):
            between += divider.span()
    last = between[-1] if between else 0
    if found := CONTRACTION.search(inside[last:]):
        between.append(last + found.start())
    return sorted({*front, *(begin + at for at in between), *behind})


@lru_cache(maxsize=1)
def datatrove_words(text: str) -> list[str]:
    found = []
    for word in words(text):
        ends = cuts("".join(map(sign, word)))
        found += [word[begin:end] for begin, end in pairwise(ends)]
    return found


def bare(character: str) -> bool:
    if "P" in kinds(character):
        return character not in BULLETS
    return "S" in kinds(character) and character.isascii()


def wordy(text: str) -> list[str]:
    """Those that are not punctuation and symbols of ASCII alone."""
    return [word for word in datatrove_words(text) if not all(map(bare, word))]


def datatrove_mean_word_length(text: str) -> float:
    return ratio(sum(map(len, wordy(text))), len(wordy(text)))


def datatrove_hash_word_ratio(text: str) -> float:
    return ratio(text.count("#"), len(datatrove_words(text)))


def datatrove_ellipsis_word_ratio(text: str) -> float:
    return ratio(text.count("...") + text.count("…"), len(datatrove_words(text)))


def datatrove_alphabetic_word_share(text: str) -> float:
    every = datatrove_words(text)
    return ratio(sum(letters(word) > 0 for word in every), len(every))


def datatrove_stop_words(text: str) -> float:
    return len(set(STOP_WORDS) & set(datatrove_words(text)))


# ---- repeated n-grams ----

Gram = tuple[int, ...]


def ngrams(n: int, text: str) -> list[Gram]:
    """The n-gram that begins at each token, by the hashes of its tokens."""
    hashes = [token.hash for token in tokens(text)]
    return [tuple(hashes[at : at + n]) for at in range(len(hashes) - n + 1)]


def length_at(n: int, at: int, text: str) -> int:
    """Characters of the tokens of the n-gram that begins at a token."""
    return sum(token.length for token in tokens(text)[at : at + n])


def characters_at(places: set[int], text: str) -> int:
    """Characters of the tokens at these places."""
    return sum(token.length for at, token in enumerate(tokens(text)) if at in places)


def characters_in_tokens(text: str) -> int:
    return sum(token.length for token in tokens(text))


def top(grams: list[Gram]) -> Gram:
    """The most frequent one, of equally frequent ones the first."""
    counts = Counter(grams)
    most = max(counts.values())
    return next(gram for gram in grams if counts[gram] == most)


def top_share(n: int, text: str) -> float:
    grams = ngrams(n, text)
    if not grams:
        return 0
    most_frequent = top(grams)
    inside: set[int] = set()
    for at, gram in enumerate(grams):
        if gram == most_frequent:
            inside.update(range(at, at + n))
    return ratio(characters_at(inside, text), characters_in_tokens(text))


def duplicate_gram_share(n: int, text: str) -> float:
    grams = ngrams(n, text)
    counts = Counter(grams)
    inside: set[int] = set()
    for at, gram in enumerate(grams):
        if counts[gram] > 1:
            inside.update(range(at, at + n))
    return ratio(characters_at(inside, text), characters_in_tokens(text))


def datatrove_top_share(n: int, text: str) -> float:
    every = datatrove_words(text)
    grams = [tuple(every[at : at + n]) for at in range(len(every) - n + 1)]
    if not grams:
        return 0
    gram, times = Counter(grams).most_common(1)[0]
    return ratio(times * len(" ".join(gram)), len(text))


def datatrove_duplicate_share(n: int, text: str) -> float:
    every = datatrove_words(text)
    met: set[tuple[str, ...]] = set()
    found = at = 0
    while at < len(every) - n + 1:
        gram = tuple(every[at : at + n])
        if gram in met:
            found += len("".join(gram))
            at += n
        else:
            met.add(gram)
            at += 1
    return ratio(found, len(text))


def dolma_top_share(n: int, text: str) -> float:
    grams = ngrams(n, text)
    if not grams:
        return 0
    length = length_at(n, grams.index(top(grams)), text)
    return ratio(grams.count(top(grams)) * length, sum(len(word) for word in words(text)))


def dolma_duplicate_share(n: int, text: str) -> float:
    grams = ngrams(n, text)
    counts = Counter(grams)
    lengths = [length_at(n, at, text) for at in range(len(grams))]
    repeated = [length for gram, length in zip(grams, lengths, strict=True) if counts[gram] > 1]
    return ratio(sum(repeated), sum(lengths))


def span_repeats(text: str) -> float:
    hashes = [token.hash for token in tokens(text)]
    most = 0
    for size in range(1, 14):
        for at in range(len(hashes) - size + 1):
            times, span = 1, hashes[at : at + size]
            while hashes[at + times * size : at + (times + 1) * size] == span:
                times += 1
            most = max(most, times)
    return most


# ---- markup and links ----

TAG = re.compile(r"<(?:/?[A-Za-z]|!--|![A-Za-z])[^<>]*>")
ENTITY = re.compile(r"&(?:[A-Za-z][A-Za-z0-9]{1,31}|#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6});")
URL = re.compile(
    r"(?<![A-Za-z0-9])(https?://|ftp://|www\.)([A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]+)",
    re.ASCII | re.IGNORECASE,
)
LABELS = re.compile(r"[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*")


def local_length(text: str, at: int, free: int) -> int:
    """How many characters before the `@` at this place belong to its address."""
    length = 0
    while (
        length < 64 and at - length > free and re.match(r"[A-Za-z0-9._%+-]", text[at - length - 1])
    ):
        length += 1
    return length


def domain(text: str, at: int) -> str:
    """The longest one of whole labels that begins at this place, or nothing."""
    run = LABELS.match(text, at)
    labels = run[0].split(".") if run else []
    while labels:
        name = ".".join(labels)
        if len(labels) >= 2 and len(name) <= 253 and re.fullmatch("[A-Za-z]{2,}", labels[-1]):
            return name
        labels.pop()
    return ""


class Found(NamedTuple):
    kind: str
    start: int
    end: int


def found_at(text: str, at: int, free: int) -> Found | None:
    """What is found at this place, where all before `free` belongs to what was found before."""
    if tag := TAG.match(text, at):
        return Found("tag", *tag.span())
    if entity := ENTITY.match(text, at):
        return Found("entity", *entity.span())
    if url := URL.match(text, at):
        behind = url[2].rstrip(".,:;!?'")
        return Found("url", at, url.end(1) + len(behind)) if behind else None
    if text[at] == "@":
        local, name = local_length(text, at, free), domain(text, at + 1)
        return Found("email", at - local, at + 1 + len(name)) if local and name else None
    return None


@lru_cache(maxsize=1)
def everything(text: str) -> list[Found]:
    every: list[Found] = []
    at = free = 0
    while at < len(text):
        one = found_at(text, at, free)
        if one:
            every.append(one)
            at = free = one.end
        else:
            at += 1
    return every


def number_of(kind: str, text: str) -> float:
    return sum(one.kind == kind for one in everything(text))


def characters_in(wanted: tuple[str, ...], text: str) -> float:
    return ratio(
        sum(one.end - one.start for one in everything(text) if one.kind in wanted), len(text)
    )


def token_share_in(wanted: tuple[str, ...], text: str) -> float:
    starts = [len(text.encode()[: t.start].decode()) for t in reference_tokens.tokens(text)]
    spans = [one for one in everything(text) if one.kind in wanted]
    inside = [at for at in starts if any(one.start <= at < one.end for one in spans)]
    return ratio(len(inside), len(starts))


# ---- left-over script and style ----

BLANKS = r"[ \t\v\f\r]*"
NAME = r"[A-Za-z0-9_$]"
ALONE = r"(?<![A-Za-z0-9_$.\x80-\U0010ffff])"
FUNCTION = re.compile(
    rf"{ALONE}function(?:[ \t\v\f\r]+{NAME}*)?{BLANKS}"
    rf"\((?:{BLANKS}{NAME}*{BLANKS},)*{BLANKS}{NAME}*{BLANKS}\){BLANKS}\{{"
)
MEMBER = re.compile(rf"{ALONE}(?:document|window)\.(?:{NAME}|\.)+{BLANKS}[(\[=]")
DECLARATION = re.compile(rf"(?:var|let|const)[ \t\v\f\r]+{NAME}+{BLANKS}=[^=]")
ARROW = re.compile(rf"\){BLANKS}=>{BLANKS}\{{$")
CALLS = ("jQuery(", "gtag(", "ga(", "fbq(", "_gaq.push(", "_hmt.push(", "dataLayer.push(")
ADVERTISEMENTS = ("googletag.", "(adsbygoogle", "adsbygoogle.push(")
AT_RULE = re.compile(
    r"@(?:media|import|charset|font-face|keyframes|supports|page|namespace|-webkit-keyframes|"
    r"-moz-keyframes|-o-keyframes|-ms-viewport|viewport)(?![A-Za-z0-9_$-])"
)
FAMILIES = """-moz- -ms- -o- -webkit- align- animation- background- border- box- flex- font- grid-
justify- letter- line- list- margin- max- min- outline- overflow- padding- pointer- table- text-
transform- transition- vertical- white- word- z-"""
PROPERTIES = """animation background border bottom clear clip color content cursor direction display
filter flex float font height left margin opacity order outline overflow padding position right src
top transform transition visibility width zoom"""
SELECTOR = re.compile(r"""[A-Za-z0-9_\-.#:+~>*\[\]="'()%@, \t\v\f\r]+\{""")
SET = re.compile(rf"([A-Za-z-]+){BLANKS}:([^;}}]*)")


def sets_a_property(text: str) -> bool:
    found = SET.match(text)
    if not found:
        return False
    name, values = found[1], re.findall(r"[^ \t\v\f\r]+", found[2])
    if name not in PROPERTIES.split() and not name.startswith(tuple(FAMILIES.split())):
        return False
    if "-" in name:
        return bool(values)
    # What comes first decides: a sign that words have not, or a letter beyond ASCII.
    for character in "".join(values):
        if not character.isascii():
            return False
        if not re.match("[A-Za-z,.-]", character):
            return True
    return len(values) == 1


def is_residue(line: str) -> bool:
    last = line[-1]
    if re.fullmatch(r"(?:CDATA|[/*<>!\[\] -])+", line):
        marks = (
            "CDATA[" in line
            or "]]>" in line
            or ("//" in line and ("<!--" in line or "-->" in line))
        )
        if marks and last in ">/[-":
            return True
    if last not in ";{}),([":
        return False
    selector = SELECTOR.match(line)
    return bool(
        (last == ";" and line.startswith(("})", "}(")))
        or (DECLARATION.match(line))
        or line.startswith((*CALLS, *ADVERTISEMENTS))
        or (last != ")" and line.startswith("$("))
        or (last != ")" and AT_RULE.match(line) and (last != "," or "(" in line))
        or ARROW.search(line)
        or (last in ";}" and sets_a_property(line))
        or (
            last in ";}{"
            and selector
            and selector[0] != "{"
            and (
                sets_a_property(line[selector.end() :].lstrip(" \t\v\f\r"))
                or (
                    selector.end() == len(line)
                    and re.match(r"[.#][A-Za-z_-]", line)
                    and "=" not in line
                    and not line.startswith("#define")
                )
            )
        )
        or FUNCTION.search(line)
        or (last != ")" and MEMBER.search(line))
    )


def residue_lines(text: str) -> int:
    return sum(is_residue(line) for line in lines(text))


REFERENCE: dict[str, Callable[[str], float]] = {
    "characters": len,
    "tokens": lambda text: len(tokens(text)),
    "lines": lambda text: len(lines(text)),
    "sentences": lambda text: len(segments.sentences(text)),
    "paragraphs": lambda text: len(paragraphs(text)),
    "whitespace_words": lambda text: len(words(text)),
    "mean_word_length": mean_word_length,
    "symbol_share": symbol_share,
    "punctuation_share": punctuation_share,
    "digit_share": digit_share,
    "upper_share": upper_share,
    "letter_share": letter_share,
    "hash_word_ratio": hash_word_ratio,
    "ellipsis_word_ratio": ellipsis_word_ratio,
    "bullet_line_share": bullet_line_share,
    "ellipsis_line_share": ellipsis_line_share,
    "alphabetic_word_share": alphabetic_word_share,
    "stop_words": stop_words,
    "terminal_punctuation_line_share": terminal_punctuation_line_share,
    "short_line_share": short_line_share,
    "newline_word_ratio": newline_word_ratio,
    "duplicate_line_share": partial(duplicate_share, lines),
    "duplicate_line_character_share": partial(duplicate_character_share, lines),
    "duplicate_paragraph_share": partial(duplicate_share, paragraphs),
    "duplicate_paragraph_character_share": partial(duplicate_character_share, paragraphs),
    "datatrove_words": lambda text: len(wordy(text)),
    "datatrove_mean_word_length": datatrove_mean_word_length,
    "datatrove_hash_word_ratio": datatrove_hash_word_ratio,
    "datatrove_ellipsis_word_ratio": datatrove_ellipsis_word_ratio,
    "datatrove_alphabetic_word_share": datatrove_alphabetic_word_share,
    "datatrove_stop_words": datatrove_stop_words,
    **{f"top_{n}_gram_share": partial(top_share, n) for n in (2, 3, 4)},
    **{f"duplicate_{n}_gram_share": partial(duplicate_gram_share, n) for n in range(5, 11)},
    **{f"datatrove_top_{n}_gram_share": partial(datatrove_top_share, n) for n in (2, 3, 4)},
    **{
        f"datatrove_duplicate_{n}_gram_share": partial(datatrove_duplicate_share, n)
        for n in range(5, 11)
    },
    **{f"dolma_top_{n}_gram_share": partial(dolma_top_share, n) for n in (2, 3, 4)},
    **{f"dolma_duplicate_{n}_gram_share": partial(dolma_duplicate_share, n) for n in range(5, 11)},
    "span_repeats": span_repeats,
    "html_tags": partial(number_of, "tag"),
    "html_entities": partial(number_of, "entity"),
    "curly_brackets": lambda text: text.count("{") + text.count("}"),
    "urls": partial(number_of, "url"),
    "email_addresses": partial(number_of, "email"),
    "links": lambda text: number_of("url", text) + number_of("email", text),
    "markup_share": partial(characters_in, ("tag", "entity")),
    "link_share": partial(characters_in, ("url", "email")),
    "markup_token_share": partial(token_share_in, ("tag", "entity")),
    "link_token_share": partial(token_share_in, ("url", "email")),
    "residue_lines": residue_lines,
    "residue_line_share": lambda text: ratio(residue_lines(text), len(lines(text))),
}
"""Every measure by name, in the order of the document."""
