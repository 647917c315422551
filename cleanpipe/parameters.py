"""From the mapping in a pipeline file to a stage's frozen dataclass, with every fault found."""

from __future__ import annotations

import dataclasses
import difflib
import glob
import keyword
import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Annotated, Any, get_type_hints

from pydantic import BeforeValidator, ConfigDict, TypeAdapter, ValidationError
from pydantic_core import PydanticUndefined, core_schema

from cleanpipe.bounds import Bounds, plain_text

Fault = tuple[tuple[str | int, ...], str]
"""A place below the mapping, and what is wrong there."""


class LocalPath(str):
    """A path in a pipeline file: opened relative to the file (an fsspec URL as it is), shown as it
    was written.

    The string itself is where to open it.

    Attributes:
        written: the path as the user wrote it; this, never the place, is part of a plan.
    """

    written: str
    _base: str

    def __new__(cls, location: str, written: str | None = None, base: str = "") -> LocalPath:
        path = super().__new__(cls, location)
        path.written = location if written is None else written
        path._base = base
        return path

    def __reduce__(self) -> tuple[type[LocalPath], tuple[str, str, str]]:
        return LocalPath, (str(self), self.written, self._base)

    def found(self, location: str) -> LocalPath:
        """A file found by way of this path (a match of the pattern, a file beside it), written
        relative to the same folder."""
        outside = os.path.isabs(os.path.expanduser(self.written))
        written = location if outside else os.path.relpath(location, self._base or ".")
        return LocalPath(location, written, self._base)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> core_schema.CoreSchema:
        def resolve(value: str, info: core_schema.ValidationInfo) -> LocalPath:
            base = (info.context or {}).get("base", ".")
            if "\0" in value:
                raise ValueError("expected a path, got one with a NUL in it")
            location = value
            if "://" not in value:
                location = os.path.normpath(os.path.join(base, os.path.expanduser(value)))
            return cls(location, value, base)

        return core_schema.with_info_after_validator_function(
            resolve, core_schema.str_schema(strict=True, min_length=1)
        )


Texts = Annotated[
    tuple[str, ...],
    BeforeValidator(lambda value: (value,) if isinstance(value, str) else value),
]
"""One text, or a list of them."""

LocalPaths = Annotated[
    tuple[LocalPath, ...],
    BeforeValidator(lambda value: (value,) if isinstance(value, str) else value),
]
"""One path or pattern, or a list of them."""


def matched(patterns: Iterable[LocalPath]) -> tuple[list[LocalPath], list[str]]:
    """The files that patterns name.

    Args:
        patterns: paths, or globs with ``*``, ``?``, ``[]`` and ``**``.

    Returns:
        The files, sorted within each pattern, each once; and what is wrong with a pattern.
    """
    found: dict[LocalPath, None] = {}
    faults = []
    for pattern in patterns:
        written = pattern.written
        # A path that exists is meant as it stands, brackets and all.
        paths = [pattern] if os.path.lexists(pattern) else glob.glob(pattern, recursive=True)
        plain = sorted(os.fspath(path) for path in paths if not os.path.isdir(path))
        if os.path.isdir(pattern):
            faults.append(f"{written} is a folder: write {written.rstrip('/')}/* for its files")
        elif not plain:
            faults.append(f"no file matches {written}")
        found.update((pattern.found(path), None) for path in plain)
    return list(found), faults


_SHOWN = 20
"""Known names listed in a message; of more, the closest."""


