"""The ``domains`` filter: whose pages these are, and lists of sites that are not wanted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from xxhash import xxh3_64, xxh3_64_intdigest

from cleanpipe.bounds import Bounds
from cleanpipe.errors import ConfigError
from cleanpipe.filters import phrases
from cleanpipe.filters.addresses import domain_of, is_ip, split
from cleanpipe.parameters import LocalPath, LocalPaths
from cleanpipe.stage import Codes, Evidence, Filter, Measures, Resource, Rule
from cleanpipe.units import Units

_FILES = ("domains", "urls")


@dataclass(frozen=True)
class Domains(Filter):
    """Drops documents by their address; without ``lists`` it only takes ``host`` and ``domain``.

    A list has one site a line: a domain (``bad.com``), which stands for itself and what is under
    it (``www.bad.com``, never ``notbad.com``), an IP address, or the beginning of an address
    (``good.com/~bad/``), which stands for this host, with or without ``www.``, and for paths
    that are equal to it or go on behind it with ``/``, ``?``, ``&`` or ``#`` (``good.com/~bad2``
    is another). A scheme, user or port is passed over, in lists and in addresses; hosts are
    compared in lower case and in their ASCII form (``xn--``), without a dot at the end; paths as
    they are. ``*.bad.com`` and ``||bad.com^``, as other tools write it, are ``bad.com``. UT1's
    folders hold such lists (Université Toulouse 1 Capitole, CC-BY-SA-4.0).

    Entries are kept as 64-bit hashes, ten bytes each: the five million of UT1's largest
    category take 50 MB a process. Of 10**9 addresses 0.003 would be taken for one of them
    by chance.

    Parameters:
        lists: files of sites: paths, globs and folders; of a folder, every file below it called
            ``domains`` or ``urls``, or these with ``.gz`` or ``.zst``. Default: none.
        exempt (``except`` in pipeline files): files of sites that are never listed; the same
            form. Default: none.
        listed: bounds on ``listed``. Default [null, 0]: what is listed is dropped; [1, null]
            keeps only that.

    Measures:
        listed: 1 where the address is on a list and not exempt, else 0; NaN without a host.
        host: the host of ``url``; null where there is none.
        domain: the registered domain, by the Public Suffix List, its private part too
            (``me.github.io``); null for IP addresses and public suffixes.

    Documents without an address are not judged.

    Errors: ConfigError where a list cannot be read any more when the first batch comes.
    """

    kind: ClassVar[str] = "domains"
    aliases: ClassVar[Mapping[str, str]] = {"except": "exempt"}
    labels: ClassVar[tuple[str, ...]] = ("host", "domain")

    lists: LocalPaths = ()
    exempt: LocalPaths = ()
    listed: Bounds = Bounds(None, 0)

    def resources(self) -> tuple[Resource, ...]:
        """Every file of the lists."""
        found = dict.fromkeys((*_files(self.lists)[0], *_files(self.exempt)[0]))
        return tuple(Resource(path) for path in found)

    def needs(self) -> tuple[str, ...]:
        """The document's ``url``."""
        return ("url",)

    def check(self) -> Iterable[tuple[str, str]]:
        """Paths that name no file, lines that are no site, lists without one."""
        for name, patterns in (("lists", self.lists), ("exempt", self.exempt)):
            _, faults = _Sites.read(patterns)
            for fault in faults:
                yield name, fault
        if self.exempt and not self.lists:
            yield "exempt", "nothing is listed without `lists`"

    def takes(self) -> tuple[str, ...]:
        """``host`` and ``domain``; with lists, ``listed``."""
        return ("listed", "host", "domain") if self.lists else ("host", "domain")

    def rules(self) -> tuple[Rule, ...]:
        """``listed``, where there are lists."""
        return (Rule("listed", "listed", self.listed),) if self.lists and self.listed else ()

    def measure(self, units: Units) -> Measures:
        """All addresses of a batch are looked up together."""
        addresses = _addresses(units)
        hosts = [None if each is None else each[0] for each in addresses]
        taken: dict[str, npt.NDArray[np.float64] | pa.LargeStringArray] = {
            "host": pa.array(hosts, pa.large_string()),
            "domain": pa.array(map(domain_of, hosts), pa.large_string()),
        }
        if self.lists:
            listed = self._listed(addresses)
            taken["listed"] = np.array(
                [
                    np.nan if host is None else float(found is not None)
                    for host, found in zip(hosts, listed, strict=True)
                ],
                dtype=np.float64,
            )
        return taken

    def evidence(self, units: Units, codes: Codes, measures: Measures) -> Sequence[Evidence | None]:
        """The site that is listed, and where; the host where none is."""
        addresses = _addresses(units)
        shown: list[Evidence | None] = []
        for parts, found in zip(addresses, self._listed(addresses), strict=True):
            if found is not None:
                shown.append(Evidence(found.site, entry=f"{found.list}: {found.site}"))
            else:
                shown.append(None if parts is None else Evidence(parts[0]))
        return shown

    def _listed(self, addresses: Sequence[tuple[str, str] | None]) -> list[_Found | None]:
        found = self._lists.find(addresses)
        if not self.exempt:
            return found
        exempt = self._exempt.find(addresses)
        return [one if two is None else None for one, two in zip(found, exempt, strict=True)]

    @cached_property
    def _lists(self) -> _Sites:
        return _Sites(self.lists)

    @cached_property
    def _exempt(self) -> _Sites:
        return _Sites(self.exempt)


