"""Language packs: limits by language, as data with the source of each. Not a stage.

A pack is two files beside each other: ``en.yaml`` and ``en.pairs.txt``. Both are printed by
scripts/language_pack.py; docs/how-to/add-a-language.md says how, and what is in them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from cleanpipe.bounds import Bounds
from cleanpipe.document import Document
from cleanpipe.errors import ConfigError
from cleanpipe.parameters import LocalPath, nearest
from cleanpipe.stage import MOST_TOKENS
from cleanpipe.surface import SURFACE

_FOLDER = Path(__file__).parent / "packs"
PAIRS = "odd_pair_share"
"""The one limit that is on no surface measure, but on ``word_order``'s."""
MEASURES = (*SURFACE, PAIRS)
"""What limits can be on."""


@dataclass(frozen=True)
class Limits:
    """The limits of one unit.

    Attributes:
        min_tokens: shorter units are not judged: the text they come of had no shorter ones.
        bounds: by measure, in the order of the file.
    """

    min_tokens: int
    bounds: Mapping[str, Bounds]


def shipped() -> list[str]:
    """Names of the packs that come with the package, sorted."""
    return sorted(path.stem for path in _FOLDER.glob("*.yaml"))


def file_of(pack: LocalPath) -> LocalPath:
    """The YAML file of a pack: a path where it ends in ``.yaml``, else the name of a shipped one.

    Errors: ConfigError where there is none of that name.
    """
    if pack.written.endswith((".yaml", ".yml")):
        return pack
    name = f"{pack.written}.yaml"
    if pack.written not in shipped():
        known = nearest(pack.written, shipped())
        raise ConfigError(f'no pack is called "{pack.written}" (a file ends in .yaml); {known}')
    return LocalPath(str(_FOLDER / name), name)


def pairs_of(pack: LocalPath) -> LocalPath:
    """The list of pairs beside a pack's YAML file.

    Errors: ConfigError as :func:`file_of`.
    """
    found = file_of(pack)
    return LocalPath(*(os.path.splitext(path)[0] + ".pairs.txt" for path in (found, found.written)))


def read(pack: LocalPath) -> Mapping[str, Limits]:
    """The limits of a pack by unit.

    Errors: ConfigError where there is no such file, or it is no pack, with its place.
    """
    path = file_of(pack)
    if not os.path.isfile(path):
        raise ConfigError(f"{path.written}: no such file")
    return _read(str(path))


@cache
def _read(path: str) -> Mapping[str, Limits]:
    tree = Document.read(path).tree
    units = tree.get("units") if isinstance(tree, Mapping) else None
    if not isinstance(units, Mapping) or not units:
        raise ConfigError(f"{path}: expected units: document, line, ... with limits")
    return {unit: _limits(f"{path}: units.{unit}", part) for unit, part in units.items()}


def _limits(place: str, part: Any) -> Limits:
    if not isinstance(part, Mapping) or not isinstance(part.get("limits"), Mapping):
        raise ConfigError(f"{place}: expected min_tokens and limits")
    bounds = {}
    for measure, ends in part["limits"].items():
        if measure not in MEASURES:
            known = nearest(measure, MEASURES)
            raise ConfigError(f'{place}.limits: "{measure}" is no measure; {known}')
        try:
            bounds[measure] = Bounds.parse({end: one["value"] for end, one in ends.items()})
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ConfigError(
                f"{place}.limits.{measure}: expected min and max, each with its value: {error}"
            ) from error
    least = part.get("min_tokens", 0)
    if type(least) is not int or not 0 <= least <= MOST_TOKENS:
        raise ConfigError(f"{place}.min_tokens: expected a number from 0 on, got {str(least)[:40]}")
    return Limits(least, bounds)
