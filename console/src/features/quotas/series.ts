// The stored figures of a quota as lines of plots, and as rows of a table.
import type { Series } from "../../api/types";
import type { Line } from "../../components/LinePlot";

type Figure = keyof Series["figures"][string];
type Values = readonly (number | null)[];

const SHOWN: { figure: Figure; label: string; colour: string; always?: boolean; dash?: number[]; fill?: boolean }[] = [
  { figure: "min", label: "min", colour: "--reserved", always: true, dash: [6, 4] },
  { figure: "used", label: "used", colour: "--used-own", always: true, fill: true },
  { figure: "own", label: "used here", colour: "--used-below" },
  { figure: "loan", label: "loan", colour: "--loan" },
  { figure: "squeezed", label: "squeezed", colour: "--squeezed" },
  { figure: "idle_lent", label: "idle lent", colour: "--idle", dash: [2, 2] },
  { figure: "idle_borrowed", label: "idle borrowed", colour: "--idle" },
  { figure: "queued", label: "queued", colour: "--queued", dash: [5, 3], always: true },
];

/** The lines of GPUs: those that are always drawn, and of the others those that were ever above zero. */
export function gpuLines(series: Series): Line[] {
  const figures = series.figures["gpu"];
  if (figures === undefined) return [];
  const lines = SHOWN.flatMap(({ figure, always, ...line }) => {
    const values = figures[figure] as Values;
    const same = figure === "own" && values.every((value, place) => value === figures.used[place]);
    return always || (!same && values.some((value) => (value ?? 0) > 0)) ? [{ ...line, values }] : [];
  });
  const peak = series.peaks.figures["gpu"];
  if (series.step === "minute" || peak === undefined) return lines;
  return [...lines, { label: "most used", colour: "--used-own", values: peak.used as Values, thin: true, dash: [1, 3] }, { label: "most queued", colour: "--queued", values: peak.queued as Values, thin: true, dash: [1, 3] }];
}

export function jobLines(series: Series): Line[] {
  return [
    { label: "running", colour: "--used-own", values: series.running_jobs, fill: true },
    { label: "waiting", colour: "--queued", values: series.waiting_jobs, dash: [5, 3] },
  ];
}

export function waitLines(series: Series): Line[] {
  return [{ label: "longest wait", colour: "--queued", values: series.oldest_waiting_s, fill: true }];
}

/** Whether the server wrote anything down in this time. */
export function hasAny(series: Series): boolean {
  return series.running_jobs.some((value) => value !== null);
}

export const COLUMNS: Figure[] = ["min", "used", "own", "loan", "squeezed", "reserved", "idle_lent", "idle_borrowed", "queued", "free"];

/** One row for each step in which the server looked: its time, GPUs by figure, jobs, and the longest wait in seconds. */
export function rowsOf(series: Series): (string | number | null)[][] {
  const gpu = series.figures["gpu"];
  return series.times.flatMap((at, place) => {
    if (series.running_jobs[place] === null) return [];
    const amounts = COLUMNS.map((figure) => (gpu?.[figure] as Values | undefined)?.[place] ?? null);
    return [[new Date(at).toISOString(), ...amounts, series.running_jobs[place] ?? null, series.waiting_jobs[place] ?? null, series.oldest_waiting_s[place] ?? null]];
  });
}
