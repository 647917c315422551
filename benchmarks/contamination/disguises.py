"""What may happen to a test item's text before it stands in a document.

A disguise is a function of a text and of chance, and changes nothing else. Where it finds nothing
to change it gives the text back as it is.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

Disguise = Callable[[str, random.Random], str]

_ASCII_WORD = str.maketrans(
    {chr(code): chr(code + 0xFEE0) for code in range(0x30, 0x7B) if chr(code).isalnum()}
)
_WIDE_MARKS: dict[str, str] = dict(zip(",.;:!?()[]", "，。；：！？（）［］", strict=True))
_NARROW_MARKS = {wide: mark for mark, wide in _WIDE_MARKS.items()} | {"、": ","}
_HAN = "\u3400-\u4dbf\u4e00-\u9fff"
_MARK = re.compile(r"[^\w\s]")
_OUTER_MARK = re.compile(r"(?<![^\W_])[^\w\s]|[^\w\s](?![^\W_])")
_PHRASE = re.compile(rf"[{_HAN}]{{2,4}}|(?:[^\W{_HAN}]+[ ]){{0,2}}[^\W{_HAN}]+")
_LINE = re.compile(r"^(?=.*\S).*$", re.M)


def verbatim(text: str, chance: random.Random) -> str:
    return text


# --- case


def upper(text: str, chance: random.Random) -> str:
    return text.upper()


def lower(text: str, chance: random.Random) -> str:
    return text.lower()


def title(text: str, chance: random.Random) -> str:
    return text.title()


def random_case(text: str, chance: random.Random) -> str:
    return "".join(chance.choice((letter.lower(), letter.upper())) for letter in text)


# --- punctuation


def marks_dropped(text: str, chance: random.Random) -> str:
    """Without marks, but for those between letters or digits: `3.14`, `don't`."""
    return _OUTER_MARK.sub("", text)


def marks_deleted(text: str, chance: random.Random) -> str:
    """Without any marks, so that what stood on both sides of one is one word: `314`, `dont`."""
    return _MARK.sub("", text)


def marks_doubled(text: str, chance: random.Random) -> str:
    return _MARK.sub(r"\g<0>\g<0>", text)


def marks_swapped(text: str, chance: random.Random) -> str:
    """Chinese marks for ASCII ones; in a text that has Chinese ones, ASCII ones for them."""
    marks = _NARROW_MARKS if any(mark in text for mark in _NARROW_MARKS) else _WIDE_MARKS
    return "".join(marks.get(letter, letter) for letter in text)


def quotes_swapped(text: str, chance: random.Random) -> str:
    """All quotes of a text in another style: curly, straight, or guillemets."""
    other = [new for style in _QUOTES if (new := text.translate(style)) != text]
    return chance.choice(other) if other else text


_STYLES = ("”“”’‘’", '"' * 3 + "'" * 3, "»«»›‹›")
_QUOTES = tuple(str.maketrans("\"“”'‘’", style) for style in _STYLES)


# --- whitespace


def space_collapsed(text: str, chance: random.Random) -> str:
    """One line, one space."""
    return " ".join(text.split())


def space_doubled(text: str, chance: random.Random) -> str:
    return re.sub(r"\s", r"\g<0>\g<0>", text)


def space_no_break(text: str, chance: random.Random) -> str:
    return text.replace(" ", "\u00a0")


def space_tabs(text: str, chance: random.Random) -> str:
    return text.replace(" ", "\t")


def space_wrapped(text: str, chance: random.Random) -> str:
    """A line break about every 40 characters; between words, or between Chinese characters."""
    return _wrapped(text, chance, 40, "\n")


def space_between_characters(text: str, chance: random.Random) -> str:
    """Chinese with a space behind each character."""
    return re.sub(rf"[{_HAN}](?=\S)", r"\g<0> ", text)


def _wrapped(text: str, chance: random.Random, width: int, ending: str) -> str:
    pieces = re.findall(rf"[{_HAN}]|[^\s{_HAN}]+|\s+", text)
    out, column, most = "", 0, width
    for piece in pieces:
        if column >= most and (piece.isspace() or re.match(f"[{_HAN}]", piece)):
            out += ending
            column, most = 0, width + chance.randint(-5, 5)
            piece = piece.strip()
        out += piece
        column = 0 if "\n" in piece else column + len(piece)
    return out


# --- width


def full_width(text: str, chance: random.Random) -> str:
    """ASCII letters and digits as wide as a Chinese character."""
    return text.translate(_ASCII_WORD)


# --- markup


def md_emphasis(text: str, chance: random.Random) -> str:
    """Every fifth phrase of one to three words bold or italic."""
    return _around(text, chance, 0.2, lambda phrase: chance.choice(_EMPHASIS).format(phrase))


_EMPHASIS = ("**{}**", "*{}*", "_{}_", "__{}__", "***{}***")


def md_heading(text: str, chance: random.Random) -> str:
    """The first line is a heading."""
    return f"{'#' * chance.randint(1, 4)} {text}"


def md_list(text: str, chance: random.Random) -> str:
    """Every line is an item of a list."""
    bullet = chance.choice("-*+")
    return _LINE.sub(rf"{bullet} \g<0>", text)


def md_numbered(text: str, chance: random.Random) -> str:
    """Every line is an item of a numbered list."""
    lines = [line for line in text.splitlines() if line.strip()]
    return "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1))


def md_quote(text: str, chance: random.Random) -> str:
    """Quoted, in lines of about 60 characters."""
    return _LINE.sub(r"> \g<0>", _wrapped(text, chance, 60, "\n"))


def md_links(text: str, chance: random.Random) -> str:
    """Every twelfth phrase is a link, its address of four or five tokens behind it."""
    return _around(text, chance, 0.08, lambda phrase: f"[{phrase}](https://example.org/page-7)")


def html_paragraphs(text: str, chance: random.Random) -> str:
    """Every line is a paragraph."""
    return _LINE.sub(r"<p>\g<0></p>", text)


def html_spans(text: str, chance: random.Random) -> str:
    """Every twelfth phrase in a span with attributes, the text in a div."""
    style = '<span class="term hl" style="color: #333">'
    inner = _around(text, chance, 0.08, lambda phrase: f"{style}{phrase}</span>")
    return f'<div id="content">{inner}</div>'


def html_breaks(text: str, chance: random.Random) -> str:
    """`<br/>` about every 60 characters."""
    return (
        _wrapped(text, chance, 60, "<br/>\n")
        .replace("\n", "<br/>\n")
        .replace("<br/><br/>", "<br/>")
    )


def html_entities(text: str, chance: random.Random) -> str:
    """Quotes, apostrophes and `& < >` as entities, and every tenth space as `&nbsp;`."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = re.sub('["“”]', "&quot;", text)
    text = re.sub("['‘’]", "&#39;", text)
    return re.sub(" ", lambda _: "&nbsp;" if chance.random() < 0.1 else " ", text)


