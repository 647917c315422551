"""Encodings of sources: which there are, and in which of them lines can be found in the bytes."""

from __future__ import annotations

import codecs

UTF8 = "utf-8"

BY_LINE = frozenset([
    "ascii", "big5", "big5hkscs", "cp1006", "cp1125", "cp1250", "cp1251", "cp1252", "cp1253",
    "cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "cp437", "cp720", "cp775", "cp850",
    "cp852", "cp855", "cp856", "cp857", "cp858", "cp860", "cp861", "cp862", "cp863", "cp865",
    "cp866", "cp869", "cp874", "cp932", "cp949", "cp950", "euc_jis_2004", "euc_jisx0213",
    "euc_jp", "euc_kr", "gb18030", "gb2312", "gbk", "hp-roman8", "iso8859-1", "iso8859-10",
    "iso8859-11", "iso8859-13", "iso8859-14", "iso8859-15", "iso8859-16", "iso8859-2",
    "iso8859-3", "iso8859-4", "iso8859-5", "iso8859-6", "iso8859-7", "iso8859-8", "iso8859-9",
    "johab", "koi8-r", "koi8-t", "koi8-u", "kz1048", "mac-arabic", "mac-croatian",
    "mac-cyrillic", "mac-farsi", "mac-greek", "mac-iceland", "mac-latin2", "mac-roman",
    "mac-romanian", "mac-turkish", "ptcp154", "shift_jis", "tis-620", "utf-8",
])  # fmt: skip
"""Codecs, as Python calls them, that write ASCII as it is and the byte 0x0A for a line feed alone,
and keep no state: their bytes can be cut at it anywhere."""


def codec_name(encoding: str) -> str | None:
    """The name that Python has for an encoding (``utf8`` and ``UTF-8`` are one), or None where
    there is none such for text."""
    try:
        "".encode(encoding)  # of bytes to bytes, such as base64, there are codecs too
        return codecs.lookup(encoding).name
    except (LookupError, ValueError):
        return None


def decoded(data: bytes, codec: str, at_start: bool) -> str:
    """Text of bytes.

    Args:
        data: whole characters.
        codec: as :func:`codec_name` gives it.
        at_start: of a file: a byte order mark there is left out.

    Errors: UnicodeError where they are no text in this encoding.
    """
    text = data.decode(codec)
    text.encode()  # a lone surrogate, which some codecs give, is no text
    return text.removeprefix("\ufeff") if at_start else text


def why_not(error: UnicodeError, codec: str) -> str:
    """What :func:`decoded` raised, as a dead record says it."""
    if isinstance(error, UnicodeDecodeError):
        return f"not {codec} at byte {error.start}: {error.reason}"
    return f"not {codec}: {error}"
