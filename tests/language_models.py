"""Small models of text, made where a test needs them."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import sentencepiece


def pieces_of(path: Path, texts: Sequence[str], size: int = 24) -> Any:
    """Train a SentencePiece model of so many pieces; it is written to `path`, and returned."""
    trained = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts),
        model_writer=trained,
        vocab_size=size,
        model_type="bpe",
        minloglevel=2,
    )
    path.write_bytes(trained.getvalue())
    return sentencepiece.SentencePieceProcessor(model_file=str(path))


def known_pieces(pieces: Any) -> list[str]:
    """The pieces, but for those that stand for none."""
    return [pieces.id_to_piece(at) for at in range(3, pieces.get_piece_size())]


def write_arpa(path: Path, words: Sequence[str]) -> None:
    """A KenLM model: each word has log10 p = -1.5, unknown ones -2, the end of a sentence -1; the
    first word at its beginning -0.5, which costs any other -0.25."""
    rows = ["-2\t<unk>\t0", "0\t<s>\t-0.25", "-1\t</s>", *(f"-1.5\t{word}\t0" for word in words)]
    head = f"\\data\\\nngram 1={len(rows)}\nngram 2=1\n\n\\1-grams:\n"
    tail = f"\n\n\\2-grams:\n-0.5\t<s> {words[0]}\n\n\\end\\\n"
    path.write_text(head + "\n".join(rows) + tail, encoding="utf-8")