def _around(text: str, chance: random.Random, share: float, marked: Callable[[str], str]) -> str:
    """This share of the phrases marked, one at least."""
    places = [found.span() for found in _PHRASE.finditer(text)]
    if not places:
        return text
    chosen = chance.sample(places, max(1, round(share * len(places))))
    for start, end in sorted(chosen, reverse=True):
        text = text[:start] + marked(text[start:end]) + text[end:]
    return text


# --- words


def words_replaced(host: str, share: float = 0.1) -> Disguise:
    """This share of the words replaced by the host's; of Chinese, of the characters. One at least.

    Args:
        host: the document that the text will stand in.
    """
    words = sorted({word for word in host.split() if any(map(str.isalpha, word))})
    characters = sorted(set(re.findall(f"[{_HAN}]", host)))

    def disguise(text: str, chance: random.Random) -> str:
        chinese = len(re.findall(f"[{_HAN}]", text)) > len(text) / 4
        unit, new = (f"[{_HAN}]", characters) if chinese else (r"\S*[^\W_]\S*", words)
        places = [found.span() for found in re.finditer(unit, text)]
        if not places or len(new) < 2:
            return text
        for start, end in sorted(
            chance.sample(places, max(1, round(share * len(places)))), reverse=True
        ):
            other = chance.choice([word for word in new if word != text[start:end]])
            text = text[:start] + other + text[end:]
        return text

    return disguise


