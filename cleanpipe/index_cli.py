"""``cleanpipe index``: builds, shows and merges index files of test sets.

The command line is the outermost shell: this module alone knows both it and a stage's package.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from rich.table import Table

from cleanpipe import parameters
from cleanpipe.dedup import index_file
from cleanpipe.dedup.item_index import ItemIndex
from cleanpipe.dedup.items import Item, Tests, TestSet, read_items
from cleanpipe.document import Document
from cleanpipe.errors import ConfigError
from cleanpipe.progress import stdout_console
from cleanpipe.reference_texts import reference_files, reference_texts

app = typer.Typer(help="Index files of test sets.", no_args_is_help=True)

_Found = dict[str, tuple[TestSet, list[Item]]]
"""Test sets by name, and their items."""
_SHOWN = 20
"""Ids shown of the items of a set that are too short."""

Output = Annotated[str, typer.Option("--output", metavar="FILE", help="The index to write.")]


@app.command("build")
def build_index(
    output: Output,
    tests: Annotated[
        str | None, typer.Argument(metavar="TESTS.yaml", help="A file with a map `tests`.")
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=PATH", help="One more test set; repeatable."),
    ] = None,
    reference: Annotated[
        list[str] | None,
        typer.Option(
            "--reference",
            metavar="PATH",
            help="Ordinary texts, whose phrases count for nothing; repeatable.",
        ),
    ] = None,
    min_weight: Annotated[
        float | None,
        typer.Option(
            "--min-weight",
            metavar="X",
            help="Weight below which a part is not judged alone; 4, of code 8, where not given.",
        ),
    ] = None,
) -> None:
    """Build an index, which a stage `contamination` takes as its `index`, and show it."""
    _check_output(output)
    if min_weight is not None and not 0.0 < min_weight < math.inf:
        raise ConfigError(f"--min-weight: expected a weight above 0, got {min_weight}")
    try:
        files = reference_files(parameters.LocalPath(path) for path in reference or ())
    except ConfigError as error:
        raise ConfigError(f"--reference: {error}") from None
    found: _Found = {}
    if tests is not None:
        found |= _from_file(tests)
    for name, made in _from_options(sets or ()).items():
        if name in found:
            raise ConfigError(f'--set {name}: {tests} has a test set "{name}" too: rename one')
        found[name] = made
    if not found:
        raise ConfigError("expected test sets: a file with a map `tests`, or --set NAME=PATH")
    index = ItemIndex.build(
        [(name, test_set.tokens, items) for name, (test_set, items) in found.items()],
        min_weight,
        (lambda: reference_texts(files)) if files else None,
    )
    index.save(output)
    _print(index, False)


@app.command()
def show(
    file: Annotated[str, typer.Argument(metavar="FILE", help="An index of test sets.")],
    all: Annotated[bool, typer.Option("--all", help="Every id that is too short.")] = False,
) -> None:
    """Show what an index has of each test set, and which items are too short to be judged."""
    _print(ItemIndex.open(file), all)


@app.command()
def merge(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Indexes of test sets.")],
    output: Output,
) -> None:
    """Make one index of several, as if their test sets had been built together."""
    _check_output(output)
    indexes = [ItemIndex.open(file) for file in files]
    owner: dict[str, str] = {}
    for file, index in zip(files, indexes, strict=True):
        for entry in index.sets:
            if entry.name in owner:
                raise ConfigError(
                    f'{file}: {owner[entry.name]} has a test set "{entry.name}" too: '
                    "build one of them again under another name"
                )
            owner[entry.name] = file
    index = ItemIndex.merge(indexes)
    index.save(output)
    _print(index, False)


@dataclass(frozen=True)
class _Sets:
    """Test sets as a stage ``contamination`` has them."""

    tests: Tests


def _from_file(path: str) -> _Found:
    """The sets of a YAML file.

    Errors: ConfigError with every fault in its place.
    """
    document = Document.read(path)
    tree = document.tree
    if not isinstance(tree, Mapping) or "tests" not in tree:
        keys = f", got {', '.join(tree)}" if isinstance(tree, Mapping) and tree else ""
        message = f"expected the key `tests`, a map of test sets{keys}"
        raise ConfigError([document.fault((), message)])
    found, faults = _read(tree, os.path.dirname(path) or ".")
    if faults:
        raise ConfigError([document.fault(place, text) for place, text in faults])
    return found


def _from_options(settings: Sequence[str]) -> _Found:
    """The sets of ``--set NAME=PATH``."""
    paths: dict[str, str] = {}
    for setting in settings:
        name, equals, path = setting.partition("=")
        if not (name and equals and path):
            raise ConfigError(f'--set: expected NAME=PATH, got "{setting}"')
        if name in paths:
            raise ConfigError(f"--set {name}: is given twice: name one otherwise")
        paths[name] = path
    if not paths:
        return {}
    found, faults = _read({"tests": paths}, ".")
    if faults:
        lines = (" ".join(["--set", *map(str, place[1:2])]) + f": {text}" for place, text in faults)
        raise ConfigError("\n".join(lines))
    return found


def _read(tree: Mapping[str, Any], base: str) -> tuple[_Found, list[parameters.Fault]]:
    """Sets with their items, and every fault with its place."""
    made, faults = parameters.build(_Sets, tree, base)
    found: _Found = {}
    for name, test_set in made.tests.items() if made is not None else ():
        place = ("tests", name)
        if test_set.action is not None:
            said = f"`action: {{{name}: {test_set.action}}}`"
            text = f"an index has no actions: give it to the stage, as {said}"
            faults.append(((*place, "action"), text))
        try:
            found[name] = test_set, read_items(test_set)
        except ConfigError as error:
            faults.append((place, str(error)))
    return found, faults


def _check_output(path: str) -> None:
    """Before any work: nothing but an index is written over.

    Errors: ConfigError.
    """
    if "://" in path:
        raise ConfigError(f"--output: {path}: expected a local file")
    if os.path.isdir(path):
        raise ConfigError(f"--output: {path} is a folder: name a file in it")
    if os.path.exists(path) and not index_file.begins(path):
        raise ConfigError(
            f"--output: {path} is there and no index of test sets: move it, or name another file"
        )


def _print(index: ItemIndex, all: bool) -> None:
    console = stdout_console()
    console.print(_table(index))
    for line in _lines(index, all):
        console.print(line, markup=False)


def _table(index: ItemIndex) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("test set", min_width=max(len(entry.name) for entry in index.sets))
    table.add_column("tokens")
    for title in ("items", "parts", "n-grams", "too short", "min_weight", "reference texts"):
        table.add_column(title, justify="right")
    for entry, (parts, ngrams) in zip(index.sets, index.sizes(), strict=True):
        numbers = (entry.items, parts, ngrams, len(entry.too_short))
        shown = [f"{number:,}" for number in numbers]
        weight = ", ".join(f"{each:g}" for each in entry.min_weight)
        tokens = ", ".join(entry.tokens)
        table.add_row(entry.name, tokens, *shown, weight, f"{entry.reference:,}")
    return table


def _lines(index: ItemIndex, all: bool) -> Iterator[str]:
    for entry in index.sets:
        ids = entry.too_short if all else entry.too_short[:_SHOWN]
        more = len(entry.too_short) - len(ids)
        rest = f", and {more:,} more (cleanpipe index show --all)" if more else ""
        if ids:
            yield f"too short to be judged, {entry.name}: {', '.join(ids)}{rest}"
    each = f" ({index.nbytes / index.ngrams:,.1f} an n-gram)" if index.ngrams else ""
    yield f"{index.ngrams:,} n-grams, {index.nbytes:,} bytes{each}"
    yield f"fingerprint {index.fingerprint}"
