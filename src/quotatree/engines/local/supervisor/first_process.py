"""Who is the first process of a job's pid namespace, and what must it do? Wait for the others, and tell how one ended.

The kernel keeps signals from the first process of a namespace and kills all others when it ends. So the program itself is
its child, dies of SIGTERM like any program, and its end does not end what it left behind: that may still use its grace.
"""

from __future__ import annotations

import os

OPEN_FILES = 1 << 20


def watch(program: int, verdict: int) -> None:
    """Wait for all processes of the namespace; write how the program ended to `verdict`. Never returns."""
    try:
        null = os.open("/dev/null", os.O_RDWR)
        for fd in (0, 1, 2):  # its output ends with the program, not with us
            os.dup2(null, fd)
        # What was open in the supervisor: a lock that we held would outlive it.
        os.closerange(3, verdict)
        os.closerange(verdict + 1, OPEN_FILES)
        while True:
            pid, status = os.waitpid(-1, 0)
            if pid == program:
                os.write(verdict, str(status).encode())
    except ChildProcessError:
        os._exit(0)
    finally:
        os._exit(1)