# --- programs


def code_indented(text: str, chance: random.Random) -> str:
    """Another indentation, and other line ends."""
    old = next(iter(re.findall(r"^([ \t]+)\S", text, re.M)), "    ")
    new = chance.choice([unit for unit in ("  ", "\t", "        ") if unit != old])

    def indented(found: re.Match[str]) -> str:
        depth, rest = divmod(len(found[0]), len(old))
        return new * depth + " " * rest

    lines = [re.sub(r"^[ \t]+", indented, line).rstrip() for line in text.splitlines()]
    return "\n".join(lines)


def code_commented(text: str, chance: random.Random) -> str:
    """A comment behind or above every fifth line of the program, never within a string."""
    out, quoted = [], False
    for line in text.splitlines():
        opens = (line.count('"""') + line.count("'''")) % 2 == 1
        if line.strip() and not quoted and not opens and chance.random() < 0.2:
            said = chance.choice(_COMMENTS)
            indent = re.match(r"\s*", line)
            if chance.random() < 0.5 and indent:
                out.append(f"{indent[0]}# {said}")
            else:
                line = f"{line}  # {said}"
        quoted ^= opens
        out.append(line)
    return "\n".join(out)


_COMMENTS = ("see above", "the result so far", "note the order", "fast enough", "as in the text")


def code_fenced(text: str, chance: random.Random) -> str:
    """In a block of mark-down."""
    return f"```python\n{text.rstrip()}\n```"


# --- choices


def listed(choices: Sequence[str], style: str) -> str:
    """The choices, one a line, numbered as `A. `, `A) `, `(1) `, `a. ` or `1. `."""
    letter = style.strip("().: ")
    first = ord(letter)
    before, after = style.split(letter)
    return "\n".join(f"{before}{chr(first + at)}{after}{one}" for at, one in enumerate(choices))


STYLES = ("A) ", "(1) ", "a. ", "1. ", "(A) ")


TEXT: dict[str, Disguise] = {
    "case: upper": upper,
    "case: lower": lower,
    "case: title": title,
    "case: random": random_case,
    "punctuation: dropped": marks_dropped,
    "punctuation: deleted in words too": marks_deleted,
    "punctuation: doubled": marks_doubled,
    "punctuation: wide or narrow": marks_swapped,
    "punctuation: quotes": quotes_swapped,
    "whitespace: collapsed": space_collapsed,
    "whitespace: doubled": space_doubled,
    "whitespace: no-break": space_no_break,
    "whitespace: tabs": space_tabs,
    "whitespace: lines of 40": space_wrapped,
    "whitespace: between characters": space_between_characters,
    "width: full": full_width,
    "markdown: emphasis": md_emphasis,
    "markdown: heading": md_heading,
    "markdown: list": md_list,
    "markdown: numbered list": md_numbered,
    "markdown: quote": md_quote,
    "markdown: links": md_links,
    "html: paragraphs": html_paragraphs,
    "html: spans": html_spans,
    "html: breaks": html_breaks,
    "html: entities": html_entities,
}
"""Of prose: questions and answers."""

CODE: dict[str, Disguise] = {
    "code: indented anew": code_indented,
    "code: comments": code_commented,
    "code: fenced": code_fenced,
}
"""Of programs."""
