"""A folder where files appear whole or not at all."""

from __future__ import annotations

import pickle
import uuid
from pathlib import Path

import pytest

from cleanpipe.store import Store


@pytest.fixture(params=["local", "file", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    urls = {
        "local": str(tmp_path / "out"),
        "file": f"file://{tmp_path}/out/",
        "memory": f"memory://{uuid.uuid4().hex}/out",
    }
    return Store(urls[request.param])


def read(store: Store, name: str) -> bytes:
    with store.open(name) as file:
        return file.read()


def test_files(store: Store) -> None:
    assert not store.exists()
    assert not store.exists("a/b.bin")
    assert store.size("a/b.bin") is None
    assert store.names("a") == []
    with pytest.raises(FileNotFoundError):
        read(store, "a/b.bin")
    with store.create("a/b.bin") as file:
        file.write(b"123")
        file.write(b"4")
    with store.create("a/a.bin") as file:
        pass
    assert store.exists() and store.exists("a") and store.exists("a/b.bin")
    assert read(store, "a/b.bin") == b"1234"
    assert (store.size("a/b.bin"), store.size("a/a.bin")) == (4, 0)
    assert store.names("a") == ["a.bin", "b.bin"]
    with store.create("a/b.bin") as file:
        file.write(b"new")
    assert read(store, "a/b.bin") == b"new"
    store.remove("a")
    store.remove("a")
    assert store.names("a") == []


def test_json(store: Store) -> None:
    value = {"é": [1, 2.5, None, "\udc80"], "b": {}}
    store.write_json("x/y.json", value)
    text = read(store, "x/y.json")
    assert text.endswith(b"\n")
    assert "é".encode() in text
    store.write_json("x/plain.json", {"é": [1, None]})
    assert store.read_json("x/plain.json") == {"é": [1, None]}
    with store.create("x/bad.json") as file:
        file.write(b'{"a": ')
    with pytest.raises(ValueError, match="Expecting"):
        store.read_json("x/bad.json")
    with pytest.raises(FileNotFoundError):
        store.read_json("x/none.json")


def test_it_travels(store: Store) -> None:
    store.write_json("x.json", 1)
    again = pickle.loads(pickle.dumps(store))
    assert again.read_json("x.json") == 1
    assert (again.url, again.root, again.local) == (store.url, store.root, store.local)


def test_moved_aside(store: Store) -> None:
    for number in (1, 2):
        store.write_json("x.json", number)
        target = store.move_aside()
        assert target.endswith(f"out.old-{number}")
        assert not store.exists("x.json")
        assert Store(store.url.rstrip("/") + f".old-{number}").read_json("x.json") == number


def everything(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_exception_leaves_nothing(tmp_path: Path, error: type[BaseException]) -> None:
    store = Store(str(tmp_path))
    store.write_json("a/old.json", 1)
    for name in ("a/new.json", "a/old.json"):
        with pytest.raises(error), store.create(name) as file:
            file.write(b"half")
            raise error
    assert everything(tmp_path) == ["a/old.json"]
    assert store.read_json("a/old.json") == 1


@pytest.mark.parametrize("error", [KeyboardInterrupt, PermissionError, TimeoutError])
def test_only_what_is_missing_does_not_exist(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    """A Ctrl-C at that moment, or a store that does not answer, is no "there is no such file"."""

    def failing(*_: object, **__: object) -> None:
        raise error

    store = Store(str(tmp_path))
    assert not store.exists("x.json") and not store.exists("x.json/y")
    store.write_json("x.json", 1)
    assert store.exists("x.json") and store.exists() and not store.exists("x.json/y")
    monkeypatch.setattr("fsspec.implementations.local.LocalFileSystem.info", failing)
    with pytest.raises(error):
        store.exists("x.json")


def test_nothing_is_seen_before_the_end(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    with store.create("a/x.bin") as file:
        file.write(b"1" * 10**6)
        file.flush()
        assert store.size("a/x.bin") is None
        assert store.names("a") == []
        (left,) = everything(tmp_path)
        assert left.startswith("a/.tmp-")
    assert everything(tmp_path) == ["a/x.bin"]


def test_what_an_interrupted_writer_left_is_swept(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    store.write_json("a/b/x.json", 1)
    (tmp_path / "a" / "b" / ".tmp-123-y.json").write_text("half")
    (tmp_path / ".tmp-4-z").write_text("half")
    assert store.names("a/b") == ["x.json"]
    store.sweep()
    assert everything(tmp_path) == ["a/b/x.json"]
    Store(str(tmp_path / "none")).sweep()


def test_two_writers_of_one_file(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    with store.create("x") as one, store.create("x") as two:
        one.write(b"same")
        two.write(b"same")
    assert read(store, "x") == b"same"
    assert everything(tmp_path) == ["x"]
