"""A job that bears witness, run by the local engine as any other: python -I -S local_job.py EVIDENCE SECONDS HABIT

It holds a lock on its run and on each of its GPUs for as long as anything of it lives. Whoever finds a lock taken that
should be free writes that down, and goes on. Habits: `good`, `fails`, `leaves` (takes a moment after SIGTERM), `deaf`
(to SIGTERM), `forks` (leaves a child behind in a session of its own, which keeps the locks).
"""

import fcntl
import json
import os
import signal
import sys
import time


def main() -> None:
    evidence, seconds, habit = sys.argv[1], float(sys.argv[2]), sys.argv[3]
    me = {
        "job": os.environ["QUOTATREE_JOB"],
        "run": int(os.environ["QUOTATREE_RUN"]),
        "replica": int(os.environ["QUOTATREE_REPLICA"]),
    }
    if habit == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    elif habit == "leaves":
        signal.signal(signal.SIGTERM, leave)
    kept = take_run(evidence, me)
    for device in os.environ["CUDA_VISIBLE_DEVICES"].split(","):
        kept.append(take(evidence, me, f"gpu-{os.environ['QUOTATREE_NODE']}-{device}", fcntl.LOCK_EX))
    write(evidence, "starts", me)
    if habit == "forks" and os.fork() == 0:
        os.setsid()
        time.sleep(600)
        os._exit(0)
    time.sleep(seconds)
    write(evidence, "ends", {**me, "well": habit != "fails"})
    os._exit(1 if habit == "fails" else 0)


def leave(*_: object) -> None:
    time.sleep(0.05)
    os._exit(0)


def take_run(evidence: str, me: dict[str, object]) -> list[int]:
    """The run is shared by its replicas; of no other run may anything be left."""
    run = f"run-{me['job']}-{me['run']}"
    for name in os.listdir(evidence):
        if name.startswith(f"run-{me['job']}-") and name != run:
            os.close(take(evidence, me, name, fcntl.LOCK_EX))
    replica = f"replica-{me['job']}-{me['run']}-{me['replica']}"
    return [take(evidence, me, run, fcntl.LOCK_SH), take(evidence, me, replica, fcntl.LOCK_EX)]


def take(evidence: str, me: dict[str, object], name: str, how: int) -> int:
    fd = os.open(os.path.join(evidence, name), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(fd, how | fcntl.LOCK_NB)
    except BlockingIOError:
        write(evidence, "violations", {**me, "taken": name})
    return fd


def write(evidence: str, kind: str, line: dict[str, object]) -> None:
    fd = os.open(os.path.join(evidence, kind), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(fd, (json.dumps({"at_ns": time.time_ns(), **line}) + "\n").encode())
    os.close(fd)


if __name__ == "__main__":
    main()
