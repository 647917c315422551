"""KenLM's own programs, which no wheel has: ``make kenlm`` builds them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from .jobs import ROOT


def kenlm_programs() -> Path:
    """The folder with lmplz, build_binary and query: $KENLM_BIN, .venv/kenlm/bin, or that of lmplz
    on the PATH; without one the test is skipped."""
    on_path = shutil.which("lmplz")
    beside = None if on_path is None else os.path.dirname(on_path)
    places = [os.environ.get("KENLM_BIN"), str(ROOT / ".venv/kenlm/bin"), beside]
    for place in map(Path, filter(None, places)):
        if all(os.access(place / name, os.X_OK) for name in ("lmplz", "build_binary", "query")):
            return place
    pytest.skip("no lmplz, build_binary and query: `make kenlm` builds them, or set KENLM_BIN")
