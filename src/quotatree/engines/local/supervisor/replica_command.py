"""What exactly is executed for a replica? Arguments, variables, directory and user, from the program and the order."""

from __future__ import annotations

import os
import sys

from quotatree.engines.local.host import environment, sandbox, users
from quotatree.engines.local.supervisor import spawn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from quotatree.engines.local.files.layout import RunDir
    from quotatree.engines.local.supervisor.course import Order

    Arguments = str | list[str]


class Commands:
    """Makes the commands of one run. The secrets are kept here, in memory, and nowhere else."""

    def __init__(self, run_dir: RunDir, spec: Mapping[str, Any], secrets: Mapping[str, str]) -> None:
        self._job = run_dir.job
        self._engine = run_dir.engine.path
        self._spec = spec
        self._secrets = secrets
        self._user: users.User | None = None

    def of(self, order: Order, port: int, meeting_port: int, asked: Arguments | None = None) -> spawn.Command:
        """The command of one replica; `asked` replaces the program's own. Raises LookupError if there is no such user.

        It may listen at `port`; all ranks meet at `meeting_port`.
        """
        if self._user is None:
            self._user = users.of_spec(self._spec)
        user, job, program = self._user, self._job, self._spec["program"]
        for path in (job.work, job.checkpoints):
            _make_directory(path, user)
        workdir = program.get("workdir") or job.work
        variables = environment.of_replica(
            self._spec,
            order,
            secrets=self._secrets,
            home=user.home,
            user=user.name,
            port=port,
            master_port=meeting_port,
            checkpoints=job.checkpoints,
            checkpoint_file=job.checkpoint_file,
        )
        asked = asked or program["command"]
        arguments = ["/bin/sh", "-c", asked] if isinstance(asked, str) else [str(part) for part in asked]
        return spawn.Command(arguments, variables, workdir, user, self._view(user, workdir))

    def _view(self, user: users.User, workdir: str) -> sandbox.View | None:
        """What the replica sees of the machine; None: all that its user may see."""
        if not self._spec.get("apart"):
            return None
        _make_directory(self._job.scratch, user)
        own = [self._job.work, self._job.checkpoints]
        if user.home.startswith(f"{self._engine}/"):
            own.append(user.home)
        wished = [workdir, sys.prefix, sys.base_prefix, str(self._spec.get("source", ""))]
        hidden = list(dict.fromkeys([self._engine, os.path.dirname(self._job.path)]))
        return sandbox.View(hidden, own, self._job.scratch, [path for path in wished if path])


def _make_directory(path: str, user: users.User) -> None:
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        return
    if not user.is_us:
        os.chown(path, user.uid, user.gid)
