"""Junk made from real text: eight kinds, each from a seed. Nothing of it is kept in the tree."""

from __future__ import annotations

import gzip
import html
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby

import msgspec
import numpy as np
import pyarrow as pa
from icu4py.breakers import WordBreaker

from benchmarks.measuring.texts import SHARED
from benchmarks.rules.reference import Half, half_of, reference
from cleanpipe.filters import phrases
from cleanpipe.filters.language import Language
from cleanpipe.units import Units

Piece = tuple[str, bool]
"""A part of what is planted, and whether it is junk."""


@dataclass(frozen=True)
class Material:
    """What junk of a language and half is made of.

    Attributes:
        language: ``en`` or ``zh``.
        documents: clean texts.
        titles: their first lines, where short.
        words: of these texts, of some length.
        menus: runs of short lines of real web pages: menus, lists of links, footers.
        urls: of real web pages.
        spam: phrases of blocklists.
    """

    language: str
    documents: Sequence[str]
    titles: Sequence[str]
    words: Sequence[str]
    menus: Sequence[Sequence[str]]
    urls: Sequence[str]
    spam: Sequence[str]

    @property
    def space(self) -> str:
        """What stands between words."""
        return "" if self.language == "zh" else " "


class _Page(msgspec.Struct):
    id: str
    text: str
    url: str | None = None


_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_LISTS = {
    "en": ("LDNOOBW/en",),
    "zh": ("LDNOOBW/zh", "zh_sensitive_lexicon/Vocabulary/广告类型.txt"),
}


@cache
def material(language: str, half: Half) -> Material:
    """Of the clean text of a half, and of the web pages that are in it."""
    documents = [one.text for one in reference(language, half)]
    first = (text.lstrip().split("\n", 1)[0].strip() for text in documents)
    words = {word for text in documents for word in words_of(text) if _is_keyword(word)}
    pages = _pages(language, half)
    folder = SHARED / "data" / "blocklists"
    spam = [phrase for name in _LISTS[language] for phrase in phrases.read(str(folder / name))[0]]
    return Material(
        language,
        documents,
        list(dict.fromkeys(title for title in first if 2 <= len(title) <= 60)),
        sorted(words),
        [menu for page in pages for menu in _menus(page.text)],
        [page.url for page in _pages("en", half) + pages if page.url and "://" in page.url],
        [phrase.strip(",，") for phrase in spam],
    )


def words_of(text: str) -> list[str]:
    """Words by ICU, what stands between them left out."""
    return [word for word in WordBreaker(text, "root") if word[:1].isalnum()]


def _is_keyword(word: str) -> bool:
    return word.isalpha() and (len(word) >= 5 if word.isascii() else len(word) in (2, 3, 4))


@cache
def _all_pages() -> Mapping[str, Sequence[_Page]]:
    decoder = msgspec.json.Decoder(_Page)
    pages: list[_Page] = []
    for path in sorted((SHARED / "data" / "corpus" / "web").glob("*.jsonl.gz")):
        with gzip.open(path) as file:
            pages += decoder.decode_lines(file.read())
    texts = pa.array([page.text for page in pages], pa.large_string())
    labels = Language(characters=None).measure(Units(texts))["language"].tolist()
    return {
        language: [page for page, label in zip(pages, labels, strict=True) if label == language]
        for language in ("en", "zh")
    }


def _pages(language: str, half: Half) -> list[_Page]:
    return [page for page in _all_pages()[language] if half_of(page.id) == half]


