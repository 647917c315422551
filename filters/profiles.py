"""How text is prepared for a language model: a profile, the same in training and in judging.

Not a stage. A number from a model means nothing for text prepared in another way, so a
model names its profile, and perplexity is refused without one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

ProfileName = Literal["words", "characters", "ccnet"]
IMPOSSIBLE: Mapping[ProfileName, tuple[str, ...]] = {
    "words": ("The", "In", "Der", "La", "El", "1", "2", "\u2581", "\u2581the", "\u2581de"),
    "characters": ("1", "2", "\u7684\u4eba", "\u4e2d\u56fd", "\u2581", "\u2581\u7684"),
    # SentencePiece's NFKC comes after the digits: a superscript two is "2" again, a year is none.
    "ccnet": ("The", "In", "\u2581The", "\u2581In", "\u25812000", "\u25812010"),
}
"""Frequent tokens that no text has once it is prepared so: a model that knows one of them was
trained on text prepared in another way."""


def unusable(name: object) -> str | None:
    """Why there is no profile of this name; None where there is one."""
    if isinstance(name, str) and name in IMPOSSIBLE:
        return None
    return f"expected one of {', '.join(IMPOSSIBLE)} as the profile, got {name!r}"
