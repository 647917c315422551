"""``cleanpipe lm``: trains language models for the stage ``perplexity``.

The command line is the outermost shell: like ``index_cli``, this module knows both it and a
stage's package.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from cleanpipe.errors import ConfigError, RunError
from cleanpipe.filters.lm_training import Training, train
from cleanpipe.interrupts import Interrupts
from cleanpipe.progress import Progress, stdout_console

app = typer.Typer(help="Language models for perplexity.", no_args_is_help=True)


@app.callback()
def models() -> None:
    """Language models for perplexity."""


class ProfileName(StrEnum):
    words = "words"
    characters = "characters"
    ccnet = "ccnet"


class FormatName(StrEnum):
    trie = "trie"
    probing = "probing"


@app.command("train")
def train_model(
    text: Annotated[
        list[str],
        typer.Option("--text", metavar="GLOB", help="Files with documents; repeatable."),
    ],
    profile: Annotated[
        ProfileName,
        typer.Option(
            help="How text is prepared: words for languages with spaces, characters for Chinese."
        ),
    ],
    output: Annotated[
        str, typer.Option("--output", metavar="MODEL.bin", help="The model to write.")
    ],
    held_out: Annotated[
        list[str] | None,
        typer.Option(
            "--held-out",
            metavar="GLOB",
            help="Documents to score, not to train on; else every 20th, by its hash; repeatable.",
        ),
    ] = None,
    column: Annotated[
        str | None, typer.Option(metavar="NAME", help="The column with the text, not `text`.")
    ] = None,
    spm: Annotated[
        str | None, typer.Option(metavar="FILE", help="The SentencePiece model of ccnet.")
    ] = None,
    order: Annotated[int, typer.Option(metavar="N", help="The longest n-gram, 2 to 6.")] = 5,
    prune: Annotated[
        str | None,
        typer.Option(
            metavar='"0 0 1"', help="Leave out n-grams seen so often or less; 0 0 1 if not given."
        ),
    ] = None,
    memory: Annotated[
        str, typer.Option(metavar="SIZE", help="What lmplz may sort in, such as 512M.")
    ] = "1G",
    language: Annotated[
        str | None, typer.Option(metavar="CODE", help="The language of the text, such as en.")
    ] = None,
    format: Annotated[
        FormatName, typer.Option(help="trie is small and quantised, probing fast and exact.")
    ] = FormatName.trie,
    lmplz: Annotated[
        str | None, typer.Option(metavar="PATH", help="The program; else that on the PATH.")
    ] = None,
    build_binary: Annotated[
        str | None,
        typer.Option("--build-binary", metavar="PATH", help="The program; else that on the PATH."),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a model that is there.")
    ] = False,
) -> None:
    """Train a KenLM model; its profile and the percentiles of held-out text stand beside it."""
    interrupts = Interrupts()
    interrupts.install()
    training = Training(
        text=tuple(text),
        output=output,
        profile=profile.value,
        held_out=tuple(held_out or ()),
        column=column,
        spm=spm,
        order=order,
        prune=_numbers(prune),
        memory=memory,
        language=language,
        format=format.value,
        lmplz=lmplz,
        build_binary=build_binary,
        overwrite=overwrite,
    )
    try:
        made = train(training, Progress(check=interrupts.check))
    except KeyboardInterrupt:
        raise RunError("interrupted: nothing is left of it") from None
    console = stdout_console()
    values = made.percentiles.values
    console.print(f"{made.model}: trained on {made.documents:,} documents, {made.tokens:,} tokens")
    console.print(
        f"perplexity of {made.percentiles.documents:,} held-out documents: "
        + ", ".join(f"{values[at]:,.0f} at {at} %" for at in (2, 10, 50, 90, 98))
    )


def _numbers(prune: str | None) -> tuple[int, ...] | None:
    """Errors: ConfigError."""
    if prune is None:
        return None
    try:
        return tuple(int(number) for number in prune.split())
    except ValueError:
        raise ConfigError(f'--prune: expected numbers such as "0 0 1", got "{prune}"') from None
