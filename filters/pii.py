"""The ``pii`` rewriter: puts placeholders in place of e-mail and public IP addresses."""

from __future__ import annotations

import ipaddress
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, TypeAlias

import numpy as np
import pyarrow.compute as pc

from cleanpipe import _native
from cleanpipe.batch import text_views
from cleanpipe.bounds import Bounds
from cleanpipe.parameters import Texts
from cleanpipe.stage import Edits, Measures, Rewriter, Rule
from cleanpipe.units import Units

_Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network
_Span: TypeAlias = tuple[int, int]

_EITHER = r"[0-9]\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]|[23][0-9A-Fa-f]{3}:[0-9A-Fa-f]{0,4}:"
"""In whatever may have an IP address, for RE2."""
_V4 = re.compile(
    # What may not stand before it is asked behind the first digit: in less than half the time.
    rb"[0-9](?<![0-9A-Za-z_.].)(?<![A-Za-z][/-].)[0-9]{0,2}(?:\.[0-9]{1,3}){3}"
    rb"(?!\.?[0-9A-Za-z]|_|[-+][A-Za-z])"
)
_V6 = re.compile(
    rb"[23](?<![0-9A-Za-z_:.].)[0-9A-Fa-f]{3}(?::[0-9A-Fa-f]{0,4}){2,7}"
    rb"(?![0-9A-Za-z_]|:[0-9A-Za-z]|\.[0-9])"
)
_NUMBERED = re.compile(
    "(?:(?<![A-Za-z])(?i:versions?|ver|v|release|build|firmware|sections?|sec|chapter|clause)"
    "|版本|版本号|版|第|章节|§)"
    "(?:[.:= \t(]|：|（|\u00a0|\u202f|\u3000|\u2007|\u2009){0,3}$".encode()
)
"""What stands before a version or the number of a section."""
_BEFORE = 32
"""Bytes before and behind a number that are looked at."""
_COUNTED = tuple(word.encode() for word in ("节", "章", "条", "款", "版", "절"))
"""What stands behind such a number in Chinese and Korean."""
_BOUND = re.compile(r"[^\W\d_][\u00a0\u202f]$")
_INDENT = " \t\r#\u00a0\u202f\u3000\ufeff"
_TITLE = re.compile(r"([.:]?)[^\S\n]*([^\W\d_]\S*)")
"""What stands behind the number of a heading."""
_TITLE_BYTES = 64
_DOMAIN = re.compile(r"(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}")


