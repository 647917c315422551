"""The public surface is a sorted list; a change to it is a change to this test."""

from __future__ import annotations

import cleanpipe


def test_exports() -> None:
    assert cleanpipe.__all__ == [
        "AccountError",
        "BusyError",
        "ChangedError",
        "CleanpipeError",
        "ConfigError",
        "Explanation",
        "Fault",
        "GuardError",
        "Pipeline",
        "Result",
        "RunError",
        "StageError",
        "__version__",
        "contamination",
        "measures",
        "minhash",
        "near_duplicates",
    ]
    assert cleanpipe.__all__ == sorted(cleanpipe.__all__)


def test_every_export_is_there_and_documented() -> None:
    for name in cleanpipe.__all__:
        assert getattr(cleanpipe, name).__doc__, name  # a text has one too


def test_errors_are_one_tree() -> None:
    for name in cleanpipe.__all__:
        if name.endswith("Error"):
            assert issubclass(getattr(cleanpipe, name), cleanpipe.CleanpipeError), name
    assert issubclass(cleanpipe.ChangedError, cleanpipe.ConfigError)
    for error in (cleanpipe.BusyError, cleanpipe.GuardError, cleanpipe.AccountError):
        assert issubclass(error, cleanpipe.RunError)