def nearest(name: str, known: Iterable[str]) -> str:
    """``did you mean "x"?`` where a known name is close, then the known ones."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    hint = f'did you mean "{close[0]}"? ' if close else ""
    if len(names) <= _SHOWN:
        return f"{hint}known: {', '.join(names)}"
    some = difflib.get_close_matches(name, names, n=8, cutoff=0.3) or names[:8]
    return f"{hint}{len(names)} are known, such as {', '.join(some)}"


def written_name(cls: type[Any], field: str) -> str:
    """What pipeline files call a field: its alias, where that could be no field's name (a word of
    Python, or a method of the class), else its own name."""
    for alias, name in getattr(cls, "aliases", {}).items():
        if name == field and (keyword.iskeyword(alias) or hasattr(cls, alias)):
            return str(alias)
    return field


def build(
    cls: type[Any],
    values: Mapping[str, Any],
    base: str = ".",
    ready: Mapping[str, Any] | None = None,
    check: bool = True,
) -> tuple[Any | None, list[Fault]]:
    """Make an instance of the dataclass ``cls``.

    Args:
        values: parameters as read (maps, tuples, plain scalars); aliases allowed.
        base: the folder relative paths start from.
        ready: parameters that need no validation, by field name.
        check: ask the instance's own ``check`` too. Default True.

    Returns:
        The instance, or None and every fault with its place below ``values``.
    """
    faults: list[Fault] = []
    made: dict[str, Any] = dict(ready or {})
    aliases: Mapping[str, str] = getattr(cls, "aliases", {})
    # mypy takes an instance's __hash__ for the class's own
    adapters = _adapters(cls)  # type: ignore[arg-type]
    written: dict[str, str] = {}
    for key, value in values.items():
        name = aliases.get(key, key)
        if name not in adapters:
            known = list({*aliases, *(written_name(cls, name) for name in adapters)})
            faults.append(((key,), f"unknown parameter; {nearest(str(key), known)}"))
        elif name in written:
            faults.append(((key,), f'says the same as "{written[name]}": keep one'))
        elif name not in made:
            written[name] = key
            try:
                made[name] = adapters[name].validate_python(value, context={"base": base})
            except ValidationError as error:
                faults.extend(((key, *place), text) for place, text in _explained(error, value))
    for field in dataclasses.fields(cls):
        required = (
            field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        )
        if required and field.name not in made and field.name not in written:
            name = written_name(cls, field.name)
            faults.append(((), f'expected the parameter "{name}", which is missing'))
    if faults:
        return None, faults
    instance = cls(**made)
    if check and hasattr(instance, "check"):
        for name, text in instance.check():
            head, _, key = name.partition(".")  # keys may have dots themselves
            inner = (key,) if key else ()
            faults.append(((written[head], *inner) if head in written else (), text))
    return (None if faults else instance), faults


def adapted(hint: Any, value: Any, base: str) -> Any:
    """A value as a parameter of that type takes it.

    Errors: pydantic's ValidationError.
    """
    adapter = TypeAdapter(hint, config=ConfigDict(strict=True, arbitrary_types_allowed=True))
    return adapter.validate_python(value, context={"base": base})


@cache
def _adapters(cls: Any) -> dict[str, TypeAdapter[Any]]:
    hints = get_type_hints(cls, include_extras=True)
    strict = ConfigDict(strict=True, arbitrary_types_allowed=True)
    return {
        field.name: TypeAdapter(
            hints[field.name],
            # pydantic refuses a config for a dataclass, and Bounds brings its own schema
            config=None if dataclasses.is_dataclass(hints[field.name]) else strict,
        )
        for field in dataclasses.fields(cls)
    }


_EXPECTED = {
    "string_type": "expected a text",
    "float_type": "expected a number",
    "int_type": "expected a whole number",
    "int_from_float": "expected a whole number",
    "bool_type": "expected true or false",
    "tuple_type": "expected a list",
    "dict_type": "expected a map",
    "mapping_type": "expected a map",
    "string_too_short": "expected a text that is not empty",
    "none_required": "expected null",
    "greater_than_equal": "expected 0 or more",
    "less_than_equal": "expected a smaller number",
}


def _explained(error: ValidationError, value: Any) -> Iterator[Fault]:
    """One sentence a fault; of a union's branches the one that came furthest."""
    found = error.errors(include_url=False)
    # A union reports each branch: loc then holds the branch's name, which is no key of ours.
    places: dict[tuple[str | int, ...], list[str]] = {}
    for item in found:
        place = tuple(_place(item["loc"], value))
        expected = _EXPECTED.get(item["type"])
        given = item["input"]
        if expected is None:
            context = item.get("ctx", {})
            if item["type"] == "literal_error":
                expected = f"expected {context['expected']}"
            else:
                places.setdefault(place, []).append(item["msg"].removeprefix("Value error, "))
                continue
        shown = f'"{given}"' if isinstance(given, str) else _plain(given)
        places.setdefault(place, []).append(f"{expected}, got {shown}")
    for place, texts in places.items():
        if any(place == other[: len(place)] for other in places if len(other) > len(place)):
            continue
        texts = [text for text in texts if not text.startswith("expected null")] or texts
        heads = [text.split(", got ")[0].removeprefix("expected ") for text in texts]
        if len(texts) > 1 and all(", got " in text for text in texts):
            tail = texts[0].split(", got ", 1)[1]
            yield place, f"expected {' or '.join(dict.fromkeys(heads))}, got {tail}"
        else:
            yield place, texts[0]


def _place(loc: tuple[str | int, ...], value: Any) -> Iterator[str | int]:
    """The parts of a place that are keys of ``value``, not names of a union's branches."""
    for part in loc:
        inside = isinstance(value, Mapping) and part in value
        listed = isinstance(value, (list, tuple)) and isinstance(part, int) and part < len(value)
        if inside or listed:
            value = value[part]
            yield part


def _plain(value: Any) -> str:
    return "nothing" if value is PydanticUndefined else plain_text(value)


def shown(value: Any) -> Any:
    """A parameter as plain JSON: what is printed, and what the fingerprint is made of."""
    if isinstance(value, Bounds):
        return value.to_json()
    if isinstance(value, LocalPath):
        return value.written
    if isinstance(value, Mapping):
        return {str(key): shown(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [shown(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        kind = getattr(value, "kind", None)
        made = {
            written_name(type(value), field.name): shown(getattr(value, field.name))
            for field in dataclasses.fields(value)
        }
        return {kind: made} if kind else made
    return value
