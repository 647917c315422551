"""The ``markup`` filter: what is left over of a page's HTML, script and style."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from cleanpipe.bounds import Bounds
from cleanpipe.limits import Limits


@dataclass(frozen=True)
class Markup(Limits):
    """Drops texts with left-over tags, entities, braces, script or CSS.

    docs/measures.md says what each is, with cases. Script and CSS are known by their lines, so
    that ``remove`` with ``unit: line`` and ``residue: [null, 0]`` takes just these; lines of a
    page that teaches JavaScript or CSS are residue too.

    Parameters (none has a default: what is left over depends on who extracted the text):
        tags: bounds on the number of HTML tags, comments among them.
        entities: bounds on the number of HTML entities, such as ``&amp;``.
        braces: bounds on the number of ``{`` and ``}``. C4 drops a page with any (Raffel et
            al., JMLR 21 (2020), section 2.2): [null, 0].
        residue: bounds on the number of lines that are script or CSS.
        residue_share: bounds on such lines, over lines.
        share: bounds on characters in tags and entities, over characters.
        token_share: bounds on tokens that begin in tags and entities, over tokens.

    Measures: ``html_tags``, ``html_entities``, ``curly_brackets``, ``residue_lines``,
    ``residue_line_share``, ``markup_share``, ``markup_token_share``, each where it is bounded.
    """

    kind: ClassVar[str] = "markup"
    measured: ClassVar[Mapping[str, str]] = {
        "tags": "html_tags",
        "entities": "html_entities",
        "braces": "curly_brackets",
        "residue": "residue_lines",
        "residue_share": "residue_line_share",
        "share": "markup_share",
        "token_share": "markup_token_share",
    }

    tags: Bounds | None = None
    entities: Bounds | None = None
    braces: Bounds | None = None
    residue: Bounds | None = None
    residue_share: Bounds | None = None
    share: Bounds | None = None
    token_share: Bounds | None = None