def _menus(text: str) -> list[list[str]]:
    """Runs of six or more lines of a few words that end no sentence."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    runs = ((short, list(run)) for short, run in groupby(lines, _is_short))
    return [run for short, run in runs if short and len(run) >= 6]


def _is_short(line: str) -> bool:
    # A Chinese word is two characters; longer lines are verses and blogs with a break a clause.
    most = 40 if line.isascii() else 16
    return len(line) <= most and line[-1] not in '.!?。！？…"”'


# --- The kinds -----------------------------------------------------------------------------

_NOTICES = {
    "en": (
        "We use cookies to give you the best experience on our website.",
        "By continuing to browse the site you are agreeing to our use of cookies.",
        "Accept all cookies | Reject all | Manage preferences",
        "Copyright © {year} {title}. All rights reserved.",
        "Terms of Use | Privacy Policy | Contact Us | Sitemap",
        "Sign up for our newsletter and never miss an update!",
        "Share this: Facebook Twitter Pinterest LinkedIn Email",
        "Skip to content",
        "You must be logged in to post a comment.",
        "Posted in {title} | {number} Comments",
        "Please enable JavaScript to view this page.",
        "Read more »",
        "Powered by WordPress | Theme by {word}",
        "Home » {title} » {word}",
        "« Previous 1 2 3 4 5 Next »",
    ),
    "zh": (
        "本网站使用Cookie以改善您的浏览体验，继续浏览即表示您同意我们使用Cookie。",
        "接受全部 | 拒绝 | 设置",
        "版权所有 © {year} {title} 保留所有权利",
        "京ICP备{number}号-1 京公网安备{number}号",
        "关于我们 | 联系我们 | 网站地图 | 友情链接 | 免责声明",
        "分享到：微信 新浪微博 QQ空间 豆瓣",
        "登录 注册 忘记密码 设为首页 加入收藏",
        "您的位置：首页 > {title} > 正文",
        "上一篇：{title}",
        "下一篇：{title}",
        "发表评论 请先登录后再发表评论",
        "责任编辑：{word} 阅读（{number}） 评论（{number}）",
        "扫描二维码，关注微信公众号",
        "上一页 1 2 3 4 5 下一页 尾页",
        "声明：本站内容来自网络，如有侵权请联系我们删除。",
    ),
}


def boilerplate(of: Material, chance: random.Random) -> list[Piece]:
    """A menu of a real page, then notices and a footer as pages have them."""
    menu = chance.choice(of.menus)
    start = chance.randrange(max(1, len(menu) - 25))
    notices = chance.sample(_NOTICES[of.language], chance.randint(4, 8))
    filled = [
        line.format(
            year=chance.randint(2005, 2024),
            number=chance.randint(10, 99999),
            title=chance.choice(of.titles),
            word=chance.choice(of.words),
        )
        for line in notices
    ]
    return [("\n".join([*menu[start : start + 25], *filled]), True)]


def link_list(of: Material, chance: random.Random) -> list[Piece]:
    """Titles and addresses, or addresses alone."""
    style = chance.choice(("{title} {url}", "{url}", "• {title}: {url}", "[{title}]({url})"))
    lines = [
        style.format(title=chance.choice(of.titles), url=chance.choice(of.urls))
        for _ in range(chance.randint(8, 30))
    ]
    return [("\n".join(lines), True)]


_SELLING = {
    "en": ("buy", "cheap", "best", "online", "discount", "free", "review", "sale"),
    "zh": ("批发", "价格", "厂家", "免费", "哪里有", "最便宜", "官网", "正品"),
}


def keyword_stuffing(of: Material, chance: random.Random) -> list[Piece]:
    """A few real words over and over with selling words, or very many with nothing between."""
    separator = chance.choice((", ", " ", " | ", "，" if of.language == "zh" else "; "))
    if chance.random() < 0.5:
        few = chance.sample(of.words, chance.randint(2, 4))
        phrases = [
            of.space.join(
                chance.sample([chance.choice(few), chance.choice(_SELLING[of.language])], 2)
            )
            for _ in range(chance.randint(40, 90))
        ]
    else:
        phrases = chance.choices(of.words, k=chance.randint(80, 200))
    return [(separator.join(phrases), True)]


def repeated_span(of: Material, chance: random.Random) -> list[Piece]:
    """1 to 13 words of a real text, 10 to 60 times in a row."""
    text = chance.choice(of.documents)
    words = words_of(text)[:10_000]
    length = chance.randint(1, 13)
    start = chance.randrange(max(1, len(words) - length))
    span = of.space.join(words[start : start + length])
    separator = chance.choice((" ", ". ", ", ", "\n") if of.space else ("", "，", "。", "\n"))
    return [(separator.join([span] * chance.randint(10, 60)), True)]


def markup_residue(of: Material, chance: random.Random) -> list[Piece]:
    """Tags and entities around little text, scripts, style sheets."""
    lines = []
    for _ in range(chance.randint(6, 20)):
        title, word, url = map(chance.choice, (of.titles, of.words, of.urls))
        number = chance.randint(1, 999)
        lines.append(
            chance.choice(
                (
                    f'<div class="item-{number}"><a href="{url}">{title}</a></div>',
                    f'<li id="m{number}"><span style="color:#{number:03x}">{word}</span></li>',
                    f"&nbsp;&nbsp;&raquo;&nbsp;{word}&nbsp;|&nbsp;&copy;{number}&nbsp;",
                    f'<img src="/img/{number}.jpg" alt="{html.escape(title)}" width="{number}"/>',
                    f"var s{number} = document.createElement('script'); s{number}.async = true;",
                    f"function f{number}(e) {{ return e.getAttribute('data-{number}') || null; }}",
                    f"if (typeof window.q{number} === 'undefined') {{ window.q{number} = []; }}",
                    f".nav-{number} {{ margin: 0 {number}px; padding: 2px; float: left; }}",
                    f"#box{number} a:hover {{ color: #f00; text-decoration: none !important; }}",
                    f"$('#tab{number}').on('click', function() {{ $(this).toggleClass('on'); }});",
                    f"window.dataLayer.push({{'event': 'view', 'id': {number}}});",
                )
            )
        )
    return [("\n".join(lines), True)]


def mojibake(of: Material, chance: random.Random) -> list[Piece]:
    """Text decoded as what it is not. Of English only the marks beyond ASCII are hurt."""
    text = _passage(of, chance)
    if of.language == "zh":
        wrong = chance.choice((_as_cp1252, _as_latin1, _gbk_as_latin1))
        return [(wrong(text), True)]
    text = re.sub(r'"([^"\n]*)"', "“\\1”", text).replace("'", "’").replace(" - ", " — ")
    text = re.sub(r"\be(?=[a-z]{3})", "é", text)  # Enough of it: plain ASCII cannot be hurt.
    wrong = chance.choice((_as_cp1252, _as_latin1))
    parts = re.split(r"([^\x00-\x7f]+)", text)
    return [(wrong(part), bool(place % 2)) for place, part in enumerate(parts) if part]


def _as_cp1252(text: str) -> str:
    """UTF-8 read as cp1252, as browsers do it: its five gaps are controls."""
    return "".join(bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in text.encode())


def _as_latin1(text: str) -> str:
    return text.encode().decode("latin-1")


def _gbk_as_latin1(text: str) -> str:
    return text.encode("gb18030").decode("latin-1")


_PITCH = {
    "en": ("free", "watch", "online", "hot", "videos", "click here", "now", "live", "18+"),
    "zh": ("免费", "在线观看", "高清", "点击", "加微信", "上门", "客服", "网站", "下载"),
}


def spam(of: Material, chance: random.Random) -> list[Piece]:
    """Phrases of the blocklists among the words that come with them."""
    lines = []
    for _ in range(chance.randint(4, 10)):
        some = [*chance.sample(of.spam, 3), *chance.sample(_PITCH[of.language], 4)]
        chance.shuffle(some)
        lines.append((" " if of.space else chance.choice((" ", "，", "-"))).join(some))
    return [("\n".join(lines), True)]


def shuffled_words(of: Material, chance: random.Random) -> list[Piece]:
    """The words of a real passage in any order; the marks between them stay where they are."""
    parts = list(WordBreaker(_passage(of, chance), "root"))
    places = [place for place, part in enumerate(parts) if part[:1].isalnum()]
    for place, other in zip(places, chance.sample(places, len(places)), strict=True):
        parts[place], parts[other] = parts[other], parts[place]
    return [("".join(parts), True)]


def _passage(of: Material, chance: random.Random) -> str:
    """Whole sentences of one document, some 600 characters (200 of Chinese) or more."""
    wanted = chance.randint(200, 600) * (1 if of.language == "zh" else 3)
    sentences: list[str] = []
    while sum(map(len, sentences)) < wanted:
        found = [one.strip() for one in _SENTENCE.split(chance.choice(of.documents))]
        prose = [one for one in found if len(one) >= (12 if of.language == "zh" else 40)]
        start = chance.randrange(max(1, len(prose) - 8))
        sentences += prose[start:]
        total = np.cumsum([len(one) for one in sentences]) if sentences else np.array([0])
        sentences = sentences[: int(np.searchsorted(total, wanted)) + 1]
    return of.space.join(sentences)


KINDS: Mapping[str, Callable[[Material, random.Random], list[Piece]]] = {
    kind.__name__: kind
    for kind in (
        boilerplate,
        link_list,
        keyword_stuffing,
        repeated_span,
        markup_residue,
        mojibake,
        spam,
        shuffled_words,
    )
}
"""Name -> what makes one, of the material and a source of chance."""


@dataclass(frozen=True)
class Planted:
    """A text with junk in it.

    Attributes:
        kind: which of KINDS.
        alone: whether the junk is the whole text, or stands in a clean one.
        text: the text.
        spans: byte ranges of the junk in its UTF-8, ascending.
    """

    kind: str
    alone: bool
    text: str
    spans: Sequence[tuple[int, int]]


HOST_CHARACTERS = {"en": (600, 6000), "zh": (250, 3000)}


def planted(language: str, half: Half, number: int, seed: int) -> list[Planted]:
    """This many texts of each kind alone, and as many in clean documents.

    Each kind has a chance of its own: leaving one out changes no other.
    """
    of = material(language, half)
    least, most = HOST_CHARACTERS[language]
    hosts = [text for text in of.documents if least <= len(text) <= most]
    made = []
    for kind, make in KINDS.items():
        for alone in (True, False):
            chance = random.Random(f"{seed}/{language}/{kind}/{alone}")
            for _ in range(number):
                pieces = make(of, chance)
                while not any(junk for _, junk in pieces):  # nothing in it could be hurt
                    pieces = make(of, chance)
                if not alone:
                    pieces = _inserted(pieces, chance.choice(hosts), chance)
                made.append(_joined(kind, alone, pieces))
    return made


def _inserted(pieces: Sequence[Piece], host: str, chance: random.Random) -> list[Piece]:
    """Lines of their own at the end of some line of the host, or before it."""
    ends = [0, *(found.start() for found in re.finditer(r"\n", host)), len(host)]
    place = chance.choice(ends)
    before, after = host[:place], host[place:]
    border = "" if not before else "\n"
    return [(before + border, False), *pieces, ("\n" + after.removeprefix("\n"), False)]


def _joined(kind: str, alone: bool, pieces: Sequence[Piece]) -> Planted:
    spans, size = [], 0
    for text, junk in pieces:
        length = len(text.encode())
        if junk and length:
            spans.append((size, size + length))
        size += length
    return Planted(kind, alone, "".join(text for text, _ in pieces), spans)
