"""The same tasks on Ray: plain tasks over shards, a bounded number in flight."""

from __future__ import annotations

import logging
import os
import secrets
import signal
import socket
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from cleanpipe.errors import CleanpipeError, ConfigError, RunError
from cleanpipe.job import Job
from cleanpipe.ledger import Record
from cleanpipe.spec import RunOptions
from cleanpipe.stats import Stats
from cleanpipe.tasks import Report, Task, perform

# Ray's smallest allowed object store: tasks pass names and numbers, never texts.
_OBJECT_STORE_BYTES = 78_643_200
_RETRIES = 3
_IN_FLIGHT_PER_CPU = 2

_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    # A new warning about GPUs says nothing to a CPU job.
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    # The memory monitor counts mapped models and page cache and kills healthy workers.
    "RAY_memory_monitor_refresh_ms": "0",
}
# A local cluster listens on every interface, and whoever may talk to it may run code: a token of
# this process's own. The token Ray would make is written below HOME, read-only on batch systems.
_LOCAL_ENVIRONMENT = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}

_JOBS: dict[str, Job] = {}
"""In a worker: the job it works for, its models open. At most one."""


class RayRunner:
    """Runs tasks on a Ray cluster: one started for this run, or an address.

    Args:
        options: workers, memory and address.

    Errors: ConfigError where the address does not answer.
    """

    name: Literal["inline", "ray"] = "ray"

    def __init__(self, options: RunOptions) -> None:
        local = options.address in (None, "local")
        _refuse_silence(options.address or "")
        ours = local and "RAY_AUTH_MODE" not in os.environ
        wanted = {**_ENVIRONMENT, **(_LOCAL_ENVIRONMENT if ours else {})}
        self._before = {name: os.environ.get(name) for name in wanted}
        os.environ.update(wanted)
        import ray

        self._ray: Any = ray
        self._options = options
        _read_anew(ray)
        settings: dict[str, Any] = {}
        if local:
            cpus = options.workers or len(os.sched_getaffinity(0))
            settings = {"num_cpus": cpus, "object_store_memory": _OBJECT_STORE_BYTES}
        # Ray puts a handler of its own in place, which would end the run without a word.
        terminated = signal.getsignal(signal.SIGTERM)
        try:
            ray.init(
                address="local" if local else options.address,
                include_dashboard=False if local else None,
                logging_level=logging.ERROR,
                log_to_driver=False,
                configure_logging=False,
                **settings,
            )
        except (ConnectionError, ValueError, RuntimeError) as error:
            self._restore()
            raise ConfigError(f"Ray at {options.address or 'local'}: {error}") from error
        finally:
            if threading.current_thread() is threading.main_thread():
                signal.signal(signal.SIGTERM, terminated)
        cpus = int(self._ray.cluster_resources().get("CPU", 1))
        # A cluster of our own has as many CPUs as workers; tasks that wait keep them busy.
        self._limit = max(1, cpus * _IN_FLIGHT_PER_CPU if local else options.workers or cpus)
        self._refuse_infeasible()

    def run(self, job: Job, tasks: Sequence[Task], report: Report) -> Iterator[Record]:
        ray = self._ray
        remote = ray.remote(
            num_cpus=1,
            memory=self._options.memory_per_worker,
            max_retries=_RETRIES,
        )(_work)
        job_ref = ray.put(job)
        # The largest first: one that began last would leave the other workers idle.
        waiting = deque(sorted(tasks, key=lambda task: -task.weight))
        flying: dict[Any, Task] = {}
        # Tasks still flying when this ends early go with the job, at shutdown; ray.cancel with
        # force aborts the driver when it meets a task that has just finished (Ray 2.60).
        while waiting or flying:
            while waiting and len(flying) < self._limit:
                task = waiting.popleft()
                ref = remote.options(name=f"cleanpipe:{task.name}").remote(
                    job.fingerprint, job_ref, task
                )
                flying[ref] = task
            # A time limit lets Ctrl-C through, and a log see that the run lives.
            done, _ = ray.wait(list(flying), num_returns=1, timeout=1.0)
            report(Stats())
            for ref in done:
                task = flying.pop(ref)
                yield self._record(ref, task)

    def _refuse_infeasible(self) -> None:
        """Ray would wait for ever for a node that can hold a task."""
        nodes = [node["Resources"] for node in self._ray.nodes() if node["Alive"]]
        largest = max((node.get("memory", 0.0) for node in nodes), default=0.0)
        if largest < self._options.memory_per_worker:
            self.close()
            raise ConfigError(
                f"run.memory_per_worker: {self._options.memory_per_worker} bytes, but no node "
                f"offers a task more than {int(largest)}"
            )

    def _record(self, ref: Any, task: Task) -> Record:
        try:
            return Record.from_json(self._ray.get(ref))
        except self._ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, CleanpipeError):
                raise error.cause from None
            raise RunError(f"{task.name}: {error.cause!r}") from error
        except self._ray.exceptions.RayError as error:
            raise RunError(
                f"{task.name}: its worker died {_RETRIES + 1} times ({type(error).__name__}); "
                "with too little memory, raise run.memory_per_worker or lower --workers"
            ) from error

    def close(self) -> None:
        self._ray.shutdown()
        self._restore()

    def _restore(self) -> None:
        for name, value in self._before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        _read_anew(self._ray)


def _refuse_silence(address: str) -> None:
    """Ray would try an address where nothing listens for ever."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdigit():
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
        except OSError as error:
            raise ConfigError(f"Ray at {address}: {error}") from error


def _read_anew(ray: Any) -> None:
    """Let Ray read its environment again: it remembers the first mode and token it has seen."""
    config = getattr(ray._raylet, "Config", None)
    loader = getattr(ray._raylet, "AuthenticationTokenLoader", None)
    if config is not None and loader is not None:
        config.initialize("")
        loader.instance().reset_cache()


def _work(fingerprint: str, job: Job, task: Task) -> dict[str, Any]:
    """A task in a worker; the record travels as plain values."""
    if fingerprint not in _JOBS:
        # One job at a time: an earlier one's models are let go.
        _JOBS.clear()
        _JOBS[fingerprint] = job
    return perform(_JOBS[fingerprint], task).to_json()
