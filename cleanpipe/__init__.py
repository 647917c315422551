"""cleanpipe: cleans text corpora for language models; every verdict can be explained.

::

    import cleanpipe as cp

    pipe = cp.Pipeline.from_dict({"stages": [{"length": {"tokens": [5, None]}}]})
    result = pipe.run(["one", "a text of more than five words"])
    result.dropped
"""

from importlib.metadata import PackageNotFoundError, version

from cleanpipe.contamination import contamination
from cleanpipe.errors import (
    AccountError,
    BusyError,
    ChangedError,
    CleanpipeError,
    ConfigError,
    Fault,
    GuardError,
    RunError,
    StageError,
)
from cleanpipe.explanation import Explanation
from cleanpipe.near_duplicates import near_duplicates
from cleanpipe.pipeline import Pipeline
from cleanpipe.result import Result
from cleanpipe.signatures import minhash
from cleanpipe.surface import measures

try:
    __version__ = version("cleanpipe")
except PackageNotFoundError:  # an uninstalled tree
    __version__ = "0"

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
    "StageError",
    "__version__",
    "contamination",
    "measures",
    "minhash",
    "near_duplicates",
]
