"""Regular expressions of users: RE2's, which take time linear in the text."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

_BYTE = re.compile(r"(?<!\\)(?:\\\\)*\\C")


@lru_cache(maxsize=1 << 12)
def compiled(pattern: str) -> Any:
    """A pattern as ``re2`` compiles it; it finds places in bytes of UTF-8.

    Errors: ValueError that says what is wrong with it, ``\\C`` too, which finds half characters.
    """
    import re2

    if _BYTE.search(pattern):
        raise ValueError(f'expected an RE2 pattern without \\C, a single byte, got "{pattern}"')
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        raise ValueError(f'expected an RE2 pattern, got "{pattern}": {_reason(error)}') from None


def _reason(error: Exception) -> str:
    reason = error.args[0] if error.args else error
    return reason.decode() if isinstance(reason, bytes) else str(reason)
