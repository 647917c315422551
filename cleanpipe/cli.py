"""The command line: ``run``, ``plan``, ``check``, ``explain``, ``stages``, ``init``, ``index``,
``lm``.

Exit status: 0 done, 1 the run failed, 2 the configuration is at fault.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import replace
from enum import StrEnum
from typing import Annotated

import typer

from cleanpipe import __version__, index_cli, lm_cli, reference
from cleanpipe.document import Document
from cleanpipe.errors import CleanpipeError, ConfigError, Fault, RunError
from cleanpipe.explain import explain as explain_document
from cleanpipe.interrupts import Interrupts
from cleanpipe.parse import parse_spec
from cleanpipe.plan import Plan, make_plan
from cleanpipe.printing import plan_text
from cleanpipe.progress import Progress, stdout_console, table_of, test_sets_of, totals_of
from cleanpipe.recipes import base_of, find_recipe, recipes
from cleanpipe.run import find_inputs, run_plan
from cleanpipe.sources import Source
from cleanpipe.spec import Spec, run_options

app = typer.Typer(
    help="Clean text corpora for language models: exact, explainable, deterministic.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(index_cli.app, name="index")
app.add_typer(lm_cli.app, name="lm")


class RunnerName(StrEnum):
    auto = "auto"
    inline = "inline"
    ray = "ray"


Pipeline = Annotated[str, typer.Argument(metavar="PIPELINE", help="A pipeline file or a recipe.")]
Input = Annotated[
    str | None,
    typer.Option("--input", metavar="GLOB", help="Read these files instead of the sources."),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PATH=VALUE", help="Override a value of the file; repeatable."),
]


def _version(asked: bool) -> None:
    if asked:
        sys.stdout.write(f"cleanpipe {__version__}\n")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show it.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    """Set what holds for every command."""
    global _debug
    _debug = debug


_debug = False


@app.command()
def run(
    pipeline: Pipeline,
    input: Input = None,
    output: Annotated[
        str | None, typer.Option("--output", metavar="DIR", help="Where to write.")
    ] = None,
    runner: Annotated[RunnerName | None, typer.Option(help="Where tasks run.")] = None,
    address: Annotated[
        str | None, typer.Option(metavar="A", help="An existing Ray cluster, such as auto.")
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Tasks at a time under Ray.")] = None,
    settings: Settings = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Move an old output aside; nothing is deleted.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Only warnings and errors.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    """Run a pipeline, or finish one that was interrupted."""
    _set_debug(debug)
    # A batch system ends a job as Ctrl-C would: what is committed stays, the rest resumes.
    interrupts = Interrupts()
    interrupts.install()
    plan = _plan(pipeline, input, settings)
    if not plan.sources:
        raise ConfigError([Fault(0, 0, "sources", "expected sources, or --input GLOB", pipeline)])
    folder = output or plan.output.path
    if folder is None:
        raise ConfigError(
            [Fault(0, 0, "output", "expected output.path, or --output DIR", pipeline)]
        )
    name = runner.value if runner else "ray" if address else None
    chosen = run_options(plan.run, runner=name, address=address, workers=workers)
    progress = Progress(quiet, check=interrupts.check)
    for warning in plan.warnings:
        progress.warn(warning)
    try:
        made = run_plan(plan, str(folder), chosen, progress, fresh=fresh)
    except KeyboardInterrupt:
        raise RunError("interrupted: the same command resumes") from None
    if not quiet:
        console = stdout_console()
        console.print(table_of(made))
        test_sets = test_sets_of(made)
        if test_sets is not None:
            console.print(test_sets)
        console.print(totals_of(made))
        console.print(f"results: {folder}", markup=False)


@app.command()
def plan(
    pipeline: Pipeline,
    input: Input = None,
    settings: Settings = None,
    check: Annotated[bool, typer.Option("--check", help="Only the faults.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    """Show what a run would do: phases, barriers, every default, fingerprints, scratch space."""
    _set_debug(debug)
    made = _plan(pipeline, input, settings)
    inputs = find_inputs(made) if made.sources else None
    if check:
        _checked(pipeline, made, inputs.warnings if inputs is not None else ())
    else:
        sys.stdout.write(plan_text(made, inputs))


@app.command()
def check(
    pipeline: Pipeline,
    input: Input = None,
    settings: Settings = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    """Find every fault of a pipeline file, its models, lists and inputs at once."""
    plan(pipeline, input, settings, True, debug)


@app.command()
def explain(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="The output of a run.")],
    id: Annotated[str, typer.Argument(metavar="ID", help="The document's id, or FILE:ROW.")],
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    """Replay one document from its source: measures, bounds, edits, verdict, survivor."""
    _set_debug(debug)
    explanation = explain_document(folder, id)
    sys.stdout.write(f"{explanation}\n")
    if not explanation.agrees:
        raise typer.Exit(1)


@app.command()
def stages(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="A stage or measure.")] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    """The reference of stages and measures."""
    _set_debug(debug)
    sys.stdout.write(reference.page(name) if name else reference.contents())


@app.command()
def init(
    recipe: Annotated[
        str, typer.Argument(metavar="RECIPE", help=f"One of: {', '.join(recipes())}.")
    ] = "starter",
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    """Print a commented pipeline file to start from."""
    _set_debug(debug)
    with open(find_recipe(recipe), encoding="utf-8") as file:
        sys.stdout.write(file.read())


def _checked(pipeline: str, made: Plan, more: Iterable[str]) -> None:
    progress = Progress()
    for warning in (*made.warnings, *more):
        progress.warn(warning)
    blind = "" if made.sources else " in what it says; it has no sources: give --input"
    sys.stdout.write(f"{pipeline}: no faults{blind}\n")


def _plan(pipeline: str, input: str | None, settings: list[str] | None) -> Plan:
    path = find_recipe(pipeline)
    spec = parse_spec(Document.read(path), base_of(path), settings or ())
    if input == "":
        raise ConfigError([Fault(0, 0, "--input", "expected a file, pattern, folder or URL", path)])
    if input is not None:
        spec = replace(spec, sources=(Source("input", (input,), os.getcwd()),))
    try:
        return make_plan(spec)
    except ConfigError as error:
        if not error.faults:
            raise  # one sentence about the whole, which must not be lost
        raise ConfigError([*error.faults, *_source_faults(spec)]) from None


def _source_faults(spec: Spec) -> tuple[Fault, ...]:
    """What is wrong with the sources, to be told with all else."""
    try:
        find_inputs(spec)
    except ConfigError as error:
        return error.faults
    except CleanpipeError:
        pass  # out of reach for now: a failure of the run, if it is still so then
    return ()


def _set_debug(debug: bool) -> None:
    global _debug
    _debug = _debug or debug


def main() -> None:
    """Run the command line; errors go to stderr as sentences, a traceback only with --debug."""
    try:
        app()
    except CleanpipeError as error:
        if _debug:
            raise
        sys.stderr.write(f"{error}\n")
        sys.exit(2 if isinstance(error, ConfigError) else 1)
    except OSError as error:
        if _debug:
            raise
        place = f"{error.filename}: " if error.filename else ""
        sys.stderr.write(f"{place}{error.strerror or error}\n")
        sys.exit(1)
    except Exception as error:
        if _debug:
            raise
        name = type(error).__name__
        sys.stderr.write(
            f"a defect of cleanpipe ({name}: {error}): please report it with what --debug shows\n"
        )
        sys.exit(1)
