// Lines over time, drawn by uPlot in the colours of the theme; where there is no value there is a gap.
import "uplot/dist/uPlot.min.css";
import { useComputedColorScheme } from "@mantine/core";
import { useEffect, useRef } from "react";
import UPlot from "uplot";

export type Line = { label: string; colour: string; values: readonly (number | null)[]; dash?: number[]; fill?: boolean; thin?: boolean };
export type Mark = { at: number; label: string };

type Props = {
  label: string;
  /** Seconds: since 1970 if `time`, so that ticks fall on the reader's hours and days; else since the beginning. */
  x: readonly number[];
  time?: boolean;
  lines: readonly Line[];
  /** How a place on the x axis is written, and, longer, in the legend. */
  tick: (seconds: number, apart: number) => string;
  moment: (seconds: number) => string;
  /** How a value is written in the legend, and shorter on the axis. */
  value: (value: number) => string;
  axis?: (value: number) => string;
  /** How far apart marks of the y axis may stand, where round numbers are not round for the reader. */
  steps?: number[];
  /** How high the y axis reaches at least, so that plots side by side can be compared. */
  top?: number;
  /** Where the x axis ends, if later than the last value. */
  until?: number;
  marks?: readonly Mark[];
  /** Plots with the same key show the same moment under the pointer. */
  sync?: string;
  height?: number;
};

const HEIGHT = 220;
const MARK_PX = 5;

export function LinePlot({ label, x, time = false, lines, tick, moment, value, axis = String, steps, top = 1, until, marks = NONE, sync, height = HEIGHT }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme("light");
  useEffect(() => {
    const place = box.current;
    if (place === null) return undefined;
    const css = getComputedStyle(document.body);
    const ink = (name: string) => css.getPropertyValue(name).trim();
    const look = { stroke: ink("--dim"), grid: { stroke: ink("--line"), width: 1 }, ticks: { stroke: ink("--line") }, font: `11px ${css.fontFamily}` };
    const plot = new UPlot(
      {
        width: place.clientWidth,
        height,
        scales: { x: { time }, y: { range: (_, low, high) => [Math.min(0, low ?? 0), Math.max(top, high ?? 0) * 1.05] } },
        cursor: sync === undefined ? {} : { sync: { key: sync } },
        axes: [
          { ...look, space: 70, ...(time ? {} : { incrs: TIME_STEPS }), values: (_, ticks, _axis, _space, apart) => ticks.map((one) => tick(one, apart)) },
          { ...look, size: 52, ...(steps === undefined ? {} : { incrs: steps }), values: (_, ticks) => ticks.map(axis) },
        ],
        series: [
          { label: "at", value: (_, at) => (at === null ? "–" : moment(at)) },
          ...lines.map((line) => ({
            label: line.label,
            stroke: ink(line.colour),
            width: line.thin ? 1 : 1.75,
            points: { show: line.values.length < 3 },
            value: (_: UPlot, one: number | null) => (one === null ? "–" : value(one)),
            ...(line.dash === undefined ? {} : { dash: line.dash }),
            ...(line.fill ? { fill: `${ink(line.colour)}2e` } : {}),
          })),
        ],
        hooks: { draw: [(drawn) => drawMarks(drawn, marks, ink("--bad"))] },
      },
      [until === undefined ? (x as number[]) : [...x, until], ...lines.map((line) => (until === undefined ? (line.values as (number | null)[]) : [...line.values, null]))],
      place,
    );
    const watch = new ResizeObserver(() => plot.setSize({ width: place.clientWidth, height }));
    watch.observe(place);
    return () => {
      watch.disconnect();
      plot.destroy();
    };
  }, [x, time, lines, tick, moment, value, axis, steps, top, until, marks, sync, height, scheme]);
  return <div ref={box} role="img" aria-label={label} className="plot" />;
}

const NONE: Mark[] = [];
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** How far apart ticks of a time in seconds may stand: round times, so that they fall on full hours and days. */
export const TIME_STEPS = [1, 5, 10, 30, MINUTE, 5 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY, 30 * DAY, 90 * DAY, 365 * DAY];

/** A line from top to bottom with a small wedge at its head, for each mark in sight. */
function drawMarks(plot: UPlot, marks: readonly Mark[], colour: string): void {
  const { ctx, bbox, scales } = plot;
  const wide = devicePixelRatio;
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = colour;
  ctx.lineWidth = wide;
  ctx.setLineDash([2 * wide, 3 * wide]);
  for (const { at } of marks) {
    if (at < (scales["x"]?.min ?? 0) || at > (scales["x"]?.max ?? 0)) continue;
    const left = Math.round(plot.valToPos(at, "x", true)) + 0.5;
    ctx.beginPath();
    ctx.moveTo(left, bbox.top);
    ctx.lineTo(left, bbox.top + bbox.height);
    ctx.stroke();
    ctx.beginPath();
    ctx.moveTo(left - MARK_PX * wide, bbox.top);
    ctx.lineTo(left + MARK_PX * wide, bbox.top);
    ctx.lineTo(left, bbox.top + 1.6 * MARK_PX * wide);
    ctx.fill();
  }
  ctx.restore();
}
