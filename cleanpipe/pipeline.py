"""The Python side: a pipeline that runs over lists, tables, frames and paths."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import xxhash

from cleanpipe.document import Document
from cleanpipe.errors import ConfigError, Fault
from cleanpipe.parse import document_of, parse_spec
from cleanpipe.plan import Plan, load_plan, make_plan
from cleanpipe.progress import Progress
from cleanpipe.recipes import base_of, find_recipe
from cleanpipe.result import Result
from cleanpipe.run import run_plan
from cleanpipe.sources import Source
from cleanpipe.spec import run_options

if TYPE_CHECKING:
    import datasets
    import pandas as pd

    Data: TypeAlias = (
        Sequence[str]
        | pa.Table
        | pa.Array
        | pa.ChunkedArray
        | pd.DataFrame
        | datasets.Dataset
        | str
        | os.PathLike[str]
    )

MEMORY = "memory"
"""The name under which data of this process is a source, and its file."""


class Pipeline:
    """A checked pipeline: the same plan the command line makes of the same file.

    Make one with :meth:`from_yaml` or :meth:`from_dict`.

    Attributes:
        plan: the plan, printable with :meth:`describe`.
    """

    def __init__(self, document: Document, base: str, settings: Sequence[str] = ()) -> None:
        self._document, self._base, self._settings = document, base, tuple(settings)
        self.plan: Plan = load_plan(document, base, settings)

    @classmethod
    def from_yaml(cls, path: str | os.PathLike[str], set: Sequence[str] = ()) -> Pipeline:
        """Read a pipeline file.

        Args:
            path: the file, or the name of a shipped recipe.
            set: overrides ``path=value``, as ``--set`` takes them. Default: none.

        Errors: ConfigError with every fault of the file.
        """
        found = find_recipe(os.fspath(path))
        return cls(Document.read(found), base_of(found), set)

    @classmethod
    def from_dict(cls, pipeline: Mapping[str, Any], set: Sequence[str] = ()) -> Pipeline:
        """Build from the same keys as a pipeline file; paths are relative to the working
        directory.

        Errors: ConfigError with every fault.
        """
        return cls(document_of(pipeline), ".", set)

    def describe(self) -> Mapping[str, Any]:
        """The plan as plain values, every default included."""
        return self.plan.described

    def __repr__(self) -> str:
        stages = ", ".join(step.name for step in self.plan.steps)
        return f"<cleanpipe.Pipeline {self.plan.fingerprint[:12]}: {stages}>"

    def _with_source(self, source: Source) -> Plan:
        spec = parse_spec(self._document, self._base, self._settings)
        return make_plan(replace(spec, sources=(source,)))

    def run(
        self,
        data: Data | None = None,
        *,
        output: str | os.PathLike[str] | None = None,
        runner: str | None = None,
        workers: int | None = None,
        fresh: bool = False,
        quiet: bool = True,
        text: str | None = None,
        id: str | None = None,
    ) -> Result:
        """Clean data.

        Args:
            data: a list of texts, an Arrow table or array, a pandas frame, a Hugging Face
                dataset, or a path (a pattern, folder or URL, relative to the working
                directory). None (default) for the
                pipeline's own sources.
            output: folder for the results, kept and resumable; documents of data in memory
                can be explained while the result lives. None (default): the pipeline's
                ``output.path`` for its own sources, else a temporary folder
                that lives as long as the result.
            runner: ``inline``, ``ray`` or ``auto``. Default: the pipeline's; ``inline`` for
                data in memory.
            workers: tasks at a time under Ray. Default: the pipeline's.
            fresh: move an old output aside first. Default False.
            quiet: say nothing but warnings. Default True.
            text, id: columns of ``data`` with the text and the id. Default: ``text``, and
                ``id`` where there is one.

        Returns:
            The tables and the summary. Ids are positions (int64) where ``data`` is a plain
            list or array of texts, else strings.

        Errors: ConfigError, RunError.
        """
        temporary: tempfile.TemporaryDirectory[str] | None = None
        plan, options = self.plan, self.plan.run
        positions = False
        if data is None:
            if not plan.sources:
                raise ConfigError([Fault(0, 0, "sources", "expected sources, or data to run on")])
            folder = output or plan.output.path
        elif isinstance(data, (str, os.PathLike)):
            source = Source("input", (os.fspath(data),), os.getcwd(), text=text, id=id)
            plan, folder = self._with_source(source), output
        else:
            temporary = tempfile.TemporaryDirectory(prefix="cleanpipe-")
            table, positions = as_table(data)
            _write(table, os.path.join(temporary.name, MEMORY))
            source = Source(MEMORY, (MEMORY,), temporary.name, text=text, id=id, format="arrow")
            plan = self._with_source(source)
            # A notebook is told, not stopped.
            plan = replace(plan, guards="warn" if plan.guards == "stop" else plan.guards)
            folder = output
            options = replace(options, runner="inline")
        if folder is None:
            temporary = temporary or tempfile.TemporaryDirectory(prefix="cleanpipe-")
            folder = os.path.join(temporary.name, "out")
        options = run_options(options, runner=runner, workers=workers)
        run_plan(plan, os.fspath(folder), options, Progress(quiet), fresh=fresh)
        return Result(os.fspath(folder), positions=positions, temporary=temporary)


def _write(table: pa.Table, path: str) -> None:
    """Data of this process as a file whose date changes with its content alone, so that a
    run into the same output is the same run."""
    with pa.OSFile(path, "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=10_000)
    with pa.memory_map(path) as file:
        stamp = xxhash.xxh3_64_intdigest(memoryview(file.read_buffer())) >> 2
    os.utime(path, ns=(stamp, stamp))


def as_table(data: Any) -> tuple[pa.Table, bool]:
    """Data of this process as an Arrow table with a column ``text``.

    Returns:
        The table, and whether ids are positions.

    Errors: ConfigError where it is nothing that holds texts.
    """
    if isinstance(data, pa.Table):
        return data, False
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data]), False
    if isinstance(data, np.ndarray) and data.ndim == 1:
        data = data.tolist()
    if isinstance(data, (pa.Array, pa.ChunkedArray)):
        return _positioned(data), True
    if hasattr(data, "with_format") and hasattr(data, "__len__"):
        return data.with_format("arrow")[:], False  # datasets.Dataset
    if hasattr(data, "to_frame") and not hasattr(data, "columns"):
        gone = data.isna().tolist()  # pandas.Series: NaN is a missing text, too
        data = [None if no else text for text, no in zip(data.tolist(), gone, strict=True)]
    if hasattr(data, "columns") and hasattr(data, "iloc"):
        if not data.columns.is_unique:
            raise ConfigError("two columns of the frame have one name: rename one")
        try:
            return pa.Table.from_pandas(data, preserve_index=False), False
        except (pa.ArrowException, UnicodeError) as error:
            raise ConfigError(f"the frame is no table: {error}") from error
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        wrong = [
            index
            for index, text in enumerate(data)
            if text is not None and not isinstance(text, str)
        ]
        if wrong:
            shown = type(data[wrong[0]]).__name__
            raise ConfigError(f"expected texts, got {shown} at position {wrong[0]}")
        repaired = [
            text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            if text is not None and not text.isascii()
            else text
            for text in data
        ]
        return _positioned(pa.array(repaired, pa.large_string())), True
    if hasattr(data, "__iter__") and not isinstance(data, (bytes, dict)):
        raise ConfigError(
            f"expected data that is there, got {type(data).__name__}, which comes one by one: "
            "make a list or a table of it, or write it to files"
        )
    raise ConfigError(
        "expected a list of texts, an Arrow table, a pandas frame, a dataset or a path, "
        f"got {type(data).__name__}"
    )


def _positioned(texts: pa.Array | pa.ChunkedArray) -> pa.Table:
    return pa.table({"id": pa.array(range(len(texts)), pa.int64()), "text": texts})
