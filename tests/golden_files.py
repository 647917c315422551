"""Comparing with a file in ``tests/golden``; ``UPDATE_GOLDEN=1`` writes it anew."""

from __future__ import annotations

import os
from pathlib import Path

GOLDEN = Path(__file__).parent / "golden"


def same_as_golden(name: str, text: str) -> None:
    """Fail where ``text`` is not what the golden file has."""
    path = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), f"if it is right: UPDATE_GOLDEN=1 ({path})"
