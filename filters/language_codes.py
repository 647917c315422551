"""From a model's labels to codes of languages and scripts: not a stage.

A code is what BCP 47 (RFC 5646) asks for: ISO 639-1 where there is a code of two letters, else
ISO 639-3. docs/languages.md says how models write theirs, docs/decisions/016 why this is a table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Literal, NamedTuple, TypeAlias

LabelScheme = Literal["wikipedia", "iso", "as_is"]

UNDECIDED = "und"


class Named(NamedTuple):
    """What a label says.

    Attributes:
        language: the code, ``und`` where the label says that there is none.
        script: ISO 15924, such as ``Latn``; None where the label has none.
    """

    language: str
    script: str | None = None


Reading: TypeAlias = Callable[[str], Named]

_TWO_LETTERS = """
    aa:aar ab:abk ae:ave af:afr ak:aka am:amh an:arg ar:ara as:asm av:ava ay:aym az:aze ba:bak
    be:bel bg:bul bi:bis bm:bam bn:ben bo:bod br:bre bs:bos ca:cat ce:che ch:cha co:cos cr:cre
    cs:ces cu:chu cv:chv cy:cym da:dan de:deu dv:div dz:dzo ee:ewe el:ell en:eng eo:epo es:spa
    et:est eu:eus fa:fas ff:ful fi:fin fj:fij fo:fao fr:fra fy:fry ga:gle gd:gla gl:glg gn:grn
    gu:guj gv:glv ha:hau he:heb hi:hin ho:hmo hr:hrv ht:hat hu:hun hy:hye hz:her ia:ina id:ind
    ie:ile ig:ibo ii:iii ik:ipk io:ido is:isl it:ita iu:iku ja:jpn jv:jav ka:kat kg:kon ki:kik
    kj:kua kk:kaz kl:kal km:khm kn:kan ko:kor kr:kau ks:kas ku:kur kv:kom kw:cor ky:kir la:lat
    lb:ltz lg:lug li:lim ln:lin lo:lao lt:lit lu:lub lv:lav mg:mlg mh:mah mi:mri mk:mkd ml:mal
    mn:mon mr:mar ms:msa mt:mlt my:mya na:nau nd:nde ne:nep ng:ndo nl:nld nn:nno no:nor nr:nbl
    nv:nav ny:nya oc:oci oj:oji om:orm or:ori os:oss pa:pan pi:pli pl:pol ps:pus pt:por qu:que
    rm:roh rn:run ro:ron ru:rus rw:kin sa:san sc:srd sd:snd se:sme sg:sag sh:hbs si:sin sk:slk
    sl:slv sm:smo sn:sna so:som sq:sqi sr:srp ss:ssw st:sot su:sun sv:swe sw:swa ta:tam te:tel
    tg:tgk th:tha ti:tir tk:tuk tl:tgl tn:tsn to:ton tr:tur ts:tso tt:tat tw:twi ty:tah ug:uig
    uk:ukr ur:urd uz:uzb ve:ven vi:vie vo:vol wa:wln wo:wol xh:xho yi:yid yo:yor za:zha zh:zho
    zu:zul
"""
"""ISO 639-1 and 639-3 of one language (ISO 639-3's table), without ``nb``: see below."""

_OLDER = """
    sq:alb hy:arm eu:baq my:bur zh:chi cs:cze nl:dut fr:fre ka:geo de:ger el:gre is:ice mk:mac
    mi:mao ms:may fa:per ro:rum sk:slo bo:tib cy:wel he:iw id:in yi:ji jv:jw ro:mo ro:mol
"""
"""ISO 639-2's bibliographic codes, and codes that were withdrawn for another of two letters."""

_USUAL = """
    ar:arb ay:ayr az:azj cr:cwd et:ekk fa:pes gn:gug ik:esk iu:ike kg:kng kr:knc ku:kmr kv:kpv
    lv:lvs mg:plt mn:khk ms:zsm ne:npi no:nb no:nob oj:ojg om:gaz or:ory ps:pbt ps:pbu qu:quz
    sc:src sq:als sw:swh uz:uzn yi:ydd za:zyb zh:cmn
"""
"""Individual languages that are what their macrolanguage of two letters usually means: those of
CLDR's aliases, and Bokmål and Southern Pashto, which models write for Norwegian and Pashto."""

_NONE = "und:zxx"
"""No linguistic content (ISO 639-2), which is nothing else to a filter than undetermined."""

_WIKIPEDIA: Mapping[str, str] = {"als": "gsw", "bh": "bho", "eml": "egl"}
"""Wikipedias whose names are no code, or another language's: Alemannic (``als`` is Tosk Albanian),
Bhojpuri (``bh`` was a group of languages), Emilian-Romagnol (``eml`` was split; MediaWiki declares
``egl``)."""

_CODES: Mapping[str, str] = {
    other: code
    for table in (_TWO_LETTERS, _OLDER, _USUAL, _NONE)
    for code, _, other in (pair.partition(":") for pair in table.split())
}
_KNOWN_TWO_LETTERS = frozenset(_CODES.values()) | {code for code in _CODES if len(code) == 2}
# The last of up to three subtags of three letters says more than the code before (``zh-yue``).
_TAG = re.compile(
    "([a-z]{2,3})(?:[-_]([a-z]{3})){0,3}(?:[-_]([A-Z][a-z]{3}))?(?:[-_][A-Za-z0-9]+)*"
)


def code_of(language: str) -> str:
    """The one code for a language that has several: ``en`` for ``eng``, ``zh`` for ``cmn``.

    Args:
        language: a code of ISO 639-1, 639-2 or 639-3; anything else is given back.
    """
    return _CODES.get(language, language)


def reading(scheme: LabelScheme) -> Reading:
    """How a scheme's labels are read.

    Args:
        scheme: ``wikipedia``, the names of Wikipedias; ``iso``, codes of ISO 639, with a script
            behind or not (``eng_Latn``, ``zh-Hant``, ``cmn``); ``as_is``, nothing is changed.
    """
    readings: Mapping[LabelScheme, Reading] = {
        "wikipedia": _of_wikipedia,
        "iso": _of_iso,
        "as_is": Named,
    }
    return readings[scheme]


def scheme_of(labels: Collection[str]) -> LabelScheme:
    """The scheme that a model's labels are of.

    Args:
        labels: all of them, without ``__label__``.

    Returns:
        ``wikipedia`` where one of them is ``bh`` or ``eml``, which only Wikipedias are called;
        else ``iso`` where more than half read as codes; else ``as_is``.
    """
    if {"bh", "eml"} & set(labels):
        return "wikipedia"
    return "iso" if 2 * sum(map(_reads_as_code, labels)) > len(labels) else "as_is"


def _reads_as_code(label: str) -> bool:
    found = _TAG.fullmatch(label)
    return found is not None and (len(found[1]) == 3 or found[1] in _KNOWN_TWO_LETTERS)


def _of_wikipedia(label: str) -> Named:
    return Named(_WIKIPEDIA.get(label, label))


def _of_iso(label: str) -> Named:
    found = _TAG.fullmatch(label)
    return Named(code_of(found[2] or found[1]), found[3]) if found else Named(label)