@dataclass(frozen=True)
class Pii(Rewriter):
    """Replaces e-mail addresses and public IP addresses.

    As FineWeb does (Penedo et al. 2024, and its data card; datatrove's ``PIIFormatter``), whose
    placeholders are the defaults: there two for e-mail and six for IP addresses take turns, over
    documents, so that a text's outcome depends on those before it; here it is the first of each.
    As there, phone numbers stay: what looks like one is too often none.

    Parameters:
        email: what stands in place of an e-mail address, or null to leave them. Default
            ``email@example.com``.
        ip: the same for IPv4 addresses. Default ``22.214.171.124``, which answered nobody when
            FineWeb was made.
        ipv6: the same for IPv6 addresses, which datatrove leaves. Default ``2001:db8::1``, of the
            range for documentation (RFC 3849).
        keep: what stays: e-mail addresses, domains (with all below them), IP addresses and
            networks (``8.8.8.0/24``). Default ``example.com``, ``example.org`` and ``example.net``,
            which are nobody's (RFC 2606).

    Measures:
        emails, ips: how many were replaced; ``ips`` of both versions.

    An e-mail address is one as docs/measures.md has it, in links and tags too, without stops and
    hyphens at its beginning; so it ends where Chinese goes on. ``logo@2x.png`` counts as one,
    ``a@b.com-`` does not, and a full-width ＠ makes none: ``normalize`` with ``width`` before this.


    An IP address is public where it is neither private nor reserved nor multicast, by Python's
    ``ipaddress``; of IPv6 in 2000::/3, all that is given out (RFC 4291). Four numbers are none

    - as part of a longer name or number (``v1.2.3.4``, ``1.2.3.4.5``, ``a-1.2.3.4``,
      ``Chrome/1.2.3.4``, ``1.2.3.4-beta``, ``1.2.3.4.jar``), or with a leading zero;
    - behind version, release, build, firmware, section, chapter, clause, 版本, 第 or §, and before
      节, 章, 条, 款 or 版;
    - as the heading ``1.2.3.4 Results`` or ``12.1.1.1. RAID``: at the beginning of a line (after
      ``#``), of two digits each at most or with a stop behind, and then spaces and a word that
      is no host name (``8.8.8.8 dns.google``). Every space is one, no-break spaces too;
    - behind a word and a no-break space, as references to sections are set in many languages, of
      two digits each at most.

    Of IPv6 two groups at least are given: ``2024::`` is none.

    What was replaced stands in ``edits/``: keep that folder to yourself.
    """

    kind: ClassVar[str] = "pii"
    version: ClassVar[int] = 2

    email: str | None = "email@example.com"
    ip: str | None = "22.214.171.124"
    ipv6: str | None = "2001:db8::1"
    keep: Texts = ("example.com", "example.org", "example.net")

    def check(self) -> Iterable[tuple[str, str]]:
        """That something is to be replaced, and that what is kept can be."""
        if self.email is None and self.ip is None and self.ipv6 is None:
            yield "email", "nothing is replaced: give email, ip or ipv6 a text"
        for entry in self.keep:
            if _network(entry) is None and not _DOMAIN.fullmatch(entry.rpartition("@")[2]):
                expected = "an e-mail address, a domain, an IP address or network"
                yield "keep", f'expected {expected}, got "{entry}"'

    def rules(self) -> tuple[Rule, ...]:
        """``email``, ``ip`` and ``ipv6``: none is to be there."""
        none = Bounds(None, 0)
        return Rule("email", "emails", none), Rule("ip", "ips", none), Rule("ipv6", "ips", none)

    def takes(self) -> tuple[str, ...]:
        """``emails`` and ``ips``."""
        return "emails", "ips"

    def rewrite(self, units: Units) -> tuple[Edits, Measures]:
        """One edit an address; its value is how many the document has."""
        offsets, starts, ends = _native.email_spans(units.text)
        with_ip = pc.match_substring_regex(units.text, _EITHER).to_numpy(zero_copy_only=False)
        rows = np.flatnonzero((np.diff(offsets) > 0) | with_ip).tolist()
        views = text_views(units.text)
        edits: list[tuple[int, int, int, int]] = []
        emails, ips = np.zeros(len(units)), np.zeros(len(units))
        for row in rows:
            text = bytes(views[row])
            first, last = offsets[row], offsets[row + 1]
            spans = list(zip(starts[first:last].tolist(), ends[first:last].tolist(), strict=True))
            found = [(*span, 0) for span in spans if self._replaces(text, span)]
            emails[row] = len(found)
            if with_ip[row]:
                found += self._ips(text, spans)
                ips[row] = len(found) - emails[row]
            edits += ((row, *each) for each in sorted(found))
        columns = np.array(edits, np.int64).reshape(len(edits), 4).T
        rule = columns[3].astype(np.uint16) + np.uint16(1)
        value = np.where(columns[3] == 0, emails[columns[0]], ips[columns[0]])
        texts = (self.email or "", self.ip or "", self.ipv6 or "")
        put = [texts[which] for which in columns[3].tolist()]
        made = Edits(columns[0], columns[1], columns[2], rule, value, put)
        return made, {"emails": emails, "ips": ips}

    def _replaces(self, text: bytes, span: _Span) -> bool:
        """Whether an e-mail address goes."""
        address = text[slice(*span)].decode()
        if self.email is None or address == self.email:
            return False
        address = address.lower()
        _, _, domain = address.partition("@")
        addresses, domains, _ = self._kept
        return address not in addresses and not f".{domain}".endswith(domains)

    def _ips(self, text: bytes, emails: Sequence[_Span]) -> Iterator[tuple[int, int, int]]:
        """Where the IP addresses are that go, and the rule's place; none is part of an e-mail's."""
        starts = [start for start, _ in emails]
        for start, stop, which in (*self._v4(text), *self._v6(text)):
            before = bisect_left(starts, stop) - 1  # the last one that begins before its end
            if before < 0 or emails[before][1] <= start:
                yield start, stop, which

    def _v4(self, text: bytes) -> Iterator[tuple[int, int, int]]:
        if self.ip is None:
            return
        for match in _V4.finditer(text):
            start, stop = match.span()
            if (
                self._is_public(match[0].decode(), self.ip)
                and not _NUMBERED.search(text[max(0, start - _BEFORE) : start])
                and not text.startswith(_COUNTED, stop)
                and not _is_heading(text, start, stop)
            ):
                yield start, stop, 1

    def _v6(self, text: bytes) -> Iterator[tuple[int, int, int]]:
        if self.ipv6 is None:
            return
        for match in _V6.finditer(text):
            shown = match[0].decode()
            if shown.endswith(":") and not shown.endswith("::"):
                shown = shown[:-1]
            if sum(map(bool, shown.split(":"))) > 1 and self._is_public(shown, self.ipv6):
                yield match.start(), match.start() + len(shown), 2

    def _is_public(self, shown: str, placeholder: str) -> bool:
        if shown == placeholder:
            return False
        try:
            address = ipaddress.ip_address(shown)
        except ValueError:
            return False
        networks = self._kept[2]
        return (
            address.is_global
            and not address.is_multicast
            and not any(address in network for network in networks)
        )

    @cached_property
    def _kept(self) -> tuple[frozenset[str], tuple[str, ...], tuple[_Network, ...]]:
        """E-mail addresses, ends of domains with a stop before them, and networks."""
        networks = tuple(network for entry in self.keep if (network := _network(entry)))
        others = [entry.lower() for entry in self.keep if _network(entry) is None]
        addresses = frozenset(entry for entry in others if "@" in entry)
        return addresses, tuple(f".{entry}" for entry in others if "@" not in entry), networks


def _network(entry: str) -> _Network | None:
    try:
        return ipaddress.ip_network(entry, strict=False)
    except ValueError:
        return None


def _is_heading(text: bytes, start: int, stop: int) -> bool:
    """Whether it numbers what follows, at the beginning of a line with a word behind; or is
    bound to the word before, as in references (``Раздел 6.3.6.2``)."""
    before = text[max(0, start - _BEFORE) : start]
    short = max(map(len, text[start:stop].split(b"."))) <= 2
    if short and _BOUND.search(before.decode(errors="ignore")):
        return True
    if b"\n" not in before and start > _BEFORE:
        return False
    if before.rpartition(b"\n")[2].decode(errors="ignore").strip(_INDENT):
        return False
    behind = _TITLE.match(text[stop : stop + _TITLE_BYTES].decode(errors="ignore"))
    if behind is None or _DOMAIN.match(behind[2]):
        return False
    return short or behind[1] == "."
