"""The load, from a process of its own: one kept-alive connection for each set of jobs, as Kueue has one routine for each.

    python -m benchmarks.server.generator HOST PORT < token

Every job is posted at its time, with an idempotency key as the client SDK would send. A set whose answer is late posts
its next job late, but the latency is counted from the moment the job was due. Prints one JSON object: latencies in
milliseconds by class, answers that were no 201, and its own processor time.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
from collections import defaultdict
from time import perf_counter
from typing import Final

from benchmarks.server.load import CLASSES, JobClass, body, quotas, submissions

LEAD_SECONDS: Final = 0.5
"""Time between opening the connections and the first job."""


class Sent:
    """Latencies by class, and the requests that were refused."""

    def __init__(self) -> None:
        self.latency_ms: defaultdict[str, list[float]] = defaultdict(list)
        self.refused: list[str] = []


def request(host: str, token: str, key: str, content: bytes) -> bytes:
    head = (
        f"POST /api/v1/jobs HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: application/json\r\nIdempotency-Key: {key}\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    return head.encode() + content


async def one_set(
    host: str,
    port: int,
    token: str,
    quota: str,
    job_class: JobClass,
    start: asyncio.Future[float],
    sent: Sent,
) -> None:
    reader, writer = await asyncio.open_connection(host, port)
    content = json.dumps(body(quota, job_class)).encode()
    began = await start
    for one in submissions(quota, job_class):
        due = began + one.at_ms / 1000
        await asyncio.sleep(max(0.0, due - perf_counter()))
        writer.write(request(host, token, f"{quota}.{job_class.name}.{one.number}", content))
        status = await _answer(reader)
        sent.latency_ms[job_class.name].append((perf_counter() - due) * 1000)
        if status != 201:
            sent.refused.append(f"{quota} {job_class.name} {one.number}: {status}")
    writer.close()


async def _answer(reader: asyncio.StreamReader) -> int:
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    for line in lines[1:]:
        name, _, value = line.partition(":")
        if name.lower() == "content-length":
            await reader.readexactly(int(value))
    return int(lines[0].split(" ")[1])


async def generate(host: str, port: int, token: str) -> Sent:
    sent = Sent()
    start: asyncio.Future[float] = asyncio.get_running_loop().create_future()
    sets = [
        asyncio.create_task(one_set(host, port, token, quota, job_class, start, sent))
        for quota in quotas()
        for job_class in CLASSES
    ]
    await asyncio.sleep(LEAD_SECONDS)
    start.set_result(perf_counter())
    await asyncio.gather(*sets)
    return sent


def main() -> None:
    token = sys.stdin.readline().strip()
    sent = asyncio.run(generate(sys.argv[1], int(sys.argv[2]), token))
    used = resource.getrusage(resource.RUSAGE_SELF)
    told = {
        "latency_ms": sent.latency_ms,
        "refused": sent.refused,
        "cpu_seconds": used.ru_utime + used.ru_stime,
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
