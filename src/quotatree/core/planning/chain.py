"""How deep may jobs be tried for the sake of others, each before one that it could take from (S8)?

Where many siblings could take from each other, every one of them may have to be tried before the one before it: hundreds in a
row. Each that is tried inside the attempt of another needs a part of the stack, so after some of them the attempts are given up,
and made again from the last one backwards. An attempt that was given up has changed nothing but what is remembered, so the
answers are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from quotatree.core.model.job import Job, JobId
from quotatree.core.model.wait_queue import WaitClass

LINKS_AT_MOST: Final = 40
"""Jobs that are tried one inside the attempt of the other; each takes about a dozen frames of the stack."""

Link = tuple[WaitClass, Job]

TryOne = Callable[[WaitClass, Job], bool]
"""Tries one job and returns whether it, or one that must be tried before it, was helped. It is passed with every call: kept here, it
would make a cycle."""


class TooDeep(Exception):  # no error: the attempts that it passes through are made again
    """The last of these jobs is to be tried for the sake of the one before it, and so on, in as many attempts as there may be."""

    def __init__(self, links: list[Link]) -> None:
        super().__init__(f"{len(links)} jobs are tried, each before the one before it")
        self.links = links


class Chain:
    """The jobs that are being tried now, each for the sake of the one before it."""

    __slots__ = ("_links", "_outside")

    def __init__(self) -> None:
        self._links: list[Link] = []
        self._outside = 0  # how many of them, from the first on, have no attempt under way

    def ids(self) -> list[JobId]:
        return [job.id for _, job in self._links]

    def follow(self, cls: WaitClass, job: Job, try_one: TryOne) -> bool:
        """Try a job that is tried for nobody's sake; return whether it, or one that must be tried before it, was helped."""
        links: list[Link] = [(cls, job)]
        while links:
            self._links, self._outside = links[:-1], len(links) - 1
            try:
                helped = self.link(*links[-1], try_one)
            except TooDeep as deeper:
                links = deeper.links
                continue
            if helped:
                return True
            links.pop()  # it failed, so the one that it was tried for has its turn again
        return False

    def link(self, cls: WaitClass, job: Job, try_one: TryOne) -> bool:
        """Try a job for the sake of the one that is being tried; return what `try_one` does.

        Raises TooDeep if too many are under way already.
        """
        if len(self._links) - self._outside >= LINKS_AT_MOST:
            raise TooDeep([*self._links, (cls, job)])
        self._links.append((cls, job))
        try:
            return try_one(cls, job)
        finally:
            self._links.pop()
