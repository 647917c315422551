"""Ray runs the same tasks: the same bytes, whatever dies on the way, and nothing stays behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from cleanpipe import ConfigError, RunError
from cleanpipe.ray_runner import RayRunner
from cleanpipe.runner import choose
from cleanpipe.spec import RunOptions

from ..jobs import (
    call,
    committed,
    content,
    environment,
    family,
    living,
    pipeline,
    run,
    start,
    summary,
    temporary_files,
    wait_for,
)


def same(output: Path, undisturbed: Path) -> None:
    assert content(output) == content(undisturbed / "out")
    assert summary(output) == summary(undisturbed / "out")
    assert not temporary_files(output) and not (output / "_run" / "scratch").exists()


def workers_of(process: int) -> list[psutil.Process]:
    """Ray workers that are at a task of ours."""
    found = []
    for child in family(process):
        try:
            if any(part.startswith("ray::cleanpipe:") for part in child.cmdline()):
                found.append(child)
        except psutil.Error:
            continue
    return found


class Killer(threading.Thread):
    """Kills a worker at work once some tasks are committed, several times."""

    def __init__(self, output: Path, times: int) -> None:
        super().__init__(daemon=True)
        self.output, self.times, self.killed = output, times, 0
        self.ended = threading.Event()

    def run(self) -> None:
        while self.killed < self.times and not self.ended.wait(0.01):
            if len(committed(self.output)) < 50 + 10 * self.killed:
                continue
            for worker in workers_of(os.getpid())[:1]:
                worker.kill()
                self.killed += 1


def test_two_workers_and_a_killed_one(tmp_path: Path, undisturbed: Path) -> None:
    before = {name: value for name, value in os.environ.items() if name.startswith("RAY_")}
    handler = signal.getsignal(signal.SIGTERM)
    killer = Killer(tmp_path / "out", 2)
    killer.start()
    run(undisturbed / "pipeline.yaml", tmp_path / "out", runner="ray", workers=2)
    killer.ended.set()
    killer.join()
    assert killer.killed == 2
    same(tmp_path / "out", undisturbed)
    assert wait_for(lambda: not [p for p in living(family(os.getpid())) if "ray" in p.name()])
    after = {name: value for name, value in os.environ.items() if name.startswith("RAY_")}
    assert {name: value for name, value in after.items() if name != "RAY_CLIENT_MODE"} == {
        name: value for name, value in before.items() if name != "RAY_CLIENT_MODE"
    }
    assert signal.getsignal(signal.SIGTERM) is handler


def test_one_worker(tmp_path: Path, undisturbed: Path) -> None:
    run(
        undisturbed / "pipeline.yaml",
        tmp_path / "out",
        "run.batch_bytes=100KB",
        runner="ray",
        workers=1,
    )
    same(tmp_path / "out", undisturbed)


def test_interrupted_terminated_killed_resumed(tmp_path: Path, undisturbed: Path) -> None:
    """Ctrl-C (the whole terminal gets it), then SIGTERM, then SIGKILL of the driver alone."""
    out = tmp_path / "out"
    arguments = ("run", undisturbed / "pipeline.yaml", "--output", out, "--runner", "ray")
    steps = [(signal.SIGINT, True, 50), (signal.SIGTERM, False, 60), (signal.SIGKILL, False, 70)]
    for number, everyone, moment in steps:
        log = tmp_path / f"log-{number}"
        process = start(*arguments, "--workers", 2, log=log)
        assert wait_for(lambda: len(committed(out)) >= moment)  # noqa: B023
        children = family(process.pid)
        assert any("raylet" in child.name() for child in children)
        # Two agents of Ray's own idle for a minute after a driver's violent death, then end.
        agents = number == signal.SIGKILL
        watched = [c for c in children if not (agents and "Agent" in c.name())]
        (os.killpg if everyone else os.kill)(process.pid, number)
        code = process.wait(30)
        assert wait_for(lambda: not living(watched), 15), living(watched)  # noqa: B023
        said = log.read_text()
        if number == signal.SIGKILL:
            assert code == -9
            continue
        assert code == 1
        assert said.rstrip().endswith("interrupted: the same command resumes"), said
        assert "Traceback" not in said and "***" not in said
        assert not temporary_files(out) and not (out / "summary.json").exists()
    before = committed(out)
    ended = call(*arguments[:4], "--runner", "inline")
    assert ended.returncode == 0, ended.stderr
    assert len(before) < len(committed(out))
    same(out, undisturbed)


def test_errors_reach_the_driver(tmp_path: Path) -> None:
    """What fails in a worker fails the run with the same sentence as inline; then it resumes."""
    (tmp_path / "in").mkdir()
    for number in range(4):
        (tmp_path / "in" / f"{number}.txt").write_text("one two three four")
    stages = [{"length": {"tokens": [3, None]}}]
    path = pipeline(tmp_path, {"s": {"paths": "in/*.txt"}}, stages, shard_bytes="1KB")
    gone = tmp_path / "in" / "2.txt"
    text = gone.read_text()
    init = RayRunner.__init__

    def vanish(self: RayRunner, options: RunOptions) -> None:
        init(self, options)
        gone.unlink()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RayRunner, "__init__", vanish)
        with pytest.raises(RunError, match=r"2\.txt"):
            run(path, runner="ray", workers=1)
    stat = os.stat(tmp_path / "in" / "1.txt")
    gone.write_text(text)
    os.utime(gone, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert run(path, fresh=True).summary["documents"]["kept"] == 4


def test_beside_a_users_own_ray(tmp_path: Path) -> None:
    """In a process that has Ray loaded, and after it, the user's own clusters start as ever; no
    token of ours is left in the environment, none is written below HOME, and HOME may be missing
    while a cluster of ours runs."""
    code = (
        "import os, ray\n"  # loaded before we set anything
        "from cleanpipe.ray_runner import RayRunner\n"
        "from cleanpipe.spec import RunOptions\n"
        "def ours():\n"
        "    runner = RayRunner(RunOptions(workers=1))\n"
        "    assert ray.get(ray.remote(lambda: 5).remote()) == 5\n"
        "    assert len(os.environ['RAY_AUTH_TOKEN']) == 64\n"
        "    runner.close()\n"
        "    assert 'RAY_AUTH_TOKEN' not in os.environ and 'RAY_AUTH_MODE' not in os.environ\n"
        "home = os.environ.pop('HOME')\n"
        "os.environ['HOME'] = '/proc/nowhere'\n"
        "ours()\n"
        "os.environ['HOME'] = home\n"
        "assert not os.path.exists(home + '/.ray')\n"
        "ray.init(address='local', num_cpus=1, include_dashboard=False, log_to_driver=False)\n"
        "print(ray.get(ray.remote(lambda: 6).remote()))\n"
        "ray.shutdown()\n"
    )
    environ = {k: v for k, v in environment().items() if not k.startswith("RAY_")}
    ended = subprocess.run(
        [sys.executable, "-c", code],
        env={**environ, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (0, "6\n"), ended.stderr


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """The address of a cluster that somebody else runs."""
    code = (
        "import logging, ray, sys\n"
        "ray.init(address='local', num_cpus=2, object_store_memory=78643200,"
        " include_dashboard=False, logging_level=logging.ERROR, log_to_driver=False)\n"
        "print(ray.get_runtime_context().gcs_address, flush=True)\n"
        "sys.stdin.read()\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "token")
        patch.setenv("RAY_AUTH_TOKEN", "c1" * 32)
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        process = subprocess.Popen(
            [sys.executable, "-c", code],
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert process.stdin and process.stdout
        yield process.stdout.readline().decode().strip()
        process.stdin.close()
        process.wait(30)


def test_an_address(tmp_path: Path, undisturbed: Path, cluster: str) -> None:
    out = tmp_path / "out"
    ended = call("run", undisturbed / "pipeline.yaml", "--output", out, "--address", cluster)
    assert ended.returncode == 0, ended.stderr
    assert "runner: ray" in ended.stderr
    same(out, undisturbed)


def test_too_much_memory_is_refused(tmp_path: Path, undisturbed: Path, cluster: str) -> None:
    setting = "run.memory_per_worker=900000GB"
    path = undisturbed / "pipeline.yaml"
    ended = call("run", path, "--output", tmp_path / "out", "--address", cluster, "--set", setting)
    assert ended.returncode == 2 and "run.memory_per_worker: " in ended.stderr, ended.stderr


def test_no_cluster_there(tmp_path: Path, undisturbed: Path) -> None:
    """Ray by itself would wait for ever."""
    with pytest.raises(ConfigError, match="Ray at 127.0.0.1:1: "):
        run(
            undisturbed / "pipeline.yaml", tmp_path / "out", "run.address=127.0.0.1:1", runner="ray"
        )


@pytest.mark.parametrize(
    ("options", "size", "shards", "wanted"),
    [
        (RunOptions(workers=2), 400 * 10**6, 40, "ray"),
        (RunOptions(workers=2), 10 * 10**6, 40, "inline"),
        (RunOptions(workers=2), 400 * 10**6, 1, "inline"),
        # Three shards on two workers: one of them is done after two rounds, the other idle.
        (RunOptions(workers=2), 150 * 10**6, 3, "inline"),
        (RunOptions(workers=1), 10**12, 9, "inline"),
        (RunOptions(address="auto"), 0, 1, "ray"),
        (RunOptions(runner="inline", address="auto"), 10**12, 9, "inline"),
        (RunOptions(runner="ray"), 0, 0, "ray"),
    ],
)
def test_what_auto_means(options: RunOptions, size: int, shards: int, wanted: str) -> None:
    assert choose(options, size, shards) == wanted
