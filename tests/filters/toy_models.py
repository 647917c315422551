"""Tiny fastText models, trained in a moment and always alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import fasttext

LANGUAGES: Mapping[str, Sequence[str]] = {
    "eng_Latn": ("the cat sat on the mat", "a dog and the house", "we were there with them"),
    "deu_Latn": ("die katze und der hund", "ein haus war nicht da", "wir sind auf der matte"),
    "cmn_Hani": ("今 天 天 气 很 好", "我 们 去 公 园 散 步", "这 是 一 本 书"),
    "yue_Hani": ("我 哋 喺 度 食 飯", "佢 哋 唔 知 係 咩", "你 哋 嘅 書 喺 邊 度"),
    "zho_Hant": ("今 天 天 氣 很 好", "我 們 去 公 園 散 步", "這 是 一 本 書"),
    "arb_Arab": ("هذا كتاب جديد", "ذهبنا إلى البيت", "الطقس جميل اليوم"),
    "und_Zyyy": ("qx zv jk wq", "xx zz qq vv", "kj hg fd sq"),
}
"""A few sentences a language, by labels as NLLB writes them."""

QUALITY: Mapping[str, Sequence[str]] = {
    "High": ("the theorem follows from the lemma above", "we prove that the sum converges"),
    "Mid": ("my trip to the lake was nice", "we had lunch and went home"),
    "Low": ("buy cheap pills now", "click here to win big money"),
}
"""Texts by how much one learns from them."""


def trained(path: Path, examples: Mapping[str, Sequence[str]], **options: Any) -> Path:
    """Train a supervised model.

    Args:
        path: where to write it: ``.bin``, or ``.ftz`` to quantise it.
        examples: texts by label.
        options: of fastText, other than the defaults for something tiny.

    Returns:
        ``path``.
    """
    lines = [f"__label__{label} {text}" for label, texts in examples.items() for text in texts]
    source = path.with_suffix(".txt")
    source.write_text("\n".join(lines * 20) + "\n", encoding="utf-8")
    small = {"dim": 8, "minn": 1, "maxn": 2, "bucket": 500, "lr": 0.5, "epoch": 10}
    model = fasttext.train_supervised(
        str(source), thread=1, verbose=0, seed=1, **{**small, **options}
    )
    if path.suffix == ".ftz":
        model.quantize(str(source), cutoff=280, qnorm=True, retrain=False, thread=1)
    model.save_model(str(path))
    return path
