"""What can go wrong, named by what the reader does next.

::

    CleanpipeError
    |-- ConfigError       mend the pipeline file, the options or the models   (exit 2)
    |   `-- ChangedError  the output belongs to another plan: --fresh, or another folder
    `-- RunError          the run failed                                      (exit 1)
        |-- BusyError     another run holds this output: wait for it
        |-- StageError    a stage has a defect: mend its file, or report it
        |-- GuardError    a guard stopped the run: look at what it saw
        `-- AccountError  documents went missing: report it, it is a defect here
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Fault:
    """One mistake in a configuration, with its place.

    Attributes:
        line: 1-based line in the file, 0 where there is none (options, dictionaries).
        column: 1-based column, 0 where there is none.
        path: where in the configuration, such as ``stages[2].length.tokens``.
        message: what was expected and what was found.
        file: the name of the file as the user gave it.
    """

    line: int
    column: int
    path: str
    message: str
    file: str = ""

    def __str__(self) -> str:
        place = self.file or "pipeline"
        if self.line:
            place += f":{self.line}:{self.column}"
        return f"{place}: {self.path}: {self.message}" if self.path else f"{place}: {self.message}"


class CleanpipeError(Exception):
    """The root of every error this package raises on purpose."""


class ConfigError(CleanpipeError):
    """The configuration is at fault; ``faults`` has every mistake found, in file order."""

    def __init__(self, faults: Sequence[Fault] | str) -> None:
        if isinstance(faults, str):
            self.faults: tuple[Fault, ...] = ()
            super().__init__(faults)
        else:
            self.faults = tuple(sorted(faults))
            super().__init__("\n".join(str(fault) for fault in self.faults))


class ChangedError(ConfigError):
    """The output folder holds a run of another plan, input or model."""


class RunError(CleanpipeError):
    """The run failed; what is committed stays, and the same command resumes."""


class StageError(RunError):
    """A stage's own code failed; the message names its file and line."""


class BusyError(RunError):
    """Another run holds this output at this moment."""


class GuardError(RunError):
    """A guard saw a loss that nobody is likely to want."""


class AccountError(RunError):
    """In is not kept + dropped + dead."""
