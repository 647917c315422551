"""cleanpipe: cleans text corpora for language models; every verdict can be explained.

::

    import cleanpipe as cp

    pipe = cp.Pipeline.from_dict({"stages": [{"length": {"tokens": [5, None]}}]})
    result = pipe.run(["one", "a text of more than five words"])
    result.dropped
"""

from cleanpipe.errors import (
    AccountError,
    BusyError,
    ChangedError,
    CleanpipeError,
    ConfigError,
    Fault,
    GuardError,
    RunError,
)
from cleanpipe.explain import Explanation
from cleanpipe.pipeline import Pipeline
from cleanpipe.result import Result
from cleanpipe.surface import measures

__all__ = [
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
    "measures",
]
