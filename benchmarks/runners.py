"""What Ray's start costs, in megabytes that one core would have cleaned meanwhile.

    python -m benchmarks.runners

Prints how fast one core cleans the sample in examples/ with the stages of examples/demo.yaml (all
in, fsync too), how long a cluster of our own takes to start, to run a first task, and to end, and
from how many bytes of input on two workers are done sooner than one core. RAY_SECONDS in
cleanpipe/runner.py rounds the start up.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cleanpipe import Pipeline
from cleanpipe.ray_runner import RayRunner
from cleanpipe.run import find_inputs
from cleanpipe.runner import RAY_SECONDS
from cleanpipe.spec import RunOptions

ROOT = Path(__file__).parents[1]
ROUNDS = 3


def timed(action: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds an action takes, and what it gives."""
    start = time.perf_counter()
    result = action()
    return time.perf_counter() - start, result


def inline() -> tuple[float, int]:
    """Seconds to clean the sample in this process, models open already, and its bytes of input."""
    pipeline = Pipeline.from_yaml(ROOT / "examples" / "demo.yaml")
    size = find_inputs(pipeline.plan).bytes
    with tempfile.TemporaryDirectory() as folder:

        def once(number: int) -> float:
            output = os.path.join(folder, str(number))
            return timed(lambda: pipeline.run(output=output, runner="inline"))[0]

        once(0)
        return statistics.median(once(number) for number in range(1, ROUNDS + 1)), size


def cluster() -> tuple[float, float, float]:
    """Seconds until a cluster has started, until both workers have done a task that imports the
    package, and until the cluster is gone."""
    begin, runner = timed(lambda: RayRunner(RunOptions(workers=2)))
    import ray

    @ray.remote(num_cpus=1)
    def first() -> int:
        import cleanpipe.tasks  # noqa: F401  # what a task of ours needs

        time.sleep(0.2)  # so that both workers are needed
        return os.getpid()

    task, _ = timed(lambda: ray.get([first.remote() for _ in range(2)]))
    end, _ = timed(runner.close)
    return begin, task - 0.2, end


def main() -> None:
    core = min(os.sched_getaffinity(0))
    everything = os.sched_getaffinity(0)
    timed(lambda: __import__("ray"))  # its import is paid once a process, not once a cluster
    os.sched_setaffinity(0, {core})
    seconds, size = inline()
    os.sched_setaffinity(0, everything)
    rounds = [cluster() for _ in range(ROUNDS)]
    begin, task, end = (statistics.median(column) for column in zip(*rounds, strict=True))
    speed = size / seconds
    start = begin + task + end
    print(f"one core: {size / 1e6:.2f} MB of input in {seconds:.2f} s, {speed / 1e6:.2f} MB/s")
    print(f"Ray: start {begin:.2f} s, first tasks {task:.2f} s, end {end:.2f} s: {start:.2f} s")
    print(f"in which one core cleans {start * speed / 2**20:.1f} MiB of input")
    # One core takes size / speed; two take start + size / (2 * speed).
    print(f"two workers are done sooner from {2 * start * speed / 2**20:.1f} MiB on")
    print(f"RAY_SECONDS is {RAY_SECONDS} s")


if __name__ == "__main__":
    main()
