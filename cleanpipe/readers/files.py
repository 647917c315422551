"""Opening and decompressing, and telling a broken file from a broken connection."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import fsspec
import pyarrow as pa
from isal import isal_zlib

from cleanpipe.errors import RunError
from cleanpipe.readers.inputs import InputFile

CHUNK = 1 << 20
"""Bytes of a step of :func:`stream`, at most; fixed, so that results never depend on it."""

_STEP = 1 << 16

CONTENT_ERRORS = (OSError, pa.ArrowException, UnicodeDecodeError, OverflowError, ValueError)
"""What Arrow raises for corrupt content: far more than ArrowInvalid."""


_GZIP_ERROR: Any = isal_zlib.error


class Broken(Exception):
    """A file's content breaks off; everything before the break was given.

    Attributes:
        reason: ``truncated`` (it ends too early, or too late) or ``unreadable``.
        message: what the decoder said.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


class _Corrupt(Exception):
    """As Broken, before the finer readings.

    ``at`` is how far the codec had come; ``exact`` that nothing of the last step was lost.
    """

    def __init__(self, at: int, reason: str, message: str, exact: bool = False) -> None:
        super().__init__(message)
        self.at = at
        self.exact = exact
        self.reason = reason
        self.message = message


class _Watched(io.RawIOBase):
    """A file that remembers the failure of a read, which Arrow would make look like content."""

    def __init__(self, raw: IO[bytes]) -> None:
        self.raw = raw
        self.failure: BaseException | None = None

    def _try(self, method: str, *arguments: Any) -> Any:
        try:
            return getattr(self.raw, method)(*arguments)
        except Exception as error:
            self.failure = error
            raise

    def read(self, size: int = -1) -> bytes:
        return bytes(self._try("read", size))

    def seek(self, offset: int, whence: int = 0) -> int:
        return int(self._try("seek", offset, whence))

    def tell(self) -> int:
        return int(self._try("tell"))

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def close(self) -> None:
        self.raw.close()
        super().close()


def is_local(file: InputFile) -> bool:
    """Whether the file is a path of this machine."""
    return "://" not in file.location


def broken(file: InputFile, error: BaseException, watched: object = None) -> Broken:
    """The content error that ``error`` stands for.

    Errors: RunError where it is none: the file could not be reached. That is to be tried
    again; a dead record for it would make the output depend on the network.
    """
    failure = watched.failure if isinstance(watched, _Watched) else None
    if failure is not None or (isinstance(error, OSError) and error.errno is not None):
        raise RunError(f"{file.location}: cannot be read: {failure or error}") from error
    return Broken("unreadable", " ".join(str(error).split()) or type(error).__name__)


@contextmanager
def opened(file: InputFile) -> Iterator[_Watched]:
    """The file's bytes as they are. Errors: RunError where it cannot be opened."""
    try:
        if is_local(file):
            raw: IO[bytes] = open(file.location, "rb", buffering=0)  # noqa: SIM115
        else:
            fs, path = fsspec.core.url_to_fs(file.location)
            raw = fs.open(path, "rb")
    except Exception as error:
        raise RunError(f"{file.location}: cannot be opened: {error}") from error
    with _Watched(raw) as watched:
        yield watched


@contextmanager
def arrow_opened(file: InputFile, mapped: bool = False) -> Iterator[tuple[pa.NativeFile, object]]:
    """The file for Arrow's readers, with what :func:`broken` wants to know.

    Args:
        file: the file.
        mapped: memory-map it where it is local, so that its batches are no copies.
    """
    if not is_local(file):
        with opened(file) as watched:
            yield pa.PythonFile(watched, mode="r"), watched
        return
    try:
        native = (
            pa.memory_map(file.location)
            if mapped and file.size
            else pa.OSFile(file.location, mode="r")
        )
    except OSError as error:
        raise RunError(f"{file.location}: cannot be opened: {error}") from error
    with native:
        yield native, None


