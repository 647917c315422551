"""The host and the registered domain of an address. Not a stage.

A host is in lower case, its labels in their ASCII form (``xn--``), without a dot at its end.
"""

from __future__ import annotations

import re
from functools import lru_cache

from publicsuffixlist import PublicSuffixList

from cleanpipe.filters.forms import normalized

_ADDRESS = re.compile(
    r"(?:(?:[A-Za-z][A-Za-z0-9+.-]*:)?//(?:[^/?#\\]*@)?)?"
    r"(\[[0-9A-Fa-f:.]+\]|[^/?#\\:@\[\]\s]+)"
    r"(?::[0-9]*)?"
    r"(?=[/?#\\]|$)"
)
_IPV4 = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}")
_LONGEST = 253  # characters of a host, RFC 1035


@lru_cache(maxsize=1 << 14)
def split(url: str | None) -> tuple[str, str] | None:
    """The host of an address and what follows it, from ``/``, ``?`` or ``#`` on.

    The scheme may be missing, user, password and port are passed over. None where there is no
    host: ``mailto:a@b.c``, a path, an address that breaks the rules.
    """
    found = _ADDRESS.match(url.strip()) if url else None
    host = _ascii(found[1]) if found is not None else None
    if found is None or host is None:
        return None
    if "//" not in found[0] and "." not in host:
        return None  # a word, or a scheme
    return host, found.string[found.end() :]


def host_of(url: str | None) -> str | None:
    """The host of an address, or None where there is none."""
    parts = split(url)
    return None if parts is None else parts[0]


def is_ip(host: str) -> bool:
    """Whether a host is an IP address, which has no parents."""
    return host.startswith("[") or _IPV4.fullmatch(host) is not None


@lru_cache(maxsize=1 << 14)
def domain_of(host: str | None) -> str | None:
    """The registered domain of a host: its public suffix and one label more.

    ``a.b.co.uk`` is of ``b.co.uk``, ``me.github.io`` its own: the list's private part counts too.
    None of IP addresses, of public suffixes themselves, and of hosts without a dot.
    """
    if host is None or is_ip(host):
        return None
    found: str | None = _suffixes().privatesuffix(host)
    return found


@lru_cache(maxsize=1)
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList()


def _ascii(host: str) -> str | None:
    """A host as this module writes it; None where it is none."""
    host = normalized("NFKC", host).lower().replace("\u3002", ".").rstrip(".")
    if len(host) > _LONGEST:
        return None  # its ASCII form is longer still, and takes long to make
    if not host.isascii():
        try:
            host = ".".join(map(_label, host.split(".")))
        except UnicodeError:
            return None
    if len(host) > _LONGEST or not host or ".." in host or host.startswith("."):
        return None
    return host


def _label(label: str) -> str:
    return label if label.isascii() else f"xn--{label.encode('punycode').decode('ascii')}"
