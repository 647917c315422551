"""Plain values, told apart by a digest."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def fingerprint(value: Any) -> str:
    """sha256 of a plain value's JSON, hexadecimal; the order of maps counts, as in a plan."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