def stream(file: InputFile, start: int = 0) -> Iterator[bytes]:
    """The decompressed bytes, in chunks of at most 1 MiB.

    Args:
        file: the file.
        start: byte to begin at; only without compression.

    Errors: Broken after the last good byte; RunError where the file cannot be reached.
    """
    yield from _plain(file, start) if file.compression is None else _gathered(_unpacked(file))


def _gathered(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The same bytes in chunks as large as may be: what follows works by the block."""
    held: list[bytes] = []
    size = 0
    try:
        for chunk in chunks:
            if size + len(chunk) > CHUNK:
                yield b"".join(held)
                held, size = [], 0
            held.append(chunk)
            size += len(chunk)
    except Broken:
        if held:
            yield b"".join(held)
        raise
    if held:
        yield b"".join(held)


def _unpacked(file: InputFile) -> Iterator[bytes]:
    if file.size == 0:
        raise Broken("truncated", f"an empty file is no {file.compression} file")
    codec = _gzip if file.compression == "gzip" else _zstd
    given = at = 0
    wrong = Broken("unreadable", "")
    # A failing step loses what it had decoded: go there again, in ever smaller steps.
    for step in (_STEP, 1024, 1):
        skip = given
        try:
            for chunk in codec(file, at, step):
                fresh = chunk[skip:]
                skip = max(0, skip - len(chunk))
                if fresh:
                    given += len(fresh)
                    yield fresh
            return
        except _Corrupt as error:
            at = error.at
            wrong = Broken(error.reason, error.message)
            if error.exact:
                break
    raise wrong


def _plain(file: InputFile, start: int) -> Iterator[bytes]:
    with opened(file) as raw:
        try:
            raw.seek(start)
            while chunk := raw.read(CHUNK):
                yield chunk
        except Exception as error:
            if raw.failure is None:
                raise
            raise RunError(f"{file.location}: cannot be read: {error}") from error


def _steps(file: InputFile, raw: _Watched, fine: int, step: int) -> Iterator[tuple[int, bytes]]:
    """Input in parts, with their offsets; of ``step`` bytes from ``fine`` on."""
    at = 0
    while True:
        try:
            data = raw.read(_STEP)
        except Exception as error:
            raise RunError(f"{file.location}: cannot be read: {error}") from error
        if not data:
            return
        size = step if at >= fine else _STEP
        for place in range(0, len(data), size):
            yield at + place, data[place : place + size]
        at += len(data)


def _gzip(file: InputFile, fine: int, step: int) -> Iterator[bytes]:
    member: Any = None
    members = at = given = 0
    begun = False
    with opened(file) as raw:
        for at, data in _steps(file, raw, fine - fine % _STEP, step):
            while data or begun:
                if not begun:
                    data = data.lstrip(b"\0") if members else data  # padding, as gzip allows
                    if not data:
                        break
                    member, begun, given = isal_zlib.decompressobj(31), True, 0
                try:
                    out = member.decompress(data, CHUNK)
                except _GZIP_ERROR as error:
                    if members and not given:
                        message = "bytes after the end of the gzip data"
                        raise _Corrupt(at, "truncated", message) from error
                    raise _Corrupt(at, "unreadable", f"gzip: {error}") from error
                if out:
                    given += len(out)
                    yield out
                if member.eof:
                    data = member.unused_data
                    members += 1
                    begun = False
                    continue
                data = member.unconsumed_tail
                if not data and len(out) < CHUNK:
                    break
    if begun:
        raise _Corrupt(at, "truncated", "the gzip data ends too early", exact=True)


def _zstd(file: InputFile, fine: int, step: int) -> Iterator[bytes]:
    at = 0
    with opened(file) as raw:
        packed = pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd")
        while True:
            try:
                out = packed.read(step if at >= fine else min(_STEP, fine - at))
            except CONTENT_ERRORS as error:
                wrong = broken(file, error, raw)
                reason, message = "unreadable", wrong.message
                if "Truncated" in message:
                    reason, message = "truncated", "the zstd data ends too early"
                elif at > 0 and "Unknown frame" in message:
                    reason, message = "truncated", "bytes after the end of the zstd data"
                raise _Corrupt(at, reason, message) from error
            if not out:
                return
            at += len(out)
            yield out
