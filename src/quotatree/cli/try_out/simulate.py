"""`quotatree simulate FILES...`: what would these policies have done to these jobs?"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

import click

from quotatree.cli.output import EXIT_INTERRUPTED
from quotatree.cli.try_out.scenario_files import EXIT_BAD_INPUT, bad_input_exits, echo_json, echo_table, fail
from quotatree.cli.try_out.simulate_files import command_line, destination, write_files
from quotatree.cli.try_out.simulate_progress import progress_bar
from quotatree.cli.try_out.simulate_table import compared_rows, group_rows, overall_rows, safety_rows
from quotatree.cli.try_out.simulation_file import load_simulation
from quotatree.core import QuotaTreeError
from quotatree.sim.baselines import BASELINES
from quotatree.sim.export import as_json
from quotatree.sim.private import Alone, waits_alone
from quotatree.sim.result import SimResult, conclude, prepare


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--compare", is_flag=True, help="Run all FILES, side by side: one table, one report.")
@click.option("--baseline", type=click.Choice(list(BASELINES)), help="Instead of the one the file names.")
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="Write report.html, JSON and CSV into DIR."
)
@click.option(
    "--report", type=click.Path(path_type=Path), metavar="FILE", help="Write the HTML report there."
)
@click.option("--processes", type=click.IntRange(1), help="How many to use; default: one for each core.")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True)
def simulate(
    files: tuple[Path, ...],
    compare: bool,
    baseline: str | None,
    out: Path | None,
    report: Path | None,
    processes: int | None,
    output: str,
) -> None:
    """Replay a trace through the policies of a simulation FILE and print what came of it.

    Ctrl-C ends it early with what there is by then.
    """
    if len(files) > 1 and not compare:
        fail("several files are compared: say --compare", EXIT_BAD_INPUT)
    if compare and baseline is not None:
        fail("--baseline is for one file; files that are compared name their own", EXIT_BAD_INPUT)
    to = destination(out, report, compare, output)
    workers = processes or os.cpu_count() or 1
    results = _compared(files, workers) if compare else [_one(files[0], baseline, workers)]
    write_files(results, to, compare, command_line(files, compare, baseline))
    if output == "json":
        found = [as_json(result) for result in results]
        echo_json({"schema": "quotatree.compare/1", "runs": found} if compare else found[0])
    elif compare:
        echo_table(*compared_rows(results))
    else:
        _print(results[0])
    if not all(result.complete for result in results):
        raise SystemExit(EXIT_INTERRUPTED)


def _one(file: Path, baseline: str | None, workers: int) -> SimResult:
    with bad_input_exits():
        simulation = load_simulation(file, baseline)
        with progress_bar(len(simulation.trace.jobs)) as show:
            replay = prepare(simulation.setup, simulation.trace, show)
            started = perf_counter()
            with _first_interrupt_calls(replay.stop):
                replay.run()
        seconds = perf_counter() - started
        click.echo(f"{len(replay.tracks)} jobs, {replay.plans} plans, {seconds:.1f} s", err=True)

        def several(work: object, alone: Iterable[Alone]) -> Iterable[dict[str, int]]:
            del work
            return _in_processes(list(alone), workers)

        return conclude(simulation.setup, simulation.trace, replay, several)


def _in_processes(alone: Sequence[Alone], workers: int) -> list[dict[str, int]]:
    """Waits in each private cluster, computed in several processes if there are many jobs: the
    clusters are independent.
    """
    if workers == 1 or len(alone) < 2 or sum(len(one.trace.jobs) for one in alone) < 5_000:
        return [waits_alone(one) for one in alone]
    with multiprocessing.Pool(min(workers, len(alone))) as pool:
        return pool.map(waits_alone, alone, chunksize=1)


def _compared(files: Sequence[Path], workers: int) -> list[SimResult]:
    """Results of all files, each simulated in a separate process. Ctrl-C reaches all: each ends
    with what it has.
    """
    names = [file.stem for file in files]
    if len(set(names)) < len(names):
        fail(f"compared files need different names, these are {', '.join(names)}", EXIT_BAD_INPUT)
    with bad_input_exits():
        for file in files:
            _check_exists(file)
    if workers == 1 or len(files) == 1:
        found = [_quietly(file) for file in files]
    else:
        with multiprocessing.Pool(min(workers, len(files))) as pool, _interrupts_ignored():
            found = pool.map(_quietly, files, chunksize=1)
    for outcome in found:
        if isinstance(outcome, str):
            fail(outcome, EXIT_BAD_INPUT)
    return [outcome for outcome in found if isinstance(outcome, SimResult)]


def _quietly(file: Path) -> SimResult | str:
    """Simulate one file, in a worker; bad input is returned as its message."""
    try:
        simulation = load_simulation(file)
        replay = prepare(simulation.setup, simulation.trace)
        with _first_interrupt_calls(replay.stop):
            replay.run()
        return conclude(simulation.setup, simulation.trace, replay)
    except QuotaTreeError as why:
        return str(why)


def _check_exists(file: Path) -> None:
    if not os.path.isfile(file):
        fail(f"{file}: no such file", EXIT_BAD_INPUT)


def _print(result: SimResult) -> None:
    click.echo(f"{result.title}: {result.label}")
    for name, fact in result.facts:
        click.echo(f"  {name}: {fact}")
    for text in result.skipped:
        click.echo(f"  skipped {text}")
    for why, count in result.left_out:
        click.echo(f"  left out {count} jobs: {why}")
    if result.refusals:
        first = result.refusals[0]
        click.echo(f"  refused {len(result.refusals)}, the first: {first.what}: {first.why}")
    if not result.complete:
        click.echo(f"  INCOMPLETE: ended at hour {result.metrics.cluster.hours:.1f} of the trace")
    click.echo()
    echo_table(*overall_rows(result))
    for title, rows in (
        ("TEAM", result.metrics.by_team),
        ("MODULE", result.metrics.by_module),
        ("PRIORITY", result.metrics.by_priority),
    ):
        click.echo()
        echo_table(*group_rows(title, rows))
    if result.metrics.safety:
        click.echo()
        echo_table(*safety_rows(result.metrics.safety))


@contextmanager
def _first_interrupt_calls(stop: Callable[[], None]) -> Iterator[None]:
    """Let the first Ctrl-C call `stop`, which ends after the present instant; a second one
    interrupts as usual.
    """

    def interrupted(number: int, frame: object) -> None:
        del number, frame
        signal.signal(signal.SIGINT, before)
        stop()

    before = signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
