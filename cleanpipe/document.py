"""A pipeline file as plain values, with the line and column of every one of them."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.constructor import DuplicateKeyError
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.reader import ReaderError
from ruamel.yaml.scalarfloat import ScalarFloat

from cleanpipe.errors import ConfigError, Fault

Place = tuple[str | int, ...]


class Document:
    """A parsed configuration.

    Attributes:
        tree: maps, tuples and plain scalars.
        file: the file's name as faults show it, or ``pipeline`` for a dictionary.
    """

    def __init__(
        self,
        tree: Any,
        file: str = "",
        positions: Mapping[Place, tuple[int, int]] | None = None,
        settings: Mapping[Place, str] | None = None,
    ) -> None:
        self.tree = tree
        self.file = file
        self._positions = dict(positions or {})
        self._settings = dict(settings or {})

    def changed(self, tree: Any, settings: Mapping[Place, str]) -> Document:
        """The same with other values at some places, each with the path of the ``--set`` that
        put it there; faults of these are that setting's, not of a line of the file."""
        return Document(tree, self.file, self._positions, settings)

    def fault(self, place: Place, message: str) -> Fault:
        """A fault at ``place``, or at the nearest place above it that has a line."""
        for length in range(len(place), 0, -1):
            if place[:length] in self._settings:
                return Fault(0, 0, self._settings[place[:length]], message, "--set")
        known = place
        while known and known not in self._positions:
            known = known[:-1]
        line, column = self._positions.get(known, (0, 0))
        return Fault(line, column, dotted(place), message, self.file)

    def placed(self, fault: Fault) -> Fault:
        """A fault that has only a path, with the file and, where that has one, the line of it."""
        if fault.file or fault.line:
            return fault
        known = {dotted(place): where for place, where in self._positions.items()}
        for place, setting in self._settings.items():
            if f"{fault.path}.".startswith(f"{dotted(place)}."):
                return replace(fault, path=setting, file="--set")
        path = fault.path
        # The names of sources may have dots, so nothing is taken apart but at its end.
        while path and path not in known:
            path = path.rpartition(".")[0]
        # A source given beside the file (--input) has no line, not that of the file's sources.
        line, column = known[path] if "." in path else (0, 0)
        return replace(fault, line=line, column=column, file=self.file)

    @classmethod
    def read(cls, path: str) -> Document:
        """Read a YAML 1.2 file.

        Errors: ConfigError where it cannot be read or is no YAML, naming line and column.
        """
        try:
            text = Path(path).read_bytes().decode("utf-8")
        except OSError as error:
            raise ConfigError([Fault(0, 0, "", error.strerror or str(error), path)]) from None
        except UnicodeDecodeError as error:
            message = f"expected UTF-8, got the byte {error.object[error.start]:#04x}"
            place = _place(error.object[: error.start].decode())
            raise ConfigError([Fault(*place, "", message, path)]) from None
        return cls.parse(text, path)

    @classmethod
    def parse(cls, text: str, file: str) -> Document:
        """Read YAML 1.2 from a text; see :meth:`read`."""
        yaml = YAML(typ="rt")
        try:
            tree = yaml.load(text)
        except RecursionError:
            raise ConfigError([Fault(0, 0, "", "nested too deeply", file)]) from None
        except DuplicateKeyError as error:
            message = (error.problem or "duplicate key").split("\n")[0]
            raise ConfigError([_marked(error, message, file)]) from None
        except MarkedYAMLError as error:
            raise ConfigError([_marked(error, f"no YAML: {error.problem}", file)]) from None
        except ReaderError as error:
            message = f"no YAML: {error.reason}: U+{ord(text[error.position]):04X}"
            raise ConfigError([Fault(*_place(text[: error.position]), "", message, file)]) from None
        except YAMLError as error:
            raise ConfigError([Fault(0, 0, "", f"no YAML: {error}", file)]) from None
        positions: dict[Place, tuple[int, int]] = {}
        try:
            return cls(_plain(tree, (), positions), file, positions)
        except _Odd as odd:
            raise ConfigError([cls((), file, positions).fault(odd.place, str(odd))]) from None


class _Odd(ValueError):
    """A value that no pipeline has, and where it stands."""

    def __init__(self, place: Place, message: str) -> None:
        super().__init__(message)
        self.place = place


def dotted(place: Place) -> str:
    """``("stages", 2, "length")`` as ``stages[2].length``."""
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def frozen(value: Any) -> Any:
    """A plain value with tuples for lists, so that parameters made of it are immutable.

    Errors: ConfigError for a text that UTF-8 cannot write.
    """
    try:
        return _frozen(value, ())
    except _Odd as odd:
        raise ConfigError([Fault(0, 0, dotted(odd.place), str(odd))]) from None


def _frozen(value: Any, place: Place) -> Any:
    if isinstance(value, Mapping):
        return {
            _text_checked(str(key), place): _frozen(item, (*place, str(key)))
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return tuple(_frozen(item, (*place, index)) for index, item in enumerate(value))
    return _text_checked(value.item() if isinstance(value, np.generic) else value, place)


def _place(before: str) -> tuple[int, int]:
    """Line and column of what comes after this text."""
    return before.count("\n") + 1, len(before) - before.rfind("\n")


def _marked(error: MarkedYAMLError, message: str, file: str) -> Fault:
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
    return Fault(line, column, "", message, file)


_MOST = 100_000
"""Values a file may have, aliases followed: a few lines of aliases can stand for billions."""


def _plain(node: Any, place: Place, positions: dict[Place, tuple[int, int]]) -> Any:
    if len(positions) > _MOST:
        raise ConfigError(f"no pipeline has more than {_MOST} values: look at its aliases")
    tag = getattr(getattr(node, "tag", None), "value", None)
    if tag not in (None, "tag:yaml.org,2002:str"):
        raise _Odd(place, f"expected a plain value, got one with the tag {tag}")
    if isinstance(node, CommentedMap):
        made: dict[str, Any] = {}
        for key, value in node.items():
            name = _text_checked(_name(_scalar(key)), place)
            inner = (*place, name)
            # Merged keys (<<: *anchor) have no place of their own.
            if key in node.lc.data if node.lc.data else False:
                line, column = node.lc.key(key)
                positions[inner] = (line + 1, column + 1)
            made[name] = _plain(value, inner, positions)
        return made
    if isinstance(node, CommentedSeq):
        items = []
        for index, value in enumerate(node):
            inner = (*place, index)
            line, column = node.lc.item(index)
            positions[inner] = (line + 1, column + 1)
            items.append(_plain(value, inner, positions))
        return tuple(items)
    return _text_checked(_scalar(node), place)


def _text_checked(value: Any, place: Place) -> Any:
    """The value, if it is one that UTF-8 can write: YAML's and JSON's escapes can say more."""
    if isinstance(value, str) and any("\ud800" <= character <= "\udfff" for character in value):
        raise _Odd(place, "has half a surrogate pair (U+D800 to U+DFFF), which is no character")
    return value


def _name(key: Any) -> str:
    """A key as a text; ``null:`` and ``true:`` as they are written."""
    return str(key) if key is not None and not isinstance(key, bool) else json.dumps(key)


def _scalar(node: Any) -> Any:
    if isinstance(node, (datetime.date, datetime.datetime)):
        return node.isoformat()
    if isinstance(node, bool) or node is None:
        return node
    if isinstance(node, (ScalarFloat, float)):
        return float(node)
    if isinstance(node, int):
        return int(node)
    return str(node)
