// GPUs over time in one variant: what runs, what runs idle, what waits, and what there is.
import { useMemo } from "react";
import { LinePlot, type Line } from "../../components/LinePlot";
import { fullMoment, gpus, number, tickMoment } from "../../formats";
import type { Simulated } from "./queries";

const tick = (seconds: number, apart: number) => tickMoment(seconds * 1000, apart * 1000);
const moment = (seconds: number) => fullMoment(seconds * 1000);

/** The most GPUs that a variant has, runs or waits for. */
export function topOf(series: Simulated["series"]): number {
  return Math.max(1, ...series.capacity, ...series.running, ...series.waiting);
}

/** `fromMs`: when the stretch began; `top`: the most GPUs in any variant, so that all are drawn to one scale. */
export function Plot({ title, series, fromMs, top }: { title: string; series: Simulated["series"]; fromMs: number; top: number }) {
  const x = useMemo(() => series.at_ms.map((at) => (fromMs + at) / 1000), [series, fromMs]);
  const lines = useMemo<Line[]>(
    () => [
      { label: "capacity", colour: "--free", values: series.capacity, dash: [4, 3] },
      { label: "running", colour: "--used-own", values: series.running, fill: true },
      { label: "idle", colour: "--idle", values: series.idle },
      { label: "waiting", colour: "--queued", values: series.waiting, dash: [5, 3] },
    ],
    [series],
  );
  const most = Math.max(0, ...series.waiting);
  return (
    <section className="card stack tight" aria-label={`GPUs over time, ${title}`}>
      <h2>{title}</h2>
      <LinePlot label={`running and waiting GPUs over time; at most ${gpus(most)} waited`} x={x} time lines={lines} tick={tick} moment={moment} top={top} value={gpus} axis={number} sync="what-if" />
    </section>
  );
}
