"""``mojibake``: text decoded as what it is not, beside text with marks of its own."""

from __future__ import annotations

from cleanpipe.filters.mojibake import Mojibake

from .table import table

NONE = {"share": [None, 0]}


def as_cp1252(text: str) -> str:
    return text.encode().decode("cp1252", "ignore")


test_mojibake = table(
    Mojibake,
    [
        ("donâ€™t", NONE, "share"),
        ("abcdeâ€™", {"share": [None, 0.375]}, None),
        ("abcdâ€™", {"share": [None, 0.375]}, "share"),
        ("abcdeâ€™", {"share": {"below": 0.375}}, "share"),
        ("Ã©t\u00c3\u00a9", NONE, "share"),
        ("été créée à Noël, où ça", NONE, None),
        ("Grüße aus Köln, ÖÄÜ", NONE, None),
        ("ação, coração, não", NONE, None),
        ("Æðelþryð og Þórður", NONE, None),
        ("", NONE, None),
        (" \r\n ", NONE, None),
        ("word", NONE, None),
        ("天气很好，我们去公园。", NONE, None),
        ("中国".encode().decode("latin-1"), NONE, "share"),
        (as_cp1252("今天天气很好"), {"share": [None, 0.5]}, "share"),
        ("中国人民".encode("gbk").decode("latin-1"), {"share": [None, 0.99]}, "share"),
        ("中".encode("gbk").decode("latin-1"), NONE, None),
        *(
            (text, NONE, None)
            for text in (
                "«\u00a0désolé\u00a0».",
                "“I just went to the café…” she said.",
                "café\u00a0— it",
                "‘passé’”",
                "“Risqué”—that",
                "NESCAFÉ®",
                "É\u00a0",
                "der Spaß“",
                "“AMANHÔ",
                "Chapter 1 ············ 5",
                "Désolé ····· Désolé····· 5",
                "««««",
                "°°°°",
                "½½½½",
            )
        ),
        ("Ã\u00a0", {"share": [None, 1]}, None),
        ("Ã\u00a0 propos", NONE, "share"),
        ("Â®", NONE, "share"),
        ("â€”", NONE, "share"),
        ("🎉🎉", NONE, None),
        ("🎉".encode().decode("latin-1"), NONE, "share"),
        ("שלום עולם", NONE, None),
        ("Ð¼Ð¸Ñ€\r\n", NONE, "share"),
        ("é" * 3, NONE, None),
        ("é " * 500_000, NONE, None),
        ("Ã" * 1_000_000, {"share": [None, 0.5]}, "share"),
    ],
)
