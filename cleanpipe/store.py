"""A folder, local or behind an fsspec URL, where files appear whole or not at all."""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq

from cleanpipe.errors import ConfigError

_TEMPORARY = ".tmp-"


class Store:
    """Files by name below a folder.

    Args:
        url: a path or an fsspec URL; the folder is made when first written to.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        try:
            self._fs, root = fsspec.core.url_to_fs(url)
        except (ImportError, ValueError) as error:
            raise ConfigError(f"{url}: {error}") from None
        self.root: str = root.rstrip("/") or "/"
        self.local = type(self._fs).__name__ == "LocalFileSystem"

    def __reduce__(self) -> tuple[type[Store], tuple[str]]:
        return Store, (self.url,)

    def path(self, name: str) -> str:
        """Where a file lies, for libraries that open files themselves."""
        return f"{self.root}/{name}" if name else self.root

    @contextmanager
    def create(self, name: str) -> Iterator[IO[bytes]]:
        """A file to write; it gets its name only when the block ends well."""
        path = self.path(name)
        folder, _, base = path.rpartition("/")
        self._fs.makedirs(folder, exist_ok=True)
        if not self.local:
            # An object store shows an object when the upload is closed.
            file = self._fs.open(path, "wb")
            try:
                yield file
            except BaseException:
                if hasattr(file, "discard"):
                    file.discard()
                raise
            file.close()
            return
        temporary = f"{folder}/{_TEMPORARY}{uuid.uuid4().hex}-{base}"
        try:
            with open(temporary, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(temporary)
            raise

    def write_json(self, name: str, value: Any) -> None:
        with self.create(name) as file:
            text = json.dumps(value, ensure_ascii=False, indent=1)
            file.write(text.encode("utf-8", "surrogatepass") + b"\n")

    def read_json(self, name: str) -> Any:
        """Errors: FileNotFoundError; ValueError where the file is no JSON."""
        with self.open(name) as file:
            return json.loads(file.read())

    def open(self, name: str) -> IO[bytes]:
        """A file to read. Errors: FileNotFoundError."""
        return self._fs.open(self.path(name), "rb")  # type: ignore[no-any-return]

    def table(self, name: str, columns: list[str] | None = None) -> pa.Table:
        """A Parquet file, or some of its columns, its checksums verified.

        Arrow's threads read it natively: one that lets go of a Python file while the
        interpreter ends aborts the process.
        """
        if self.local:
            source = pa.memory_map(self.path(name))
        else:
            with self.open(name) as file:
                source = pa.BufferReader(file.read())
        with source, pq.ParquetFile(source, page_checksum_verification=True) as parquet:
            return parquet.read(columns=columns)

    def row_groups(self, name: str, columns: list[str] | None = None) -> Iterator[pa.Table]:
        """:meth:`table`, one row group after another."""
        if self.local:
            source = pa.memory_map(self.path(name))
        else:
            with self.open(name) as file:
                source = pa.BufferReader(file.read())
        with source, pq.ParquetFile(source, page_checksum_verification=True) as parquet:
            for group in range(parquet.num_row_groups):
                yield parquet.read_row_group(group, columns=columns)

    def size(self, name: str) -> int | None:
        """Size in bytes, or None where there is no such file."""
        try:
            return int(self._fs.size(self.path(name)))
        except FileNotFoundError:
            return None

    def exists(self, name: str = "") -> bool:
        return self._is_there(self.path(name))

    def _is_there(self, path: str) -> bool:
        # fsspec's own ``exists`` answers no to any error at all, a Ctrl-C among them.
        try:
            self._fs.info(path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    def names(self, folder: str) -> list[str]:
        """Names of the files in a folder, sorted; none where there is no such folder."""
        path = self.path(folder)
        self._fs.invalidate_cache()
        if not self._fs.isdir(path):
            return []
        found = [entry.rpartition("/")[2] for entry in self._fs.ls(path, detail=False)]
        return sorted(name for name in found if not name.startswith(_TEMPORARY))

    def sizes(self, folder: str) -> dict[str, int]:
        """Name and size in bytes of the files in a folder, sorted; none where there is no such
        folder."""
        return {name: self.size(f"{folder}/{name}") or 0 for name in self.names(folder)}

    def remove(self, folder: str) -> None:
        """Remove a folder and all in it, where there is one."""
        path = self.path(folder)
        if self.local:
            shutil.rmtree(path, ignore_errors=True)
        elif self._is_there(path):
            self._fs.rm(path, recursive=True)

    def move_aside(self) -> str:
        """Give the whole folder another name and return it."""
        number = 1
        while self._is_there(f"{self.root}.old-{number}"):
            number += 1
        target = f"{self.root}.old-{number}"
        if self.local:
            os.rename(self.root, target)
        else:
            self._fs.mv(self.root, target, recursive=True)
        return target

    def sweep(self) -> None:
        """Remove what an interrupted writer left behind."""
        if not self.local:
            return
        for folder, _, names in os.walk(self.root):
            for name in names:
                if name.startswith(_TEMPORARY):
                    with suppress(FileNotFoundError):
                        os.unlink(f"{folder}/{name}")
