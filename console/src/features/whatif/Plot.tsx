// GPUs over time: what runs, what runs idle, what waits, and what there is.
import "uplot/dist/uPlot.min.css";
import { useComputedColorScheme } from "@mantine/core";
import { useEffect, useRef } from "react";
import UPlot from "uplot";
import { duration } from "../../formats";
import type { Simulated } from "./queries";

const HEIGHT = 220;

export function Plot({ title, series }: { title: string; series: Simulated["series"] }) {
  const box = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme("light");
  useEffect(() => {
    const place = box.current;
    if (place === null) return undefined;
    const css = getComputedStyle(document.documentElement);
    const ink = (name: string) => css.getPropertyValue(name).trim();
    const axis = { stroke: ink("--dim"), grid: { stroke: ink("--line"), width: 1 }, ticks: { stroke: ink("--line") } };
    const line = (label: string, colour: string, more: object = {}) => ({ label, stroke: ink(colour), width: 1.5, points: { show: false }, ...more });
    const plot = new UPlot(
      {
        width: place.clientWidth,
        height: HEIGHT,
        scales: { x: { time: false } },
        axes: [{ ...axis, values: (_, ticks) => ticks.map((tick) => duration(tick * 1000)) }, { ...axis, label: "GPU", labelSize: 16, size: 44 }],
        series: [
          { label: "after", value: (_, at) => (at === null ? "–" : duration(at * 1000)) },
          line("capacity", "--free", { dash: [4, 3] }),
          line("running", "--used-own", { fill: `${ink("--used-own")}33` }),
          line("idle", "--idle"),
          line("waiting", "--queued"),
        ],
      },
      [series.at_ms.map((at) => at / 1000), series.capacity, series.running, series.idle, series.waiting],
      place,
    );
    const watch = new ResizeObserver(() => plot.setSize({ width: place.clientWidth, height: HEIGHT }));
    watch.observe(place);
    return () => {
      watch.disconnect();
      plot.destroy();
    };
  }, [series, scheme]);
  const most = Math.max(0, ...series.waiting);
  return (
    <section className="card stack tight" aria-label={`GPUs over time, ${title}`}>
      <h2>{title}</h2>
      <div ref={box} role="img" aria-label={`running and waiting GPUs over time; at most ${most} GPU waited`} />
    </section>
  );
}
