"""What the fields of a test set name: paths into an item, and templates over them.

A path is names joined by dots; ``[2]`` picks an element of a list, ``[*]`` or nothing at all
takes every one. A key that has dots or brackets itself is found too: at each level the longest
beginning of the path that is a key counts. A template is a text with a path in each pair of
braces; ``{{`` and ``}}`` stand for braces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from cleanpipe.parameters import nearest
from cleanpipe.readers.tables import as_text

_ELEMENT = re.compile(r"\[(\d+|\*)\]")
_BRACE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


class Field(NamedTuple):
    """A path or a template, taken apart.

    Attributes:
        paths: k paths, one for each hole; of a plain path: itself.
        around: k + 1 texts, before, between and after them.
    """

    paths: tuple[str, ...]
    around: tuple[str, ...]

    @classmethod
    def parse(cls, entry: str) -> Field:
        """Take an entry of ``fields`` apart.

        Errors: ValueError where it is empty, a brace has no partner, a hole is empty, or a
        template has no hole.
        """
        if not entry.strip():
            raise ValueError(f'expected a path or a template, got "{entry}"')
        if "{" not in entry and "}" not in entry:
            return cls((entry,), ("", ""))
        paths: list[str] = []
        around = [""]
        at = 0
        for brace in _BRACE.finditer(entry):
            around[-1] += entry[at : brace.start()]
            at = brace.end()
            if brace[0] in ("{{", "}}"):
                around[-1] += brace[0][0]
            elif brace[1] is None:
                raise ValueError(
                    f'a "{brace[0]}" without its partner in "{entry}": write '
                    f"{brace[0] * 2} for a brace"
                )
            elif not brace[1].strip():
                raise ValueError(f'a hole without a path in "{entry}": write {{question}}')
            else:
                paths.append(brace[1].strip())
                around.append("")
        around[-1] += entry[at:]
        if not paths:
            raise ValueError(f'"{entry}" has no hole: write a path in braces, as {{question}}')
        return cls(tuple(paths), tuple(around))

    def text(self, item: Mapping[str, Any]) -> str | None:
        """The text of this field in an item, or None where a hole finds nothing.

        Errors: ValueError where a path ends at an object, or at bytes.
        """
        made = self.around[0]
        for path, after in zip(self.paths, self.around[1:], strict=True):
            found = texts(item, path)
            if not found:
                return None
            made += "\n".join(found) + after
        return made


def texts(item: Mapping[str, Any], path: str) -> list[str]:
    """Everything a path finds in an item, as texts, in order.

    Errors: ValueError where it ends at an object, or at bytes.
    """
    return [text for value in _found(item, path) for text in _written(value, path)]


def strings(item: Mapping[str, Any]) -> dict[str, list[str]]:
    """Every string in an item, in order, by its path without elements of lists."""
    found: dict[str, list[str]] = {}
    for path, value in _leaves(item, ""):
        if isinstance(value, str):
            found.setdefault(path, []).append(value)
    return found


def known(item: Mapping[str, Any]) -> Iterator[str]:
    """The paths of all values in an item, without elements of lists."""
    for path, _ in _leaves(item, ""):
        yield path


def without_elements(path: str) -> str:
    """``messages[0].content`` as ``messages.content``."""
    return _ELEMENT.sub("", path)


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _leaves(inner, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, path)
    else:
        yield path, value


def _found(value: Any, path: str) -> Iterator[Any]:
    if not path:
        yield value
    elif isinstance(value, list):
        element = _ELEMENT.match(path)
        rest = _after(path, element.end()) if element else path
        if element is None or element[1] == "*":
            for inner in value:
                yield from _found(inner, rest)
        elif len(element[1]) < 19 and int(element[1]) < len(value):
            yield from _found(value[int(element[1])], rest)
    elif isinstance(value, dict):
        for end in reversed([at for at, sign in enumerate(path) if sign in ".["] + [len(path)]):
            if path[:end] in value:
                yield from _found(value[path[:end]], _after(path, end))
                return


def _after(path: str, end: int) -> str:
    """What is left of a path; a dot with nothing behind it stays, and finds nothing."""
    return path[end + 1 :] if path[end : end + 1] == "." and end + 1 < len(path) else path[end:]


def _written(value: Any, path: str) -> Iterator[str]:
    """A value as texts: strings as they are, other scalars as JSON writes them."""
    if isinstance(value, list):
        for inner in value:
            yield from _written(inner, path)
    elif isinstance(value, dict):
        if value:
            raise ValueError(
                f'"{path}" is an object, not a text: name what is in it, such as '
                f'"{path}.{next(iter(value))}"; {nearest("", value)}'
            )
    elif isinstance(value, bytes):
        raise ValueError(f'"{path}" is bytes, not a text')
    elif value == value:  # NaN is how tables write a missing number
        text = as_text(value)
        if text is not None:
            yield text
