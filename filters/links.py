"""The ``links`` filter: how much of a text is URLs and e-mail addresses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from cleanpipe.bounds import Bounds
from cleanpipe.limits import Limits


@dataclass(frozen=True)
class Links(Limits):
    """Drops texts with too many URLs and e-mail addresses.

    docs/measures.md says what these are; a URL in a tag is part of the tag, not counted here.

    Parameters (none has a default: no paper gives a number):
        urls: bounds on the number of URLs.
        emails: bounds on the number of e-mail addresses.
        count: bounds on the number of both together.
        share: bounds on characters in them, over characters.
        token_share: bounds on tokens that begin in them, over tokens.

    Measures: ``urls``, ``email_addresses``, ``links``, ``link_share``, ``link_token_share``,
    each where it is bounded.
    """

    kind: ClassVar[str] = "links"
    measured: ClassVar[Mapping[str, str]] = {
        "emails": "email_addresses",
        "count": "links",
        "share": "link_share",
        "token_share": "link_token_share",
    }

    urls: Bounds | None = None
    emails: Bounds | None = None
    count: Bounds | None = None
    share: Bounds | None = None
    token_share: Bounds | None = None
