"""Runs the benchmarks named on the command line, or all of them: the modules beside this one.

The packages beside it are no benchmarks of that kind: they have verbs of their own, or help.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys

import benchmarks


def main() -> None:
    known = [info.name for info in pkgutil.iter_modules(benchmarks.__path__) if not info.ispkg]
    known.remove("__main__")
    for name in sys.argv[1:] or known:
        if name not in known:
            sys.exit(f'no benchmark is called "{name}"; known: {", ".join(known)}')
        print(f"== {name}", flush=True)
        importlib.import_module(f"benchmarks.{name}").main()


main()
