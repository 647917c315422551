"""The one schema of the output, fixed before the first shard is read.

Types are those of Parquet and Arrow files as they are (strings large, dictionaries decoded)
and scalars of JSON as the heads of some files show them. What does not fit goes to ``extra``.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Sequence

import pyarrow as pa

from cleanpipe.columns import EXTRA, Columns, SourceRoles
from cleanpipe.errors import ConfigError, Fault
from cleanpipe.readers import arrow, parquet
from cleanpipe.readers.inputs import InputFile
from cleanpipe.readers.sample import Kinds, not_utf8, spread
from cleanpipe.readers.types import Column, output_type, widened
from cleanpipe.sources import Source


def output_columns(sources: Sequence[Source], files: Sequence[InputFile]) -> Columns:
    """Fix the output's columns. Reads footers, and heads of JSON lines.

    Errors: ConfigError with every fault at once: a role's column that is not there or has
    the wrong type, a clash with our names, one name with types that do not go together;
    RunError where a file cannot be reached.
    """
    return _columns(
        [_Seen(source, [f for f in files if f.source == source.name]) for source in sources]
    )


def text_columns(source: Source, files: Sequence[InputFile]) -> Columns:
    """The same for who wants the texts of one source and passes nothing through: a column whose
    name would clash with ours, as in what a run has kept, is no fault, nor is one that has another
    type in each file.
    """
    return _columns([_Seen(source, files, clashes=False)])


def _columns(seen: Sequence[_Seen]) -> Columns:
    faults: list[Fault] = []
    extra = any(one.kinds is not None for one in seen)
    merged: dict[str, tuple[Column, str]] = {}
    for one in seen:
        one.find_roles()
        one.find_names(extra)
        for key, name in one.mapping.items():
            column = one.columns[key]
            if name not in merged:
                merged[name] = (column, one.source.name)
                continue
            other, owner = merged[name]
            wider = widened(other, column)
            if wider is None:
                one.clash(
                    key,
                    f"`{name}` is {column.type} here and {other.type} in source `{owner}`",
                )
            else:
                merged[name] = (wider, owner)
        faults += one.all_faults({*merged, *one.columns})
    if faults:
        raise ConfigError(faults)
    fields = [pa.field(name, column.type) for name, (column, _) in merged.items()]
    if extra:
        fields.append(pa.field(EXTRA, pa.large_string()))
    return Columns(
        pa.schema(fields),
        {one.source.name: one.mapping for one in seen},
        {one.source.name: one.roles for one in seen},
        {one.source.name: one.loose for one in seen},
        tuple(f"sources.{one.source.name}: {one.doubt}" for one in seen if one.doubt),
    )


NAME_THE_TEXT = "name it by text: beside the paths, in a pipeline file"
"""What to do where the texts are in another column; commands with options say it otherwise."""


class _Seen:
    """What the files of one source show, and what is wrong with it.

    Args:
        source: the source.
        files: its files.
        clashes: whether columns that do not go together are wrong (default True), or left out.
    """

    def __init__(self, source: Source, files: Sequence[InputFile], clashes: bool = True) -> None:
        self.source = source
        self._clashing = clashes
        self.columns: dict[str, Column] = {}
        self.loose: tuple[str, ...] = ()
        self.roles = SourceRoles(None, None, None)
        self.mapping: dict[str, str] = {}
        self.kinds: Kinds | None = None
        self._faults: list[tuple[str, str]] = []
        self._clashes: list[str] = []
        self._renames: dict[str, str] = {}
        self._left_out: set[str] = set()
        self._keys: list[str] = []
        self._tables: dict[str, list[str]] = {}
        self._plain = bool(files) and all(file.format == "text" for file in files)
        lost = []
        for file in files:
            if file.format in ("parquet", "arrow"):
                schema = (parquet if file.format == "parquet" else arrow).schema(file)
                if schema is None:
                    lost.append(file.file)
                else:
                    self._add_table(file.file, schema)
        if lost and len(lost) == len(files):
            self._fault("paths", f"no file of this source can be read, such as `{lost[0]}`")
        written = [file for file in files if file.format in ("jsonl", "text")]
        self.doubt = not_utf8(spread(written))
        lines = [file for file in files if file.format == "jsonl"]
        if lines:
            self.kinds = Kinds(lines)
            self._add_json(lines[0].file, self.kinds)

    @property
    def _known(self) -> bool:
        """Whether anything was seen at all: an empty file shows no columns."""
        return bool(self._tables) or bool(self.kinds and self.kinds.lines)

    def _fault(self, key: str, message: str) -> None:
        self._faults.append((key, message))

    def clash(self, key: str, message: str) -> None:
        """Two columns under one name: to be renamed here."""
        if self._clashing:
            self._clashes.append(message)
            self._renames[key] = ""

    def _add_table(self, file: str, schema: pa.Schema) -> None:
        self._tables[file] = schema.names
        twice = sorted({name for name in schema.names if schema.names.count(name) > 1})
        if twice:
            self._fault("paths", f"`{file}` has two columns named `{twice[0]}`")
        for column in schema:
            self._add(column.name, Column(output_type(column.type), False, file))

    def _add_json(self, file: str, kinds: Kinds) -> None:
        self._keys = list(kinds.keys)
        loose = []
        for key in kinds.keys:
            kind = kinds.column(key)
            if kind is None:
                loose.append(key)
            else:
                self._add(key, Column(kind, True, file))
        self.loose = tuple(loose)

    def _add(self, key: str, column: Column) -> None:
        before = self.columns.setdefault(key, column)
        wider = widened(before, column)
        if wider is not None:
            self.columns[key] = wider
        elif not self._clashing and key != (self.source.text or "text"):
            self._left_out.add(key)
        else:
            self._fault(
                "paths",
                f"`{key}` is {before.type} in `{before.file}` and {column.type} in"
                f" `{column.file}`: make them two sources and rename one",
            )

    def find_roles(self) -> None:
        """Resolve the text, id and url columns."""
        source = self.source
        if self._plain:
            for role in ("text", "id", "url", "rename"):
                if getattr(source, role):
                    self._fault(role, "plain text has no columns: leave this out")
            return
        text = source.text or "text"
        if self._known:
            self._find_text(text)
        found: dict[str, str | None] = {}
        for role in ("id", "url"):
            name = getattr(source, role)
            column = self.columns.get(name or role)
            if name is not None and self._known and name not in {*self.columns, *self.loose}:
                self._fault(role, _missing(name, self._names()))
            wrong = column is not None and not _is_text(column.type)
            if role == "url" and name is not None and wrong and column is not None:
                self._fault(role, f"expected a column of strings, `{name}` is {column.type}")
            if name is None and (column is None or (role == "url" and wrong)):
                # A key that only later lines have is still an id by its name.
                name = "id" if role == "id" and self.kinds else None
            else:
                name = name or role
            if name == text:
                self._fault(role, f"`{name}` is the text column already")
            found[role] = name
        self.roles = SourceRoles(text, found["id"], found["url"])

    def _find_text(self, text: str) -> None:
        hint = "" if self.source.text else f"; {NAME_THE_TEXT}"
        for file, names in self._tables.items():
            if text not in names:
                self._fault("text", f"{_missing(text, names, f' in `{file}`')}{hint}")
                return
        if self.kinds and self.kinds.lines and text not in self._keys:
            if not self.kinds.objects:
                self._fault(
                    "paths",
                    f"none of the first {self.kinds.lines} lines is a JSON object:"
                    " expected JSON lines, one object a line",
                )
            else:
                where = " in any sampled line"
                self._fault("text", f"{_missing(text, self._keys, where)}{hint}")
            return
        column = self.columns.get(text)
        if column is not None and self._tables and not _is_text(column.type):
            self._fault("text", f"expected a column of strings, `{text}` is {column.type}")

    def _names(self) -> list[str]:
        return list(dict.fromkeys((*self.columns, *self.loose)))

    def find_names(self, extra: bool) -> None:
        """Name the columns passed through."""
        source, roles = self.source, self.roles
        taken = {"text", "id", "cleanpipe", *([EXTRA] if extra else ())}
        consumed = {roles.text} | ({roles.id} - {roles.url})
        for old in source.rename:
            if old in consumed:
                role = "text" if old == roles.text else "id"
                self._fault("rename", f"`{old}` is the {role} column: its name is `{role}`")
            elif self._known and old not in self._names():
                self._fault("rename", _missing(old, self._names()))
        users: dict[str, str] = {}
        wrong = any(key in ("text", "id", "url") for key, _ in self._faults)
        roles_lost = {"text", "id"} if wrong else set()
        for key in self.columns:
            if key in consumed or key in self._left_out:
                continue
            name = source.rename.get(key, key)
            if name in roles_lost:
                continue  # it may well be the column that was meant
            if name in taken:
                why = ", which holds what fits no column" if name == EXTRA else ""
                was = f"column `{key}`, renamed" if key in source.rename else "column"
                self.clash(key, f"{was} `{name}` would clash with our `{name}`{why}")
            elif name in users:
                self.clash(key, f"`{key}` and `{users[name]}` are both named `{name}`")
            else:
                users[name] = key
                self.mapping[key] = name

    def all_faults(self, names: Iterable[str]) -> list[Fault]:
        """Everything found wrong, with the ``rename:`` that resolves the clashes."""
        place = f"sources.{self.source.name}"
        faults = [Fault(0, 0, f"{place}.{key}", message) for key, message in self._faults]
        if self._clashes:
            taken = set(names)
            renames = dict(self.source.rename)
            for key in self._renames:
                new = f"{self.source.name}_{key}"
                while new in taken:
                    new += "_"
                taken.add(new)
                renames[key] = new
            pairs = ", ".join(f"{_yaml(old)}: {_yaml(new)}" for old, new in renames.items())
            message = "; ".join(self._clashes) + f": write rename: {{{pairs}}}"
            faults.append(Fault(0, 0, f"{place}.rename", message))
        return faults


def _is_text(kind: pa.DataType) -> bool:
    return kind in (pa.large_string(), pa.null())


def _missing(name: str, names: Sequence[str], where: str = "") -> str:
    """No such column; those there are, the nearest first."""

    def distance(other: str) -> float:
        return -difflib.SequenceMatcher(None, name.lower(), other.lower()).ratio()

    ordered = [f"`{other}`" for other in sorted(names, key=distance)]
    more = f" and {len(ordered) - 20} more" if len(ordered) > 20 else ""
    there = f"there are {', '.join(ordered[:20])}{more}" if ordered else "there are none"
    return f"no column `{name}`{where}: {there}"


def _yaml(name: str) -> str:
    words = ("true", "false", "yes", "no", "on", "off", "null", "y", "n")
    plain = re.fullmatch(r"[A-Za-z_][\w-]*", name, re.ASCII) and name.lower() not in words
    return name if plain else json.dumps(name, ensure_ascii=False)
