// GPUs over time in one variant: what runs, what runs idle, what waits, and what there is.
import { useMemo } from "react";
import { LinePlot, type Line } from "../../components/LinePlot";
import { duration, gpus, number } from "../../formats";
import type { Simulated } from "./queries";

const after = (seconds: number) => duration(seconds * 1000);

export function Plot({ title, series }: { title: string; series: Simulated["series"] }) {
  const x = useMemo(() => series.at_ms.map((at) => at / 1000), [series]);
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
      <LinePlot label={`running and waiting GPUs over time; at most ${gpus(most)} waited`} x={x} lines={lines} tick={after} moment={after} value={gpus} axis={number} sync="what-if" />
    </section>
  );
}
