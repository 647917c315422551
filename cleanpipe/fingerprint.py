"""Plain values, told apart by a digest."""

from __future__ import annotations

import hashlib
import json
import os
from functools import cache
from typing import Any


def fingerprint(value: Any) -> str:
    """sha256 of a plain value's JSON, hexadecimal; the order of maps counts, as in a plan."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def file_sha256(path: str) -> str:
    """sha256 of a file, hexadecimal; models are large, so a file that did not change is read once.

    Errors: OSError.
    """
    stat = os.stat(path)
    return _file_sha256(path, stat.st_ino, stat.st_size, stat.st_mtime_ns)


@cache
def _file_sha256(path: str, *state: int) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
