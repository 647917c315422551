"""Test sets -> items and their parts: what of a set is looked for in documents."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, TypeAlias, cast

from pydantic import AfterValidator, BeforeValidator, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError, core_schema

from cleanpipe.dedup.fields import Field, known, strings, texts, without_elements
from cleanpipe.dedup.item_files import Row, rows, stem
from cleanpipe.document import frozen
from cleanpipe.errors import ConfigError
from cleanpipe.parameters import LocalPath, LocalPaths, build, matched, nearest

_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_LETTERS = "expected letters, digits, _ - . only"


def _entry(value: str) -> str:
    Field.parse(value)
    return value


def _path(value: str) -> str:
    if not value.strip():
        raise ValueError(f'expected the path of a field, got "{value}"')
    return value


Entry = Annotated[str, AfterValidator(_entry)]


@dataclass(frozen=True)
class TestSet:
    """One test set, as a pipeline file gives it.

    Attributes:
        paths: local files or patterns, one or a list: JSON lines (``.jsonl``, ``.ndjson``),
            JSON, Parquet, CSV, TSV, each also with ``.gz`` or ``.zst``.
        fields: the parts of an item: paths and templates (:mod:`cleanpipe.dedup.fields`), which
            are also the parts' names, or a map of name to path or template. Default: every
            string of an item but its id, a part for each path.
        id: path of the field with the item's id. Default: ``id`` where an item has one. An item
            without has its place in the set, from 0.
        tokens: ``words`` (default), or ``code``, where every operator is a token too; or a map of
            parts' names to these, for sets that have both (the others are words).
        action: what becomes of documents with items of this set, ``drop``, ``cut`` or ``flag``.
            Default: what the stage says.
    """

    __test__: ClassVar[bool] = False  # to pytest any class named Test* is a test

    paths: LocalPaths
    fields: tuple[Entry, ...] | Mapping[str, Entry] = ()
    id: Annotated[str, AfterValidator(_path)] | None = None
    tokens: Literal["words", "code"] | Mapping[str, Literal["words", "code"]] = "words"
    action: Literal["drop", "cut", "flag"] | None = None

    def check(self) -> list[tuple[str, str]]:
        """Faults that no single parameter shows."""
        faults = []
        if not self.paths:
            faults.append(("paths", "expected at least one file"))
        names = list(self.fields)
        for name in dict.fromkeys(name for name in names if names.count(name) > 1):
            faults.append(("fields", f'"{name}" is listed twice'))
        for name in self.tokens if isinstance(self.tokens, Mapping) and names else ():
            if name not in names:
                faults.append(("tokens", f'no field is called "{name}"; {nearest(name, names)}'))
        return faults

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> core_schema.CoreSchema:
        return core_schema.with_info_plain_validator_function(_made)


class Part(NamedTuple):
    """One text of an item.

    Attributes:
        name: the field's name.
        text: what is looked for; never blank.
    """

    name: str
    text: str


class Item(NamedTuple):
    """One question of a test set.

    Attributes:
        id: a label, which may repeat.
        parts: its texts, in the order of the fields; none where it has no text.
    """

    id: str
    parts: tuple[Part, ...]


def item_files(test_set: TestSet) -> list[LocalPath]:
    """The files of a set, each once, by the bytes of their paths as written.

    Errors: ConfigError where a pattern names no file, a folder, or a URL.
    """
    found, faults = matched(test_set.paths)
    if faults:
        remote = [path.written for path in test_set.paths if "://" in path]
        faults = [f"{path}: test sets are local files: copy it first" for path in remote] or faults
        raise ConfigError("\n".join(faults))
    return sorted(found, key=lambda path: os.fsencode(path.written))


def read_items(test_set: TestSet) -> list[Item]:
    """All items of a set, in order of its files.

    Errors: ConfigError with the file, the line and what is wrong: a file that cannot be read
    whole or has no items, a field that no item has, a path that ends at an object.
    """
    found: list[Row] = []
    for path in item_files(test_set):
        before = len(found)
        found += rows(path)
        if len(found) == before:
            raise ConfigError(f"{path}: has no items")
    named = dict(_fields(test_set))
    items = []
    for index, row in enumerate(found):
        try:
            parts = _named(named, row.values) if named else _all(test_set, row.values)
            name = _id(test_set, row.values)
        except ValueError as error:
            raise ConfigError(f"{row.place}: {error}") from None
        items.append(Item(name or str(index), parts))
    given = {part.name for item in items for part in item.parts}
    for name, field in named.items():
        if name not in given:
            raise ConfigError(_absent(test_set, found, field.paths))
    if test_set.id is not None and not any(texts(row.values, test_set.id) for row in found):
        raise ConfigError(_absent(test_set, found, (test_set.id,)))
    return items


def _fields(test_set: TestSet) -> list[tuple[str, Field]]:
    fields = test_set.fields
    entries = fields.items() if isinstance(fields, Mapping) else zip(fields, fields, strict=True)
    try:
        return [(name, Field.parse(entry)) for name, entry in entries]
    except ValueError as error:
        raise ConfigError(f"fields: {error}") from None


def _named(named: Mapping[str, Field], values: Mapping[str, Any]) -> tuple[Part, ...]:
    made = ((name, field.text(values)) for name, field in named.items())
    return tuple(Part(name, text) for name, text in made if text and not text.isspace())


def _all(test_set: TestSet, values: Mapping[str, Any]) -> tuple[Part, ...]:
    own = without_elements(test_set.id or "id")
    found = strings({name: value for name, value in values.items() if name != "id"})
    made = ((path, "\n".join(given)) for path, given in found.items() if path != own)
    return tuple(Part(path, text) for path, text in made if text and not text.isspace())


def _id(test_set: TestSet, values: Mapping[str, Any]) -> str | None:
    path = test_set.id or "id"
    if test_set.id is None and isinstance(values.get("id"), (Mapping, list, bytes)):
        return None  # something else of that name
    found = texts(values, path)
    if len(found) > 1:
        raise ValueError(f'"{path}" is {len(found)} values: an id is one')
    return found[0] if found else None


def _absent(test_set: TestSet, found: list[Row], paths: tuple[str, ...]) -> str:
    """Why no item has a text by these paths."""
    place = ", ".join(path.written for path in test_set.paths)
    names = {name for row in found for name in known(row.values)}
    for path in paths:
        if not any(texts(row.values, path) for row in found):
            if without_elements(path) in names:
                return f'{place}: "{path}" finds nothing in any item'
            return f'{place}: no item has "{path}"; {nearest(path, names)}'
    if len(paths) == 1:
        return f'{place}: "{paths[0]}" is blank in every item'
    return f"{place}: no item has a text by {' and '.join(paths)} together"


def _made(value: Any, info: core_schema.ValidationInfo) -> TestSet:
    """A set from its parameters, its path, or its list of paths."""
    if isinstance(value, TestSet):
        return value
    if isinstance(value, (str, tuple)):
        value = {"paths": value}
    if not isinstance(value, Mapping):
        raise ValueError(
            f"expected a path, a list of paths, or a map with paths, got {_json(value)}"
        )
    made, faults = build(TestSet, value, (info.context or {}).get("base", "."))
    if made is None:
        raise ValidationError.from_exception_data(
            "test set",
            [
                InitErrorDetails(
                    type=PydanticCustomError("test_set", "{text}", {"text": text}),
                    loc=place,
                    input=value,
                )
                for place, text in faults
            ],
        )
    return cast(TestSet, made)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _sets(value: Any, info: core_schema.ValidationInfo) -> Any:
    """A map of sets; of paths without names, each file as a set of its own."""
    value = frozen(value)
    if isinstance(value, str):
        value = (value,)
    if isinstance(value, Mapping):
        if not value:
            raise ValueError("expected at least one test set")
        for name in value:
            if not _NAME.fullmatch(name):
                raise ValueError(f'"{name}" is no name of a test set: {_LETTERS}')
        return value
    if not isinstance(value, tuple):
        raise ValueError(
            f"expected a path, a list of paths, or a map of names and test sets, got {_json(value)}"
        )
    try:
        files = item_files(_made(value, info))
    except ConfigError as error:
        raise ValueError(str(error)) from None
    sets: dict[str, TestSet] = {}
    for path in files:
        name = stem(path)
        if not _NAME.fullmatch(name):
            raise ValueError(f"{path.written}: name it by a map: {_LETTERS}")
        if name in sets:
            raise ValueError(
                f'{sets[name].paths[0].written} and {path.written} would both be called "{name}": '
                "name them by a map"
            )
        sets[name] = TestSet((path,))
    return sets


Tests: TypeAlias = Annotated[Mapping[str, TestSet], BeforeValidator(_sets)]
"""Test sets by name, which has letters, digits and ``_ - .`` only: a map of name to path, list of
paths, or parameters of :class:`TestSet`. A path alone, or a list, makes each file a set, named by
the file without its endings."""