class _Found(NamedTuple):
    site: str
    list: str


class _Sites:
    """Lists of sites, as hashes."""

    def __init__(self, patterns: LocalPaths) -> None:
        named, faults = self.read(patterns)
        if faults:
            raise ConfigError(f"domains: {'; '.join(faults)}")
        self._names = [path.written for path, _ in named]
        hashes = [each for _, each in named]
        every = np.concatenate(hashes) if hashes else np.empty(0, np.uint64)
        which = np.repeat(np.arange(len(hashes), dtype=np.uint16), [len(each) for each in hashes])
        # Of equal sites the first list is named.
        self._hashes, first = np.unique(every, return_index=True)
        self._which = which[first]

    @staticmethod
    def read(
        patterns: LocalPaths,
    ) -> tuple[list[tuple[LocalPath, npt.NDArray[np.uint64]]], list[str]]:
        """The hashes of each file, and what is wrong with the files."""
        files, faults = _files(patterns)
        named = []
        for path in files:
            sites, wrong = phrases.read_each(path, _key)
            if not sites and not wrong:
                wrong = [f"{path}: no site in it"]
            if not wrong:
                keys = (xxh3_64_intdigest(_key(site).encode()) for site in sites)
                named.append((path, np.fromiter(keys, np.uint64, len(sites))))
            faults += wrong
        return named, faults

    def find(self, addresses: Sequence[tuple[str, str] | None]) -> list[_Found | None]:
        """The widest site of the lists that each address is of."""
        known = [each for each in addresses if each is not None]
        keys = {parts: list(_keys(*parts)) for parts in set(known)}
        flat = np.fromiter((key for each in keys.values() for key, _, _ in each), np.uint64)
        places = np.searchsorted(self._hashes, flat)
        places[places == len(self._hashes)] = 0
        hit = (
            self._hashes[places] == flat if len(self._hashes) else np.zeros(len(flat), np.bool_)
        ).tolist()
        found: dict[tuple[str, str], _Found | None] = {}
        at = 0
        for parts, each in keys.items():
            found[parts] = None
            for offset, (_, form, length) in enumerate(each):
                if hit[at + offset] and found[parts] is None:
                    name = self._names[self._which[places[at + offset]]]
                    found[parts] = _Found(form[:length], name)
            at += len(each)
        return [None if parts is None else found[parts] for parts in addresses]


def _files(patterns: LocalPaths) -> tuple[list[LocalPath], list[str]]:
    return phrases.files(
        patterns, lambda name: name.removesuffix(".gz").removesuffix(".zst") in _FILES
    )


def _addresses(units: Units) -> list[tuple[str, str] | None]:
    urls = units.value("url")
    if isinstance(urls, np.ndarray):  # no source has any
        return [None] * len(units)
    return [split(url) for url in urls.to_pylist()]


def _key(site: str) -> str:
    """What a line of a list stands for, as it is looked up: ``d bad.com``, ``u good.com/~bad``.

    Errors: ValueError where it is no site.
    """
    plain = site.removeprefix("||").removesuffix("^").removeprefix("*.")
    parts = split(plain) or split(f"//{plain}")
    if parts is None or any(char.isspace() for char in site) or set("*|^") & set(parts[0]):
        raise ValueError(
            f'expected a domain or the beginning of an address, got "{site}"; '
            "bad.com stands for itself and what is under it"
        )
    host, rest = parts
    rest = rest.rstrip("/")
    return f"u{host.removeprefix('www.')}{rest}" if rest else f"d{host}"


def _keys(host: str, rest: str) -> Iterator[tuple[int, str, int]]:
    """What an address can be listed as, the widest first: hash, a text, how much of it."""
    labels = [host]
    while not is_ip(host) and "." in labels[-1]:
        labels.append(labels[-1].partition(".")[2])
    for domain in reversed(labels):
        yield xxh3_64_intdigest(f"d{domain}".encode()), domain, len(domain)
    # The hash goes on from part to part: a path of a million parts is read once.
    bare = host.removeprefix("www.")
    whole = bare + rest
    state = xxh3_64(f"u{bare}".encode())
    start = len(bare)
    for end in range(len(bare) + 1, len(whole) + 1):
        if end == len(whole) or whole[end] in "/?&#":
            state.update(whole[start:end].encode())
            yield state.intdigest(), whole, end
            start = end
